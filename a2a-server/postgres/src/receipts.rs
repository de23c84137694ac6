//! Receipts of messages, and the answers to messages that began no task.

use a2a_server::log_rows::{parse, write};
use a2a_server::{Outcome, Owner, Receipt, Received, StoreError};
use a2a_types::{Message, MessageId};
use tokio_postgres::types::Type;

use crate::PostgresError;
use crate::connections::{Query, Repeat};
use crate::names::{Key, read};
use crate::reads::get;
use crate::statement::micros;
use crate::store::Inner;

impl Inner {
    /// Reads the outcome of a message.
    pub(crate) async fn received(
        &self,
        owner: &Owner,
        message: &MessageId,
    ) -> Result<Option<Received>, StoreError> {
        let key = self.message_key(owner, message);
        let query = Query::new(
            "select digest, task_id, answer from @receipt where key = $1 and expires > clock_timestamp()",
        );
        let query = query.with(&key, Type::UUID);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let digest: &[u8] = get(row, 0)?;
        let digest = digest.try_into().map_err(StoreError::failed)?;
        let task: Option<String> = get(row, 1)?;
        let outcome = match task {
            Some(task) => Outcome::Task(read(task).into()),
            None => Outcome::Message(Box::new(parse(get(row, 2)?)?)),
        };
        Ok(Some(Received::new(digest, outcome)))
    }

    /// Handles a write that was refused because of a receipt: removes an expired one, otherwise fails with
    /// [`StoreError::Received`].
    pub(crate) async fn received_or_expired(
        &self,
        (owner, _): &Key,
        receipt: Option<&Receipt>,
    ) -> Result<(), StoreError> {
        let Some(receipt) = receipt else {
            return Err(StoreError::Received);
        };
        if self.received(owner, &receipt.message).await?.is_some() {
            return Err(StoreError::Received);
        }
        let key = self.message_key(owner, &receipt.message);
        let query =
            Query::new("delete from @receipt where key = $1 and expires <= clock_timestamp()");
        let query = query.with(&key, Type::UUID);
        self.connections.run(&query, Repeat::Harmless).await?;
        Ok(())
    }

    /// Stores the answer to a message.
    pub(crate) async fn keep_answer(
        &self,
        owner: &Owner,
        receipt: Receipt,
        answer: Message,
    ) -> Result<(), StoreError> {
        let key = self.message_key(owner, &receipt.message);
        let (digest, body, term) = (&receipt.digest[..], write(&answer)?, micros(receipt.term));
        let query = Query::new(
            "with r as (insert into @receipt as known (key, digest, answer, expires)
               values ($1, $2, $3, clock_timestamp() + $4 * interval '1 microsecond')
               on conflict (key) do update set digest = excluded.digest, task_id = null,
                 answer = excluded.answer, expires = excluded.expires
               where known.expires <= clock_timestamp() returning key),
             v as (delete from @reservation where key = $1 and exists (select from r))
             select from r",
        );
        let query = query
            .with(&key, Type::UUID)
            .with(&digest, Type::BYTEA)
            .with(&body, Type::BYTEA)
            .with(&term, Type::INT8);
        let kept = match self.connections.run(&query, Repeat::Harmful).await {
            Err(PostgresError::Lost(_)) => {
                // The first try may have stored it.
                let again = self.connections.run(&query, Repeat::Harmful).await?;
                !again.is_empty() || self.is_kept(owner, &receipt, &answer).await?
            }
            done => !done?.is_empty(),
        };
        kept.then_some(()).ok_or(StoreError::Received)
    }

    async fn is_kept(
        &self,
        owner: &Owner,
        receipt: &Receipt,
        answer: &Message,
    ) -> Result<bool, StoreError> {
        let known = self.received(owner, &receipt.message).await?;
        let own = Received::new(receipt.digest, Outcome::Message(Box::new(answer.clone())));
        Ok(known == Some(own))
    }
}
