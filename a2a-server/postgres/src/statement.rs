//! Parts of the statements that write to a log. A statement contains only the tables that it writes to.

use std::time::Duration;

use a2a_server::log_rows::LogRows;
use a2a_server::{IdempotencyKey, StoreError};
use a2a_types::{TaskId, TaskStatus, Timestamp};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::PostgresError;
use crate::connections::Query;
use crate::names::column;

/// Values of the parts that an append and a new task have in common.
pub(crate) struct Parts<'r> {
    sequences: Vec<i64>,
    bodies: Vec<&'r [u8]>,
    pub(crate) notified: Vec<i64>,
    traceparent: Option<String>,
    tracestate: Option<String>,
    pub(crate) document: Option<Vec<u8>>,
    pub(crate) sequence: i64,
    message: Option<Uuid>,
    digest: Vec<u8>,
    expires: i64,
    pub(crate) task: String,
}

impl<'r> Parts<'r> {
    pub(crate) fn new(
        task: &TaskId,
        rows: &'r LogRows,
        after: u64,
        receipt: Option<(Uuid, &IdempotencyKey)>,
    ) -> Self {
        let trace = rows.trace.as_ref();
        let numbered = rows.numbered(after);
        let (sequences, bodies) = numbered.map(|(last, body)| (last as i64, body)).unzip();
        Self {
            sequences,
            bodies,
            notified: rows.notified.iter().map(|it| *it as i64).collect(),
            traceparent: trace.map(|trace| trace.traceparent()),
            tracestate: trace
                .and_then(|trace| trace.tracestate())
                .map(str::to_owned),
            document: None,
            sequence: 0,
            message: receipt.map(|(key, _)| key),
            digest: receipt
                .map(|(_, receipt)| receipt.digest.to_vec())
                .unwrap_or_default(),
            expires: receipt.map_or(0, |(_, receipt)| micros(receipt.term)),
            task: column(task.as_str()).into_owned(),
        }
    }

    /// Adds the rows of a log to that of the task in `u`.
    pub(crate) fn add_log<'a>(&'a self, query: &mut Query<'a>) {
        match self.bodies.len() {
            0 => {}
            1 => query.add(
                ", e as (insert into @task_event(task, sequence, body) select seq, ?, ? from u)",
                &[(&self.sequence, Type::INT8), (&self.bodies[0], Type::BYTEA)],
            ),
            _ => query.add(
                ", e as (insert into @task_event(task, sequence, body)
                 select u.seq, r.sequence, r.body from u, unnest(?, ?) r(sequence, body))",
                &[
                    (&self.sequences, Type::INT8_ARRAY),
                    (&self.bodies, Type::BYTEA_ARRAY),
                ],
            ),
        }
    }

    /// Adds the notifications of the webhooks in `c`.
    pub(crate) fn add_notifications<'a>(&'a self, query: &mut Query<'a>) {
        if !self.notified.is_empty() {
            query.add(
                ", o as (insert into @push_outbox(task, config, sequence, traceparent, tracestate)
                 select c.task, c.config, n, ?, ? from c, unnest(?) n)",
                &[
                    (&self.traceparent, Type::TEXT),
                    (&self.tracestate, Type::TEXT),
                    (&self.notified, Type::INT8_ARRAY),
                ],
            );
        }
    }

    /// Adds the task in `u` as a whole.
    pub(crate) fn add_document<'a>(&'a self, query: &mut Query<'a>) {
        if self.document.is_some() {
            query.add(
                ", d as (insert into @task_doc(task, sequence, body) select seq, ?, ? from u
                 on conflict (task) do update set sequence = excluded.sequence, body = excluded.body)",
                &[(&self.sequence, Type::INT8), (&self.document, Type::BYTEA)],
            );
        }
    }

    /// Adds the receipt of the message in the task in `u`, which ends its reservation.
    pub(crate) fn add_receipt<'a>(&'a self, query: &mut Query<'a>) {
        if self.message.is_some() {
            query.add(
                ", r as (insert into @receipt(key, digest, task_id, expires)
                   select ?, ?, ?, clock_timestamp() + ? * interval '1 microsecond' from u), v as (delete from @reservation where key = ? and exists (select from u))",
                &[
                    (&self.message, Type::UUID),
                    (&self.digest, Type::BYTEA),
                    (&self.task, Type::TEXT),
                    (&self.expires, Type::INT8),
                    (&self.message, Type::UUID),
                ],
            );
        }
    }
}

/// Reason why a write failed: the rules of the store, or the database.
pub(crate) enum Refused {
    Store(StoreError),
    Database(PostgresError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<PostgresError> for Refused {
    fn from(error: PostgresError) -> Self {
        Self::Database(error)
    }
}

/// Returns the time of a status in milliseconds, by which lists are sorted.
pub(crate) fn time(status: &TaskStatus) -> i64 {
    status.timestamp.map_or(i64::MIN, Timestamp::as_millis)
}

/// Returns a term in microseconds, at most [`MAX_TERM`], so that the database can add it to a time.
pub(crate) fn micros(term: Duration) -> i64 {
    i64::try_from(term.as_micros()).map_or(MAX_TERM, |micros| micros.min(MAX_TERM))
}

/// Maximum term: a thousand years, in microseconds.
const MAX_TERM: i64 = 1000 * 365 * 86_400 * 1_000_000;
