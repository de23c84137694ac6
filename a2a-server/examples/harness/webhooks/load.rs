//! Callers that register webhooks until the server is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_client::{Client, Error, Retries, SendMessageResponse};
use a2a_types::{
    Dialect, Message, SendMessageConfiguration, SendMessageRequest, Task, TaskId,
    TaskPushNotificationConfig, TaskState,
};
use fastrand::Rng;
use tokio::task::JoinSet;

use super::book::{Book, Since};
use super::receiver::{Listener, TOKEN};
use crate::Failure;

/// Receivers of webhooks, and the record about them.
pub(crate) struct Place {
    pub(crate) book: Arc<Book>,
    pub(crate) receivers: Vec<Listener>,
    /// Number of webhooks.
    count: AtomicUsize,
}

impl Place {
    pub(crate) fn new(book: &Arc<Book>, receivers: Vec<Listener>) -> Arc<Self> {
        Arc::new(Self {
            book: Arc::clone(book),
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

/// Sets callers to work.
pub(crate) fn begin(
    callers: usize,
    url: &str,
    place: &Arc<Place>,
    dice: &mut Rng,
) -> Result<JoinSet<()>, Failure> {
    let mut clients = Vec::new();
    for dialect in DIALECTS {
        clients.push(Client::at(url, dialect)?.retries(Retries::none()));
    }
    let mut set = JoinSet::new();
    for _ in 0..callers {
        let mut caller = Caller {
            clients: clients.clone(),
            place: Arc::clone(place),
            dice: dice.fork(),
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
pub(crate) const DIALECTS: [Dialect; 3] = [Dialect::V0_2, Dialect::V0_3, Dialect::V1_0];

/// The server is gone.
struct Gone;

struct Caller {
    clients: Vec<Client>,
    place: Arc<Place>,
    dice: Rng,
}

impl Caller {
    /// Does one of the things that callers do.
    async fn act(&mut self) -> Result<(), Gone> {
        let spoken = self.dice.usize(..DIALECTS.len());
        match self.dice.u8(..8) {
            0 | 1 => drop(self.watch(spoken, "steps 3 2", false).await?),
            2 | 3 => drop(self.watch(spoken, "steps 12 4", true).await?),
            4 => self.watch_twice(spoken).await?,
            5 | 6 => self.watch_the_rest(spoken).await?,
            _ => self.watch_half(spoken).await?,
        }
        Ok(())
    }

    /// A webhook that comes with a message.
    async fn watch(&self, spoken: usize, text: &str, at_once: bool) -> Result<Option<Task>, Gone> {
        let (config, path) = self.place.webhook();
        let request = request(Message::user(text), Some(config), at_once);
        let task = self.send(spoken, request).await?;
        if let Some(task) = &task {
            let mut pages = self.place.book.pages();
            pages.promise(&path, &task.id, DIALECTS[spoken], Since::Beginning);
        }
        Ok(task)
    }

    /// A webhook that comes with a message, and another, perhaps of another protocol version.
    async fn watch_twice(&mut self, spoken: usize) -> Result<(), Gone> {
        if let Some(task) = self.watch(spoken, "steps 15 4", true).await? {
            self.watch_from_now(&task.id).await?;
        }
        Ok(())
    }

    /// A webhook registered before the second message of a task.
    async fn watch_the_rest(&mut self, spoken: usize) -> Result<(), Gone> {
        let asked = request(Message::user("ask me"), None, false);
        let Some(task) = self.send(spoken, asked).await? else {
            return Ok(());
        };
        let answer = Message {
            task_id: Some(task.id.clone()),
            ..Message::user("steps 4 2")
        };
        let since = Since::Message(answer.message_id.clone());
        if task.status.state == TaskState::InputRequired {
            self.register(&task.id, since).await?;
            self.send(spoken, request(answer, None, false)).await?;
        }
        Ok(())
    }

    /// A webhook registered while the agent is at work.
    async fn watch_half(&mut self, spoken: usize) -> Result<(), Gone> {
        let working = request(Message::user("steps 15 4"), None, true);
        if let Some(task) = self.send(spoken, working).await? {
            self.watch_from_now(&task.id).await?;
        }
        Ok(())
    }

    /// Registers a webhook of an active task: it receives the events from now on.
    async fn watch_from_now(&mut self, task: &TaskId) -> Result<(), Gone> {
        let Some((path, spoken)) = self.create(task).await? else {
            return Ok(());
        };
        let seen = self.clients[spoken].get_task(task.clone(), None).await;
        if let Some(seen) = unless_gone(seen)?
            && !seen.status.state.is_terminal()
        {
            let since = Since::Step(seen.artifacts.len() as u64);
            let mut pages = self.place.book.pages();
            pages.promise(&path, task, DIALECTS[spoken], since);
        }
        Ok(())
    }

    async fn register(&mut self, task: &TaskId, since: Since) -> Result<(), Gone> {
        if let Some((path, spoken)) = self.create(task).await? {
            let mut pages = self.place.book.pages();
            pages.promise(&path, task, DIALECTS[spoken], since);
        }
        Ok(())
    }

    /// Registers a webhook in a random protocol version; returns its path and the index of the
    /// version.
    async fn create(&mut self, task: &TaskId) -> Result<Option<(String, usize)>, Gone> {
        let spoken = self.dice.usize(..DIALECTS.len());
        let (config, path) = self.place.webhook();
        let config = TaskPushNotificationConfig {
            task_id: task.clone(),
            ..config
        };
        let created = self.clients[spoken].create_push_config(config).await;
        Ok(unless_gone(created)?.map(|_| (path, spoken)))
    }

    async fn send(&self, spoken: usize, request: SendMessageRequest) -> Result<Option<Task>, Gone> {
        let sent = self.clients[spoken].send(request).await;
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
