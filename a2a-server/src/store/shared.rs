//! Store that several servers share: reservations of messages, and commands between servers.

use std::time::Duration;

use a2a_transport::Context;
use a2a_types::{MessageId, SendMessageRequest, TaskId};
use tokio::sync::Notify;
use uuid::Uuid;

use super::{IdempotencyKey, Owner, StoreFuture};

/// The part of a [`Store`](super::Store) that several servers need when they share it: each message is worked on by
/// one of them, and each task is reached through any of them.
pub trait SharedStore: Send + Sync {
    /// Reserves a message for one server, before its agent gets it, and returns the number of this reservation,
    /// which no other of the message has. Its holder may reserve it again, which ends the earlier reservation. One of
    /// another holder is replaced only if it has run out and has the number `replaces`. It
    /// lasts for `term` by the store's clock, and is prolonged with the holder's leases by
    /// [`Store::renew`](super::Store::renew) until its release was tried. Storing a task that the message begins, an
    /// addition to a task, or an answer ends it, whichever server stores that.
    ///
    /// Errors: [`StoreError::DuplicateMessage`] if an outcome is known; [`StoreError::Leased`] if another holder has a
    /// reservation that has not run out, [`StoreError::ReservationExpired`] if it has.
    ///
    /// [`StoreError::DuplicateMessage`]: super::StoreError::DuplicateMessage
    /// [`StoreError::Leased`]: super::StoreError::Leased
    /// [`StoreError::ReservationExpired`]: super::StoreError::ReservationExpired
    fn reserve<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: &'a IdempotencyKey,
        holder: &'a str,
        term: Duration,
        replaces: Option<u64>,
    ) -> StoreFuture<'a, u64>;

    /// Releases the reservation of this number, unless it has ended. If that fails, it runs out.
    fn release<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
        reservation: u64,
    ) -> StoreFuture<'a, ()>;

    /// Leaves a command for the server that holds the lease of a task. It goes with its task.
    ///
    /// Errors: [`StoreError::NoTask`]; [`StoreError::Full`] if the task has [`MAX_COMMANDS`] commands already.
    ///
    /// [`StoreError::NoTask`]: super::StoreError::NoTask
    /// [`StoreError::Full`]: super::StoreError::Full
    fn post(&self, command: TaskCommand) -> StoreFuture<'_, ()>;

    /// Takes a command back; returns `false` if it is not there any more.
    fn withdraw<'a>(&'a self, command: &'a TaskCommand) -> StoreFuture<'a, bool>;

    /// Takes commands, at most `limit`, for the tasks of which this holder has an unexpired lease; the commands of one
    /// task comes in the order in which it was posted. No other holder gets it.
    fn take_commands<'a>(
        &'a self,
        holder: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<TaskCommand>>;

    /// Returns a signal that another server may have posted a command, or `None` if the store cannot detect that: then
    /// the server polls for commands.
    fn command_posted(&self) -> Option<&Notify> {
        None
    }
}

/// Maximum number of commands that wait for one task.
pub const MAX_COMMANDS: usize = 64;

/// A command for the server that works on a task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskCommand {
    /// Id of this command, a UUID.
    pub id: String,
    /// Owner of the task.
    pub owner: Owner,
    /// The task.
    pub task: TaskId,
    /// The request to its server.
    pub content: CommandContent,
}

/// Request to the server that works on a task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CommandContent {
    /// To give the agent a message.
    Message {
        /// The request with the message.
        request: Box<SendMessageRequest>,
        /// Its caller and circumstances.
        context: Box<Context>,
        /// Receipt to be stored with the message.
        receipt: Option<IdempotencyKey>,
    },
    /// To have the agent stop, and cancel the task.
    Cancel,
}

impl TaskCommand {
    /// Makes a command with an id of its own.
    pub fn new(owner: Owner, task: TaskId, content: CommandContent) -> Self {
        Self {
            id: Uuid::new_v4().to_string(),
            owner,
            task,
            content,
        }
    }
}
