//! The signals between a turn and those who start it, stop it, or wait for it.

use std::sync::atomic::Ordering;

use super::Runner;
use crate::turns::FirstStep;

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
