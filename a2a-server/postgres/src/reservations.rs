//! Reservations of messages.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use a2a_server::StoreError;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{get, number};
use crate::connections::{Connections, Query, Repeat};
use crate::lock::lock;
use crate::receipts;
use crate::statement::micros;

/// The reservations of this process that are neither released nor known to have ended, with their holders: no others are
/// renewed. There are as many as messages in flight, and as end until the next renewal.
#[derive(Default)]
pub(crate) struct Reservations(Mutex<HashMap<u64, Box<str>>>);

impl Reservations {
    /// Reserves a message for a holder; returns the number of the reservation.
    pub(crate) async fn reserve(
        &self,
        connections: &Connections,
        message: Uuid,
        holder: &str,
        term: Duration,
        replaces: Option<u64>,
    ) -> Result<u64, StoreError> {
        let (term, replaces) = (micros(term), replaces.map(|number| number as i64));
        let query = Query::new(RESERVE)
            .with(&message, Type::UUID)
            .with(&holder, Type::TEXT)
            .with(&term, Type::INT8)
            .with(&replaces, Type::INT8);
        // If it runs twice, the second reservation replaces the first, whose number was not received.
        let number = match connections.row(&query, Repeat::Harmless).await? {
            None => return Err(other_reservation(connections, message).await?),
            Some(row) => number(&row, 0)? as u64,
        };
        // While this statement waited for an earlier reservation to end, the message may have got its outcome.
        if receipts::received(connections, message).await?.is_some() {
            self.release(connections, message, number).await?;
            return Err(StoreError::DuplicateMessage);
        }
        lock(&self.0).insert(number, holder.into());
        Ok(number)
    }

    /// Releases the reservation of this number. If that fails, it runs out.
    pub(crate) async fn release(
        &self,
        connections: &Connections,
        message: Uuid,
        number: u64,
    ) -> Result<(), StoreError> {
        lock(&self.0).remove(&number);
        let number = number as i64;
        let query = Query::new("delete from @reservation where key = $1 and number = $2");
        let query = query.with(&message, Type::UUID).with(&number, Type::INT8);
        connections.run(&query, Repeat::Harmless).await?;
        Ok(())
    }

    /// Renews the reservations of a holder that are not released.
    pub(crate) async fn renew(
        &self,
        connections: &Connections,
        holder: &str,
        term: Duration,
    ) -> Result<(), StoreError> {
        let (held, term) = (self.of(holder), micros(term));
        if held.is_empty() {
            return Ok(());
        }
        let query = Query::new(RENEW)
            .with(&holder, Type::TEXT)
            .with(&term, Type::INT8)
            .with(&held, Type::INT8_ARRAY);
        let rows = connections.run(&query, Repeat::Harmless).await?;
        let renewed = rows.iter().map(|row| get(row, 0));
        let renewed: Vec<i64> = renewed.collect::<Result<_, _>>()?;
        let mut known = lock(&self.0);
        for ended in held.iter().filter(|number| !renewed.contains(number)) {
            known.remove(&(*ended as u64));
        }
        Ok(())
    }

    /// Returns the numbers of a holder's reservations.
    fn of(&self, holder: &str) -> Vec<i64> {
        let held = lock(&self.0);
        let own = held.iter().filter(|(_, of)| &***of == holder);
        own.map(|(number, _)| *number as i64).collect()
    }
}

/// Returns why a message could not be reserved: the reservation of another holder.
async fn other_reservation(
    connections: &Connections,
    message: Uuid,
) -> Result<StoreError, StoreError> {
    let query = "select number from @reservation where key = $1 and until <= clock_timestamp()";
    let query = Query::new(query).with(&message, Type::UUID);
    match connections.row(&query, Repeat::Harmless).await? {
        Some(row) => Ok(StoreError::ReservationExpired(number(&row, 0)? as u64)),
        None => Ok(StoreError::Leased),
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
