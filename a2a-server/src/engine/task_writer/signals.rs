//! The signals between a turn and those who start it, stop it, or wait for it.

use std::sync::atomic::Ordering;

use super::Runner;

impl Runner {
    /// Asks the agent to stop.
    pub(crate) fn cancel(&self) {
        self.board.change(|stage| stage.canceled = true);
    }

    pub(crate) async fn canceled(&self) {
        self.board.until(|stage| stage.canceled).await;
    }

    pub(crate) fn is_canceled(&self) -> bool {
        self.board.is(|stage| stage.canceled)
    }

    /// Resolves when the turn is to stop, because the caller wants that or the task is somebody else's.
    pub(crate) async fn stopped(&self) {
        let board = self.board();
        board.until(|stage| stage.canceled || stage.lost).await;
    }

    /// Stops the turn where it stands: the task is left to somebody else.
    pub(crate) fn lose(&self) {
        self.board.change(|stage| stage.lost = true);
    }

    /// Resolves when the task is somebody else's.
    pub(crate) async fn lost(&self) {
        self.board.until(|stage| stage.lost).await;
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.board.is(|stage| stage.lost)
    }

    /// Tells that the first turn begins.
    pub(crate) fn begin(&self, first_step: FirstStep) {
        let pause = match first_step {
            FirstStep::Here => 0,
            FirstStep::UntilTold => AT_ONCE,
            FirstStep::Apart => 1,
        };
        self.pause.store(pause, Ordering::Relaxed);
        self.board.change(|stage| stage.begun = true);
    }

    /// Resolves when the first turn has begun, or will not.
    pub(crate) async fn begun(&self) {
        self.board.until(|stage| stage.begun).await;
    }

    /// Tells that the runner writes no more.
    pub(crate) fn end(&self) {
        self.board.change(|stage| {
            stage.begun = true;
            stage.ended = true;
        });
    }

    /// Resolves when the runner writes no more.
    pub(crate) async fn ended(&self) {
        self.board.until(|stage| stage.ended).await;
    }
}

/// How many updates an agent gives at once before the first of them are told. Most have ended by then, or
/// wait for something; others would keep those who follow from what is there already.
const AT_ONCE: u8 = 3;

/// Who takes the first step of a run, up to where the agent waits for something. All others are taken
/// by a task of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FirstStep {
    /// Whoever starts it, who would do nothing but wait: agents that have their answer at once need
    /// no task.
    Here,
    /// Whoever starts it, for a few events: an agent that has its answer at once has it told at once, and
    /// of one that goes on they are told before it does.
    UntilTold,
    /// That task.
    Apart,
}

impl FirstStep {
    /// Whether the caller follows the task from the message on.
    pub(crate) fn is_followed(self) -> bool {
        self == Self::UntilTold
    }

    /// Who takes it if there is a task already.
    pub(crate) fn of_known(self) -> Self {
        match self {
            Self::Here => Self::Here,
            Self::UntilTold | Self::Apart => Self::Apart,
        }
    }
}
