//! Drivers of a client under test: a process for each case, or a conversation line by line.

mod command;
mod lines;
mod process;

pub(super) use self::lines::Conversation;
use self::lines::Pool;
use super::errand::{Errand, Told};
use crate::mutant::client::Subject;

/// Driver of a client under test: starts it, and gives it the instructions of a case.
pub struct Driver(Kind);

enum Kind {
    Exec(String),
    Lines(Pool),
}

impl Driver {
    /// Starts a command for each case. The agent's URL replaces `{url}` in it, or is appended.
    pub fn exec(command: impl Into<String>) -> Self {
        Self(Kind::Exec(command.into()))
    }

    /// Starts a command once for each job, and talks to it line by line.
    pub fn stdio(command: impl Into<String>) -> Self {
        let command = command.into();
        Self(Kind::Lines(Pool::new(move || process::talk(&command))))
    }

    /// Runs our own client in this process.
    pub fn ours() -> Self {
        Self::of(Subject::Ours)
    }

    /// Runs our own client in this process, wrong or odd as `subject` says.
    pub fn of(subject: Subject) -> Self {
        Self(Kind::Lines(Pool::new(move || {
            Ok(super::ours::talk(subject))
        })))
    }

    pub(super) async fn run(&self, errand: &Errand) -> Told {
        match &self.0 {
            Kind::Exec(command) => command::run(command, errand).await,
            Kind::Lines(pool) => pool.run(errand).await,
        }
    }
}
