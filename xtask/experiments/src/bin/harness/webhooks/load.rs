//! Callers that register webhooks until the server is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_client::{Client, Error, Retries, SendMessageResponse};
use a2a_types::{
    Message, ProtocolVersion, SendMessageConfiguration, SendMessageRequest, Task, TaskId,
    TaskPushNotificationConfig, TaskState,
};
use fastrand::Rng;
use tokio::task::JoinSet;

use super::delivery_record::{DeliveryRecord, DueAfter};
use super::receiver::{HookServer, TOKEN};
use crate::Failure;

/// Receivers of webhooks, and the record about them.
pub(crate) struct WebhookTargets {
    pub(crate) record: Arc<DeliveryRecord>,
    pub(crate) receivers: Vec<HookServer>,
    /// Number of webhooks.
    count: AtomicUsize,
}

impl WebhookTargets {
    pub(crate) fn new(record: &Arc<DeliveryRecord>, receivers: Vec<HookServer>) -> Arc<Self> {
        Arc::new(Self {
            record: Arc::clone(record),
            receivers,
            count: AtomicUsize::new(0),
        })
    }

    /// A new webhook, and its path; at each receiver in turn.
    pub(crate) fn webhook(&self) -> (TaskPushNotificationConfig, String) {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = format!("/hook/{number}");
        let config = TaskPushNotificationConfig {
            id: format!("hook-{number}").into(),
            url: self.receivers[number % self.receivers.len()].url(&path),
            token: Some(TOKEN.to_owned()),
            ..TaskPushNotificationConfig::default()
        };
        (config, path)
    }
}

/// Starts the callers.
pub(crate) fn begin(
    callers: usize,
    url: &str,
    targets: &Arc<WebhookTargets>,
    rng: &mut Rng,
) -> Result<JoinSet<()>, Failure> {
    let mut clients = Vec::new();
    for protocol_version in PROTOCOL_VERSIONS {
        clients.push(Client::at(url, protocol_version)?.retries(Retries::none()));
    }
    let mut set = JoinSet::new();
    for _ in 0..callers {
        let mut caller = WebhookCaller {
            clients: clients.clone(),
            targets: Arc::clone(targets),
            rng: rng.fork(),
        };
        set.spawn(async move { while caller.act().await.is_ok() {} });
    }
    Ok(set)
}

/// Waits until every caller has noticed that the server is gone.
pub(crate) async fn end(mut callers: JoinSet<()>) -> Result<(), Failure> {
    let all = async { while callers.join_next().await.is_some() {} };
    let in_time = tokio::time::timeout(Duration::from_secs(30), all).await;
    in_time.map_err(|_| "a caller did not notice that the server is gone".into())
}

/// Protocol versions of this experiment.
pub(crate) const PROTOCOL_VERSIONS: [ProtocolVersion; 3] = [
    ProtocolVersion::V0_2,
    ProtocolVersion::V0_3,
    ProtocolVersion::V1_0,
];

/// The server is gone.
struct Gone;

struct WebhookCaller {
    clients: Vec<Client>,
    targets: Arc<WebhookTargets>,
    rng: Rng,
}

impl WebhookCaller {
    /// Does one of the things that callers do.
    async fn act(&mut self) -> Result<(), Gone> {
        let version = self.rng.usize(..PROTOCOL_VERSIONS.len());
        match self.rng.u8(..8) {
            0 | 1 => drop(self.watch(version, "steps 3 2", false).await?),
            2 | 3 => drop(self.watch(version, "steps 12 4", true).await?),
            4 => self.watch_twice(version).await?,
            5 | 6 => self.watch_from_answer(version).await?,
            _ => self.watch_running(version).await?,
        }
        Ok(())
    }

    /// A webhook that comes with a message.
    async fn watch(&self, version: usize, text: &str, at_once: bool) -> Result<Option<Task>, Gone> {
        let (config, path) = self.targets.webhook();
        let request = request(Message::user(text), Some(config), at_once);
        let task = self.send(version, request).await?;
        if let Some(task) = &task {
            let mut deliveries = self.targets.record.deliveries();
            deliveries.acknowledge(
                &path,
                &task.id,
                PROTOCOL_VERSIONS[version],
                DueAfter::Beginning,
            );
        }
        Ok(task)
    }

    /// A webhook that comes with a message, and another, perhaps of another protocol version.
    async fn watch_twice(&mut self, version: usize) -> Result<(), Gone> {
        if let Some(task) = self.watch(version, "steps 15 4", true).await? {
            self.watch_from_now(&task.id).await?;
        }
        Ok(())
    }

    /// A webhook registered before the second message of a task.
    async fn watch_from_answer(&mut self, version: usize) -> Result<(), Gone> {
        let asked = request(Message::user("ask me"), None, false);
        let Some(task) = self.send(version, asked).await? else {
            return Ok(());
        };
        let answer = Message {
            task_id: Some(task.id.clone()),
            ..Message::user("steps 4 2")
        };
        let due_after = DueAfter::Message(answer.message_id.clone());
        if task.status.state == TaskState::InputRequired {
            self.register(&task.id, due_after).await?;
            self.send(version, request(answer, None, false)).await?;
        }
        Ok(())
    }

    /// A webhook registered while the agent is at work.
    async fn watch_running(&mut self, version: usize) -> Result<(), Gone> {
        let working = request(Message::user("steps 15 4"), None, true);
        if let Some(task) = self.send(version, working).await? {
            self.watch_from_now(&task.id).await?;
        }
        Ok(())
    }

    /// Registers a webhook of an active task: it receives the events from now on.
    async fn watch_from_now(&mut self, task: &TaskId) -> Result<(), Gone> {
        let Some((path, version)) = self.create(task).await? else {
            return Ok(());
        };
        let seen = self.clients[version].get_task(task.clone(), None).await;
        if let Some(seen) = unless_gone(seen)?
            && !seen.status.state.is_terminal()
        {
            let due_after = DueAfter::Step(seen.artifacts.len() as u64);
            let mut deliveries = self.targets.record.deliveries();
            deliveries.acknowledge(&path, task, PROTOCOL_VERSIONS[version], due_after);
        }
        Ok(())
    }

    async fn register(&mut self, task: &TaskId, due_after: DueAfter) -> Result<(), Gone> {
        if let Some((path, version)) = self.create(task).await? {
            let mut deliveries = self.targets.record.deliveries();
            deliveries.acknowledge(&path, task, PROTOCOL_VERSIONS[version], due_after);
        }
        Ok(())
    }

    /// Registers a webhook in a random protocol version; returns its path and the index of the
    /// version.
    async fn create(&mut self, task: &TaskId) -> Result<Option<(String, usize)>, Gone> {
        let version = self.rng.usize(..PROTOCOL_VERSIONS.len());
        let (config, path) = self.targets.webhook();
        let config = TaskPushNotificationConfig {
            task_id: task.clone(),
            ..config
        };
        let created = self.clients[version].create_push_config(config).await;
        Ok(unless_gone(created)?.map(|_| (path, version)))
    }

    async fn send(
        &self,
        version: usize,
        request: SendMessageRequest,
    ) -> Result<Option<Task>, Gone> {
        let sent = self.clients[version].send(request).await;
        match unless_gone(sent)? {
            Some(SendMessageResponse::Task(task)) => Ok(Some(task)),
            _ => Ok(None),
        }
    }
}

fn unless_gone<T>(answer: Result<T, Error>) -> Result<Option<T>, Gone> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::Agent(_)) => Ok(None),
        Err(_) => Err(Gone),
    }
}

/// A message, with a webhook or without.
pub(crate) fn request(
    message: Message,
    config: Option<TaskPushNotificationConfig>,
    return_immediately: bool,
) -> SendMessageRequest {
    SendMessageRequest {
        message,
        configuration: Some(SendMessageConfiguration {
            return_immediately,
            task_push_notification_config: config.map(Box::new),
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}
