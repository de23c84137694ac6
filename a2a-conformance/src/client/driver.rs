//! Drivers of a client under test: a process for each case, or a conversation line by line.

mod command;
mod lines;
mod process;

pub(super) use self::lines::LineConnection;
use self::lines::Pool;
use super::driver_request::{DriverOutcome, DriverRequest};
use crate::mutant::client::ClientSubject;

/// Driver of a client under test: starts it, and gives it the instructions of a case.
pub struct Driver(DriverKind);

enum DriverKind {
    Exec(String),
    Lines(Pool),
}

impl Driver {
    /// Starts a command for each case. The agent's URL replaces `{url}` in it, or is appended.
    pub fn exec(command: impl Into<String>) -> Self {
        Self(DriverKind::Exec(command.into()))
    }

    /// Starts a command once for each job, and talks to it line by line.
    pub fn stdio(command: impl Into<String>) -> Self {
        let command = command.into();
        Self(DriverKind::Lines(Pool::new(move || {
            process::connect(&command)
        })))
    }

    /// Runs our own client in this process.
    pub fn reference() -> Self {
        Self::of(ClientSubject::Reference)
    }

    /// Runs our own client in this process, with the bug or the peculiarity of `subject`.
    pub fn of(subject: ClientSubject) -> Self {
        Self(DriverKind::Lines(Pool::new(move || {
            Ok(super::reference_client::connect(subject))
        })))
    }

    pub(super) async fn run(&self, request: &DriverRequest) -> DriverOutcome {
        match &self.0 {
            DriverKind::Exec(command) => command::run(command, request).await,
            DriverKind::Lines(pool) => pool.run(request).await,
        }
    }
}
