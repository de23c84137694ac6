//! Reservations of messages, and mail between servers.

use std::time::Duration;

use a2a_server::{MAX_MAIL, Mail, Owner, Receipt, StoreError};
use a2a_types::MessageId;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connections::{Query, Repeat};
use crate::names::{read_owner, task_key};
use crate::reads::{get, number, task_id};
use crate::statement::micros;
use crate::store::Inner;
use crate::{mail_body, metric};

impl Inner {
    /// Reserves a message for a holder.
    pub(crate) async fn reserve(
        &self,
        owner: &Owner,
        receipt: &Receipt,
        holder: &str,
        term: Duration,
    ) -> Result<u64, StoreError> {
        let (key, term) = (self.message_key(owner, &receipt.message), micros(term));
        let query = Query::new(RESERVE)
            .with(&key, Type::UUID)
            .with(&holder, Type::TEXT)
            .with(&term, Type::INT8);
        // If it runs twice, the second reservation replaces the first, whose number was not received.
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let number = match rows.first() {
            None => return Err(StoreError::Leased),
            Some(row) => number(row, 0)? as u64,
        };
        // While this statement waited for an earlier reservation to end, the message may have got its outcome.
        if self.received(owner, &receipt.message).await?.is_some() {
            self.release(owner, &receipt.message, number).await?;
            return Err(StoreError::Received);
        }
        Ok(number)
    }

    /// Releases the reservation of this number.
    pub(crate) async fn release(
        &self,
        owner: &Owner,
        message: &MessageId,
        reservation: u64,
    ) -> Result<(), StoreError> {
        let (key, number) = (self.message_key(owner, message), reservation as i64);
        let query = Query::new("delete from @reservation where key = $1 and number = $2");
        let query = query.with(&key, Type::UUID).with(&number, Type::INT8);
        self.connections.run(&query, Repeat::Harmless).await?;
        Ok(())
    }

    /// Posts mail to the server that holds the lease of a task.
    pub(crate) async fn post(&self, mail: Mail) -> Result<(), StoreError> {
        let (task, id) = (task_key(&mail.owner, &mail.task), mail_id(&mail)?);
        let (body, most) = (mail_body::write(&mail.content)?, MAX_MAIL as i64);
        let query = Query::new(POST)
            .with(&task, Type::UUID)
            .with(&id, Type::UUID)
            .with(&body, Type::BYTEA)
            .with(&most, Type::INT8);
        // Its id is unique.
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let row = rows.first().ok_or(StoreError::NoTask)?;
        if !get::<bool>(row, 0)? {
            return Err(StoreError::Full);
        }
        self.hints.add_mail();
        Ok(())
    }

    /// Withdraws mail; returns whether it was still there.
    pub(crate) async fn withdraw(&self, mail: &Mail) -> Result<bool, StoreError> {
        let id = mail_id(mail)?;
        let query = Query::new("delete from @mail where id = $1 returning 1").with(&id, Type::UUID);
        Ok(!self
            .connections
            .run(&query, Repeat::Harmful)
            .await?
            .is_empty())
    }

    /// Takes the mail of the tasks that a holder has leased.
    pub(crate) async fn take_mail(
        &self,
        holder: &str,
        limit: usize,
    ) -> Result<Vec<Mail>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = Query::new(TAKE)
            .with(&holder, Type::TEXT)
            .with(&limit, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmful).await?;
        let mut taken = Vec::new();
        for row in &rows {
            let content = mail_body::read(get(row, 3)?)?;
            let mut mail = Mail::new(read_owner(get(row, 0)?)?, task_id(row, 1)?, content);
            mail.id = get::<Uuid>(row, 2)?.to_string();
            metric::mail_age(get(row, 4)?);
            taken.push(mail);
        }
        Ok(taken)
    }
}

fn mail_id(mail: &Mail) -> Result<Uuid, StoreError> {
    Uuid::parse_str(&mail.id).map_err(StoreError::failed)
}

const RESERVE: &str = "
insert into @reservation as held (key, holder, number, until)
values ($1, $2, nextval('@reservation_number'), clock_timestamp() + $3 * interval '1 microsecond')
on conflict (key) do update set holder = excluded.holder, number = excluded.number, until = excluded.until
where held.holder = excluded.holder or held.until <= clock_timestamp()
returning number";

/// Stores mail. Returns whether there was room for it or it was stored before; no row without the task, which is not
/// removed meanwhile.
const POST: &str = "
with t as (select seq from @task where key = $1 for key share),
known as (select count(*) as count from @mail where task = (select seq from t)),
put as (insert into @mail(id, task, body) select $2, t.seq, $3 from t, known where known.count < $4
  on conflict (id) do nothing)
select known.count < $4 or exists(select from @mail where id = $2) from t, known";

/// Takes the mail of the tasks that a holder has leased, the mail of each task in order.
const TAKE: &str = "
with due as (
  select m.position from @mail m join @task t on t.seq = m.task
  where t.busy and t.lease_owner = $1 and t.lease_until > clock_timestamp()
  order by m.position limit $2 for update of m skip locked),
taken as (delete from @mail m using due where m.position = due.position
  returning m.position, m.task, m.id, m.body, m.posted)
select t.owner, t.id, m.id, m.body, extract(epoch from clock_timestamp() - m.posted)::float8
from taken m join @task t on t.seq = m.task order by m.task, m.position";
