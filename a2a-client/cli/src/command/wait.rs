//! Waiting for a task, by asking for it again and again.

use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_types::Task;
use clap::Args;

use crate::connection::read_duration;
use crate::failure::Failure;
use crate::show::{note, state_name};

/// Options of waiting.
#[derive(Args, Clone)]
pub(crate) struct WaitOptions {
    /// Wait until the task has ended, or waits for its caller.
    #[arg(long, visible_alias = "watch")]
    pub(crate) wait: bool,
    /// Pause before the task is read again while waiting for it; it grows up to 30 s.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = read_duration)]
    poll_interval: Duration,
}

impl WaitOptions {
    /// Waits until a task has ended or waits for its caller, and returns it. A state that is unknown is neither.
    pub(crate) async fn until_settled(
        &self,
        client: &Client,
        mut task: Task,
        history: Option<u32>,
    ) -> Result<Task, Failure> {
        let mut pause = self.poll_interval.max(MIN_PAUSE);
        let mut was_told = false;
        while !task.status.state.is_settled() {
            if !std::mem::replace(&mut was_told, true) {
                let (id, state) = (&task.id, state_name(task.status.state));
                note(&format!("task {id} is {state}: waiting for it"));
            }
            tokio::time::sleep(pause).await;
            pause = pause
                .mul_f32(BACKOFF)
                .min(MAX_PAUSE.max(self.poll_interval));
            task = match client.get_task(task.id.clone(), history).await {
                Ok(task) => task,
                // The next look may succeed; --timeout ends the wait.
                Err(Error::Connection(_) | Error::Busy { .. }) => task,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(task)
    }
}

const MIN_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_secs(30);
const BACKOFF: f32 = 1.2;
