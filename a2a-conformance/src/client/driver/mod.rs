//! Drivers of a client under test: a process for each case, or a conversation line by line.

mod command;
mod lines;
mod process;

use std::io;

pub use self::lines::LineConnection;
use self::lines::Pool;
use super::driver_request::{DriverOutcome, DriverRequest};

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

    /// Opens connections to a client in this process, which reads instructions line by line.
    pub fn connections(
        open: impl Fn() -> io::Result<LineConnection> + Send + Sync + 'static,
    ) -> Self {
        Self(DriverKind::Lines(Pool::new(open)))
    }

    pub(super) async fn run(&self, request: &DriverRequest) -> DriverOutcome {
        match &self.0 {
            DriverKind::Exec(command) => command::run(command, request).await,
            DriverKind::Lines(pool) => pool.run(request).await,
        }
    }
}
