//! Reservations of messages.

use std::time::Duration;

use a2a_server::{Owner, Receipt, StoreError};
use a2a_types::MessageId;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connections::{Query, Repeat};
use crate::reads::{get, number};
use crate::statement::micros;
use crate::store::Inner;

impl Inner {
    /// Reserves a message for a holder.
    pub(crate) async fn reserve(
        &self,
        owner: &Owner,
        receipt: &Receipt,
        holder: &str,
        term: Duration,
        replaces: Option<u64>,
    ) -> Result<u64, StoreError> {
        let replaces = replaces.map(|number| number as i64);
        let (key, term) = (self.message_key(owner, &receipt.message), micros(term));
        let query = Query::new(RESERVE)
            .with(&key, Type::UUID)
            .with(&holder, Type::TEXT)
            .with(&term, Type::INT8)
            .with(&replaces, Type::INT8);
        // If it runs twice, the second reservation replaces the first, whose number was not received.
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let number = match rows.first() {
            None => return Err(self.other_reservation(key).await?),
            Some(row) => number(row, 0)? as u64,
        };
        // While this statement waited for an earlier reservation to end, the message may have got its outcome.
        if self.received(owner, &receipt.message).await?.is_some() {
            self.release(owner, &receipt.message, number).await?;
            return Err(StoreError::Received);
        }
        self.reservations.lock().insert(number, holder.into());
        Ok(number)
    }

    /// Returns why a message could not be reserved: the reservation of another holder.
    async fn other_reservation(&self, key: Uuid) -> Result<StoreError, StoreError> {
        let query = "select number from @reservation where key = $1 and until <= clock_timestamp()";
        let query = Query::new(query).with(&key, Type::UUID);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        match rows.first() {
            Some(row) => Ok(StoreError::ReservationExpired(number(row, 0)? as u64)),
            None => Ok(StoreError::Leased),
        }
    }

    /// Releases the reservation of this number. If that fails, it runs out.
    pub(crate) async fn release(
        &self,
        owner: &Owner,
        message: &MessageId,
        reservation: u64,
    ) -> Result<(), StoreError> {
        self.reservations.lock().remove(&reservation);
        let (key, number) = (self.message_key(owner, message), reservation as i64);
        let query = Query::new("delete from @reservation where key = $1 and number = $2");
        let query = query.with(&key, Type::UUID).with(&number, Type::INT8);
        self.connections.run(&query, Repeat::Harmless).await?;
        Ok(())
    }

    /// Renews the reservations of a holder that are not released.
    pub(crate) async fn renew_reservations(
        &self,
        holder: &str,
        term: Duration,
    ) -> Result<(), StoreError> {
        let (held, term) = (self.reservations.of(holder), micros(term));
        if held.is_empty() {
            return Ok(());
        }
        let query = Query::new(RENEW)
            .with(&holder, Type::TEXT)
            .with(&term, Type::INT8)
            .with(&held, Type::INT8_ARRAY);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let renewed = rows.iter().map(|row| get(row, 0));
        let renewed = renewed.collect::<Result<Vec<i64>, _>>()?;
        let mut known = self.reservations.lock();
        for ended in held.iter().filter(|number| !renewed.contains(number)) {
            known.remove(&(*ended as u64));
        }
        Ok(())
    }
}

const RESERVE: &str = "
insert into @reservation as held (key, holder, number, until)
values ($1, $2, nextval('@reservation_number'), clock_timestamp() + $3 * interval '1 microsecond')
on conflict (key) do update set holder = excluded.holder, number = excluded.number, until = excluded.until
where held.holder = excluded.holder or held.number = $4 and held.until <= clock_timestamp()
returning number";

const RENEW: &str = "
update @reservation set until = clock_timestamp() + $2 * interval '1 microsecond'
where holder = $1 and number = any($3) returning number";
