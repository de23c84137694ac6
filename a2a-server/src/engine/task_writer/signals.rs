//! Signals between a turn and the callers that start it, stop it, or wait for it.

use uuid::Uuid;

use super::TaskWriter;
use crate::engine::run_state::{Phase, StopReason};

impl TaskWriter {
    /// Asks the agent to stop.
    pub(crate) fn cancel(&self) {
        self.run_state().stop(StopReason::Canceled);
    }

    /// Stops the turn where it stands: the task is left to another writer.
    pub(crate) fn lose(&self) {
        self.run_state().stop(StopReason::Lost);
    }

    /// Waits until the turn is to stop, for whatever reason.
    pub(crate) async fn stopped(&self) {
        self.run_state().until(|run| run.stop.is_some()).await;
    }

    /// Returns whether the turn is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.run_state().is(|run| run.stop.is_some())
    }

    /// Waits until the task is left to another writer.
    pub(crate) async fn lost(&self) {
        self.run_state()
            .until(|run| run.stop == Some(StopReason::Lost))
            .await;
    }

    /// Returns whether the task is left to another writer.
    pub(crate) fn is_lost(&self) -> bool {
        self.run_state()
            .is(|run| run.stop == Some(StopReason::Lost))
    }

    /// Reports that the first turn begins.
    pub(crate) fn begin(&self) {
        self.run_state().change(|run| run.phase = Phase::Running);
    }

    /// Resolves when the first turn has begun, or will not.
    pub(crate) async fn begun(&self) {
        self.run_state()
            .until(|run| run.phase > Phase::Claimed)
            .await;
    }

    /// Reports that the writer has ended.
    pub(crate) fn end(&self) {
        self.run_state().change(|run| run.phase = Phase::Ended);
    }

    /// Resolves when the writer writes no more.
    pub(crate) async fn ended(&self) {
        self.run_state()
            .until(|run| run.phase == Phase::Ended)
            .await;
    }

    /// Reports to waiting callers and followers that the end of the turn could not be stored.
    pub(crate) fn report_stuck(&self, failure: Uuid) {
        self.run_state().change(|run| run.stuck = Some(failure));
        let fanouts = &self.store_handle().fanouts;
        fanouts.fail(self.owner(), self.task_id(), failure);
    }

    /// Reports that the end of the turn is stored after all.
    pub(crate) fn report_unstuck(&self) {
        if self.run_state().is(|run| run.stuck.is_some()) {
            self.run_state().change(|run| run.stuck = None);
        }
    }
}
