//! Builder of the statements that write to a log. A statement contains only the tables that it writes to.

use std::time::Duration;

use a2a_server::log_rows::LogRows;
use a2a_server::{Receipt, StoreError};
use a2a_types::{TaskId, TaskStatus, Timestamp};
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use crate::PostgresError;
use crate::connections::Query;
use crate::names::column;

/// A statement under construction: values get their numbers in the order in which they are added.
#[derive(Default)]
pub(crate) struct Statement<'a> {
    pub(crate) text: String,
    values: Vec<(&'a (dyn ToSql + Sync), Type)>,
}

impl<'a> Statement<'a> {
    /// Adds text in which each `?` is the next of these values.
    pub(crate) fn add(&mut self, text: &str, values: &[(&'a (dyn ToSql + Sync), Type)]) {
        let mut values = values.iter();
        for (place, piece) in text.split('?').enumerate() {
            if place > 0 {
                self.values.extend(values.next().cloned());
                self.text += &format!("${}", self.values.len());
            }
            self.text += piece;
        }
    }

    pub(crate) fn into_query(self) -> Query<'a> {
        let query = Query::new(self.text);
        let values = self.values.into_iter();
        values.fold(query, |query, (value, of)| query.with(value, of))
    }

    /// Adds the rows of a log to that of the task in `u`.
    pub(crate) fn add_log(&mut self, parts: &'a Parts, bodies: &'a Vec<&'a [u8]>) {
        match bodies.len() {
            0 => {}
            1 => self.add(
                ", e as (insert into @task_event(task, sequence, body) select seq, ?, ? from u)",
                &[(&parts.sequence, Type::INT8), (&bodies[0], Type::BYTEA)],
            ),
            _ => self.add(
                ", e as (insert into @task_event(task, sequence, body)
                 select u.seq, r.sequence, r.body from u, unnest(?, ?) r(sequence, body))",
                &[
                    (&parts.sequences, Type::INT8_ARRAY),
                    (bodies, Type::BYTEA_ARRAY),
                ],
            ),
        }
    }

    /// Adds the notifications of the webhooks of the task in `u`.
    pub(crate) fn add_notifications(&mut self, parts: &'a Parts) {
        if !parts.notified.is_empty() {
            self.add(
                ", c as (update @push_config c set due = coalesce(due, clock_timestamp())
                   from u where c.task = u.seq returning c.task, c.config),
                 o as (insert into @push_outbox(task, config, sequence, traceparent, tracestate)
                   select c.task, c.config, n, ?, ? from c, unnest(?) n)",
                &[
                    (&parts.traceparent, Type::TEXT),
                    (&parts.tracestate, Type::TEXT),
                    (&parts.notified, Type::INT8_ARRAY),
                ],
            );
        }
    }

    /// Adds the checkpoint of the task in `u`.
    pub(crate) fn add_checkpoint(&mut self, checkpoint: &'a Option<&'a [u8]>, begins_turn: bool) {
        if begins_turn && checkpoint.is_none() {
            self.text += ", k as (delete from @task_checkpoint c using u where c.task = u.seq)";
        }
        if checkpoint.is_some() {
            self.add(
                ", k as (insert into @task_checkpoint(task, body) select seq, ? from u
                 on conflict (task) do update set body = excluded.body)",
                &[(checkpoint, Type::BYTEA)],
            );
        }
    }

    /// Adds the task in `u` as a whole.
    pub(crate) fn add_document(&mut self, parts: &'a Parts) {
        if parts.document.is_some() {
            self.add(
                ", d as (insert into @task_doc(task, sequence, body) select seq, ?, ? from u
                 on conflict (task) do update set sequence = excluded.sequence, body = excluded.body)",
                &[(&parts.sequence, Type::INT8), (&parts.document, Type::BYTEA)],
            );
        }
    }

    /// Adds the receipt of the message in the task in `u`, which ends its reservation.
    pub(crate) fn add_receipt(&mut self, parts: &'a Parts) {
        if parts.message.is_some() {
            self.add(
                ", r as (insert into @receipt(key, digest, task_id, expires)
                   select ?, ?, ?, clock_timestamp() + ? * interval '1 microsecond' from u), v as (delete from @reservation where key = ? and exists (select from u))",
                &[
                    (&parts.message, Type::UUID),
                    (&parts.digest, Type::BYTEA),
                    (&parts.task, Type::TEXT),
                    (&parts.expires, Type::INT8),
                    (&parts.message, Type::UUID),
                ],
            );
        }
    }
}

/// Values of the parts that an append and a new task have in common.
pub(crate) struct Parts {
    pub(crate) sequences: Vec<i64>,
    pub(crate) notified: Vec<i64>,
    pub(crate) traceparent: Option<String>,
    pub(crate) tracestate: Option<String>,
    pub(crate) document: Option<Vec<u8>>,
    pub(crate) sequence: i64,
    message: Option<Uuid>,
    digest: Vec<u8>,
    expires: i64,
    pub(crate) task: String,
}

impl Parts {
    pub(crate) fn new(
        task: &TaskId,
        rows: &LogRows,
        after: u64,
        receipt: Option<(Uuid, &Receipt)>,
    ) -> Self {
        let trace = rows.trace.as_ref();
        Self {
            sequences: rows.numbered(after).map(|(last, _)| last as i64).collect(),
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

/// Returns the bodies of the rows.
pub(crate) fn bodies(rows: &LogRows) -> Vec<&[u8]> {
    rows.numbered(0).map(|(_, body)| body).collect()
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
