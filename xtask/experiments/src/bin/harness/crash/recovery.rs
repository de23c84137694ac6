//! Recovery of unfinished tasks by the next server.

use std::time::Duration;

use a2a_client::{Client, Error, Retries, StreamExt};
use a2a_types::{ErrorKind, Message, ProtocolVersion, Role, Task, TaskId, TaskState};

use crate::agent::RESUMED;
use crate::tables::StoredTask;

/// Clients of one server, for the two protocol versions of this experiment.
pub(crate) struct Clients {
    new: Client,
    old: Client,
}

impl Clients {
    pub(crate) fn of(url: &str) -> Result<Self, Error> {
        Ok(Self {
            new: Client::at(url, ProtocolVersion::V1_0)?.retries(Retries::none()),
            old: Client::at(url, ProtocolVersion::V0_2)?.retries(Retries::none()),
        })
    }

    pub(crate) fn speaking(&self, protocol_version: ProtocolVersion) -> &Client {
        match protocol_version {
            ProtocolVersion::V1_0 => &self.new,
            _ => &self.old,
        }
    }

    /// Waits until an unfinished task has settled; returns an error text if its recovery was wrong.
    pub(crate) async fn resolve(&self, left: StoredTask, resumes: bool) -> Option<String> {
        let id = &left.task.id;
        let settled = settled(self.speaking(left.protocol_version), id);
        let wrong = match tokio::time::timeout(MAX_RECOVERY, settled).await {
            Ok(Ok(task)) if resumes => badly_resumed(&left, &task),
            Ok(Ok(task)) => badly_failed(&task),
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it did not settle in time".to_owned()),
        };
        wrong.map(|wrong| format!("task {id}: {wrong}"))
    }
}

/// Follows the task until it has settled, and returns it.
async fn settled(client: &Client, id: &TaskId) -> Result<Task, Error> {
    loop {
        match client.subscribe(id.clone()).await {
            Ok(mut updates) => while updates.next().await.transpose()?.is_some() {},
            // 1.0 reports a task that has ended this way.
            Err(Error::Agent(error)) if error.kind == ErrorKind::UnsupportedOperation => {}
            Err(error) => return Err(error),
        }
        let task = client.get_task(id.clone(), None).await?;
        if task.status.state.is_settled() {
            return Ok(task);
        }
    }
}

fn badly_failed(task: &Task) -> Option<String> {
    let status = &task.status;
    let text = status
        .message
        .as_deref()
        .map(Message::text)
        .unwrap_or_default();
    let well = status.state == TaskState::Failed && text.contains("process ended");
    (!well).then(|| format!("it is {:?}, and says {text:?}", status.state))
}

/// The agent went on where it was by its last checkpoint.
fn badly_resumed(left: &StoredTask, task: &Task) -> Option<String> {
    let mut messages = left.task.history.iter().rev();
    let order = messages
        .find(|message| message.role == Role::User)
        .map(Message::text);
    let order = order.unwrap_or_default();
    let expected = match order.starts_with("ask") {
        true => TaskState::InputRequired,
        false => TaskState::Completed,
    };
    let state = task.status.state;
    if state != expected {
        return Some(format!("it is {state:?} after {order:?}"));
    }
    let texts = task.history.iter().rev().map(Message::text);
    let resumed = texts.into_iter().find(|text| text.starts_with(RESUMED));
    let due = format!("{RESUMED} {}", left.step);
    let well = !order.starts_with("steps") || resumed.as_ref() == Some(&due);
    (!well).then(|| format!("its agent reported {resumed:?}, not {due:?}"))
}

/// Time in which an unfinished task must settle.
const MAX_RECOVERY: Duration = Duration::from_secs(10);
