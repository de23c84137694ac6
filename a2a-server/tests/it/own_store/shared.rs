//! Reservations and commands, for several servers that share the store.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_server::{
    BoxFuture, IdempotencyKey, MAX_COMMANDS, Owner, Principal, SharedStore, StoreError, TaskCommand,
};
use a2a_types::{MessageId, TaskId};
use tokio::time::Instant;

use super::{Fault, OwnStore, ready};

#[derive(Default)]
pub(super) struct SharedState {
    reserved: BTreeMap<(Owner, MessageId), Reservation>,
    /// Number of the last reservation.
    last: u64,
    /// In the order in which they were posted.
    commands: Vec<TaskCommand>,
}

struct Reservation {
    number: u64,
    holder: String,
    until: Instant,
}

impl SharedState {
    /// Something is stored of a message.
    pub(super) fn outcome(&mut self, owner: &Owner, message: &MessageId) {
        self.reserved.remove(&(owner.clone(), message.clone()));
    }

    pub(super) fn renew(&mut self, holder: &str, term: Duration) {
        let own = self.reserved.values_mut().filter(|it| it.holder == holder);
        own.for_each(|it| it.until = Instant::now() + term);
    }

    pub(super) fn forget_task(&mut self, (owner, task): &(Owner, TaskId)) {
        self.commands
            .retain(|command| (&command.owner, &command.task) != (owner, task));
    }
}

impl SharedStore for OwnStore {
    fn reserve<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: &'a IdempotencyKey,
        holder: &'a str,
        term: Duration,
        replaces: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.answer(move |it| {
            let mut state = it.state();
            if it.fault != Some(Fault::ReservesWhatIsKnown)
                && let Err(error) = state.check(owner, Some(receipt))
            {
                return Err(error);
            }
            let owner = match it.fault {
                Some(Fault::MixesOwners) => &Owner::from(Principal::anonymous()),
                _ => owner,
            };
            let key = (owner.clone(), receipt.message.clone());
            let lasts = |until: Instant| {
                until > Instant::now() || it.fault == Some(Fault::KeepsReservations)
            };
            if let Some(other) = state.shared.reserved.get(&key)
                && other.holder != holder
                && it.fault != Some(Fault::ReservesTwice)
            {
                let (number, lasts) = (other.number, lasts(other.until));
                if lasts {
                    return Err(StoreError::Leased);
                }
                if replaces != Some(number) && it.fault != Some(Fault::ReplacesExpired) {
                    return Err(StoreError::ReservationExpired(number));
                }
            }
            state.shared.last += 1;
            let number = state.shared.last;
            let reservation = Reservation {
                number,
                holder: holder.to_owned(),
                until: Instant::now() + term,
            };
            state.shared.reserved.insert(key, reservation);
            Ok(number)
        })
    }

    fn release<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
        reservation: u64,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let reserved = &mut self.state().shared.reserved;
        let key = (owner.clone(), message.clone());
        let any = self.fault == Some(Fault::ReleasesAny);
        if reserved
            .get(&key)
            .is_some_and(|it| it.number == reservation || any)
        {
            reserved.remove(&key);
        }
        ready(Ok(()))
    }

    fn post(&self, command: TaskCommand) -> BoxFuture<'_, Result<(), StoreError>> {
        let mut state = self.state();
        if self.fault != Some(Fault::TakesCommandsWithoutTask)
            && let Err(error) = state.log(&command.owner, &command.task)
        {
            return ready(Err(error));
        }
        let all = &mut state.shared.commands;
        let alike = |it: &&TaskCommand| (&it.owner, &it.task) == (&command.owner, &command.task);
        if all.iter().filter(alike).count() >= MAX_COMMANDS
            && self.fault != Some(Fault::TakesAnyNumberOfCommands)
        {
            return ready(Err(StoreError::Full));
        }
        all.push(command);
        ready(Ok(()))
    }

    fn withdraw<'a>(&'a self, command: &'a TaskCommand) -> BoxFuture<'a, Result<bool, StoreError>> {
        let all = &mut self.state().shared.commands;
        let place = all.iter().position(|it| it.id == command.id);
        if let Some(place) = place.filter(|_| self.fault != Some(Fault::KeepsWithdrawnCommands)) {
            all.remove(place);
        }
        ready(Ok(place.is_some()))
    }

    fn take_commands<'a>(
        &'a self,
        holder: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskCommand>, StoreError>> {
        let mut state = self.state();
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for command in std::mem::take(&mut state.shared.commands) {
            let log = state.log(&command.owner, &command.task);
            let is_own = log.is_ok_and(|log| log.is_leased_to(holder))
                || self.fault == Some(Fault::GivesCommandsToAnyServer);
            if is_own && taken.len() < limit {
                taken.push(command.clone());
                if self.fault != Some(Fault::GivesCommandsTwice) {
                    continue;
                }
            }
            left.push(command);
        }
        state.shared.commands = left;
        ready(Ok(taken))
    }
}
