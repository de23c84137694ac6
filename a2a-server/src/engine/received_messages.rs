//! Messages that were received before, here or by another server of the same store.

use std::sync::Arc;

use a2a_types::{Error as A2aError, ErrorKind, TaskId};
use tokio::time::Instant;

use crate::engine::Engine;
use crate::engine::idempotency::InFlightSend;
use crate::engine::outcome::{Accepted, LogPosition, Outcome};
use crate::engine::pending_message::PendingMessage;
use crate::engine::remote_tasks::COMMAND_INTERVAL;
use crate::store::{self, IdempotencyKey, Owner, StoreError};

/// Returns the outcome of a message that was received before, or `None` if it is new.
pub(crate) async fn known(
    engine: &Engine,
    in_flight: &InFlightSend,
    pending: &PendingMessage,
) -> Result<Option<Accepted>, A2aError> {
    let owner = Owner::of(&pending.context);
    let received = engine.store().received(&owner, in_flight.message()).await?;
    let Some(received) = received else {
        return Ok(None);
    };
    in_flight.check(received.digest)?;
    Ok(Some(match received.outcome {
        store::Outcome::Message(message) => Accepted::Known(Arc::new(Outcome::Message(*message))),
        store::Outcome::Task(task) => {
            let from = Box::pin(engine.find(&task, &owner)).await?;
            let from = LogPosition::from(&from.ok_or_else(|| removed(&task))?);
            match engine.active.running(&owner, &task) {
                Some(writer) if !from.is_settled => Accepted::Run {
                    // The message came earlier, so any early return of this run applies to its
                    // caller.
                    detached: 0,
                    from: Some(from),
                    writer,
                },
                _ => Accepted::Known(Arc::new(Outcome::Task(from))),
            }
        }
    }))
}

/// Returns the outcome of a message that another server has worked on, so that this one could not. Errors: `error`,
/// if no outcome is known.
pub(crate) async fn outcome_elsewhere(
    engine: &Engine,
    receipt: Option<IdempotencyKey>,
    owner: &Owner,
    error: A2aError,
) -> Result<Outcome, A2aError> {
    let Some(receipt) = receipt else {
        return Err(error);
    };
    match engine.store().received(owner, &receipt.message).await? {
        Some(received) if received.digest == receipt.digest => match received.outcome {
            store::Outcome::Message(message) => Ok(Outcome::Message(*message)),
            store::Outcome::Task(task) => {
                let snapshot = engine.find(&task, owner).await?;
                let snapshot = snapshot.ok_or_else(|| removed(&task))?;
                Ok(Outcome::Task(LogPosition::from(&snapshot)))
            }
        },
        _ => Err(error),
    }
}

/// Reserves a new message, so that no other server that shares the store works on it; returns the outcome if
/// another server did. On return the reservation is recent. Replaces the reservation of another server once it has
/// expired although that server could have renewed it.
pub(crate) async fn reserve(
    engine: &Engine,
    in_flight: &InFlightSend,
    pending: &PendingMessage,
) -> Result<Option<Accepted>, A2aError> {
    match engine.store_handle.is_shared() {
        // Boxed, so that it does not enlarge the future of every message.
        true => Box::pin(reserve_shared(engine, in_flight, pending)).await,
        false => Ok(None),
    }
}

async fn reserve_shared(
    engine: &Engine,
    in_flight: &InFlightSend,
    pending: &PendingMessage,
) -> Result<Option<Accepted>, A2aError> {
    let mut beat = tokio::time::interval(COMMAND_INTERVAL);
    let mut expired = None;
    while !in_flight.is_reserved() {
        let (owner, receipt) = (Owner::of(&pending.context), in_flight.receipt());
        let asked = Instant::now();
        match engine.store_handle.reserve(owner, receipt, expired).await {
            Ok(reservation) => in_flight.keep(reservation),
            Err(StoreError::ReservationExpired(number))
                if engine.maintenance.finds_abandoned_tasks(asked) =>
            {
                expired = Some(number);
            }
            Err(StoreError::DuplicateMessage) => {
                if let Some(known) = known(engine, in_flight, pending).await? {
                    return Ok(Some(known));
                }
            }
            // The outcome is in the store as soon as there is one, so poll for it.
            Err(StoreError::Leased | StoreError::ReservationExpired(_)) => {
                beat.tick().await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// The error for a message that was received before, if the store no longer has its task. Beginning another
/// task unasked could do twice what was to be done once.
fn removed(task: &TaskId) -> A2aError {
    let text = format!(
        "$.params.message.messageId: a message with this id was received before, and its task `{task}` has been \
         removed since: send the message with another id to have it worked on again"
    );
    A2aError::new(ErrorKind::InvalidParams, text)
}
