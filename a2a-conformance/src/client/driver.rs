//! How a client under test is told what to do: as a process for each case, or line by line.

mod command;
mod lines;
mod process;

pub(super) use self::lines::Conversation;
use self::lines::Pool;
use super::errand::{Errand, Told};
use crate::mutant::client::Subject;

/// How a client under test is told what to do.
pub struct Driver(Kind);

enum Kind {
    Exec(String),
    Lines(Pool),
}

impl Driver {
    /// Starts a command for each case, `{url}` in it replaced by where the agent is, else behind it.
    pub fn exec(command: impl Into<String>) -> Self {
        Self(Kind::Exec(command.into()))
    }

    /// Starts a command once for each job, and talks to it line by line.
    pub fn stdio(command: impl Into<String>) -> Self {
        let command = command.into();
        Self(Kind::Lines(Pool::new(move || process::talk(&command))))
    }

    /// Our own client, in this process.
    pub fn ours() -> Self {
        Self::of(Subject::Ours)
    }

    /// Our own client, wrong or odd.
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
