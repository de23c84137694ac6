//! The agent: echoes messages, with tasks in memory under one mutex.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use prost_types::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::error::Error;
use crate::events::Events;
use crate::v1_0::stream_response::Payload;
use crate::v1_0::{
    Artifact, ListTasksRequest, ListTasksResponse, Message, Part, Role, SendMessageConfiguration,
    Task, TaskArtifactUpdateEvent, TaskPushNotificationConfig, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};

/// The agent of both protocol versions, in the messages of 1.0.
#[derive(Default)]
pub(crate) struct Agent {
    tasks: Mutex<Tasks>,
}

/// The result of a message.
pub(crate) enum Outcome {
    Message(Message),
    Task(Task),
}

impl Agent {
    /// Takes a message. Waits until its task has ended or needs input, unless the caller wants the task at once.
    pub(crate) async fn send(
        &self,
        message: Option<Message>,
        configuration: SendMessageConfiguration,
    ) -> Result<Outcome, Error> {
        let limit = history_limit(configuration.history_length)?;
        let waits = !configuration.return_immediately;
        let config = webhook(configuration)?;
        let (number, mut end) = {
            let mut tasks = self.tasks();
            let message = match tasks.accept(message)? {
                Accepted::Reply(reply) => return Ok(Outcome::Message(reply)),
                Accepted::Turn(message) => message,
            };
            let number = tasks.place(&message)?;
            tasks.touch(number);
            let entry = tasks.entry(number);
            entry.keep_config(config);
            let text = message.text();
            entry.receive(message);
            entry.run(&text, [text.as_str()], &mut Updates(None));
            if !waits || entry.state() != TaskState::Working {
                return Ok(Outcome::Task(entry.snapshot(limit, true)));
            }
            (number, entry.follow(Until::Interrupted))
        };
        while end.recv().await.is_some() {}
        self.task(&task_id(number), limit).map(Outcome::Task)
    }

    /// Takes a message, and streams what follows until its task has ended or needs input.
    pub(crate) fn stream(
        &self,
        message: Option<Message>,
        configuration: SendMessageConfiguration,
    ) -> Result<Events, Error> {
        let limit = history_limit(configuration.history_length)?;
        let config = webhook(configuration)?;
        let mut tasks = self.tasks();
        let message = match tasks.accept(message)? {
            Accepted::Reply(reply) => return Ok(Payload::Message(reply).into()),
            Accepted::Turn(message) => message,
        };
        let number = tasks.place(&message)?;
        tasks.touch(number);
        let entry = tasks.entry(number);
        entry.keep_config(config);
        let text = message.text();
        entry.receive(message);
        let mut past = VecDeque::with_capacity(4);
        past.push_back(Payload::Task(entry.snapshot(limit, true)));
        let chunks = text.split_inclusive('\n');
        let chunks = chunks.chain(text.is_empty().then_some(""));
        let mut updates = Updates(Some(Vec::with_capacity(3)));
        entry.run(&text, chunks, &mut updates);
        past.extend(updates.0.unwrap_or_default());
        let is_open = entry.state() == TaskState::Working;
        let future = is_open.then(|| entry.follow(Until::Interrupted));
        Ok(Events { past, future })
    }

    /// Returns a task with the last messages of its history.
    pub(crate) fn task(&self, id: &str, limit: Option<usize>) -> Result<Task, Error> {
        let tasks = self.tasks();
        Ok(tasks.find(id)?.snapshot(limit, true))
    }

    /// Returns one page of tasks, the one updated last first.
    pub(crate) fn list(&self, request: &ListTasksRequest) -> Result<ListTasksResponse, Error> {
        let limit = history_limit(request.history_length)?;
        let page_size = match request.page_size.unwrap_or_default() {
            0 => DEFAULT_PAGE_SIZE,
            size @ 1..=MAX_PAGE_SIZE => size,
            _ => return Err(invalid("page_size", "is not between 1 and 100")),
        };
        let before = page_start(&request.page_token)?.unwrap_or(u64::MAX);
        let after = request.status_timestamp_after.as_ref();
        let after = after.map(|it| (it.seconds, it.nanos));
        let matches = |entry: &&Entry| {
            (request.context_id.is_empty() || entry.task.context_id == request.context_id)
                && (request.status == 0 || entry.status().state == request.status)
                && after.is_none_or(|after| entry.updated_at() >= after)
        };
        let is_filtered = !request.context_id.is_empty() || request.status != 0 || after.is_some();

        let tasks = self.tasks();
        let total_size = match is_filtered {
            true => tasks.entries.iter().filter(matches).count(),
            false => tasks.entries.len(),
        };
        let older = tasks.by_update.range(..before).rev();
        let mut older = older.map(|(_, number)| tasks.at(*number)).filter(matches);
        let page: Vec<_> = older.by_ref().take(page_size as usize).collect();
        let next = older.next().and(page.last());
        let next_page_token = next.map(|last| last.update.to_string());
        let include_artifacts = request.include_artifacts();
        let snapshots = page.iter().map(|it| it.snapshot(limit, include_artifacts));
        Ok(ListTasksResponse {
            tasks: snapshots.collect(),
            next_page_token: next_page_token.unwrap_or_default(),
            page_size,
            total_size: i32::try_from(total_size).unwrap_or(i32::MAX),
        })
    }

    /// Cancels a task.
    pub(crate) fn cancel(&self, id: &str) -> Result<Task, Error> {
        let mut tasks = self.tasks();
        let number = tasks.number(id)?;
        let entry = tasks.entry(number);
        if is_terminal(entry.state()) {
            return Err(Error::TaskNotCancelable { id: id.to_owned() });
        }
        entry.end_turn(TaskState::Canceled, None, &mut Updates(None));
        let task = entry.snapshot(None, true);
        tasks.touch(number);
        Ok(task)
    }

    /// Streams a task that has not ended, then its updates.
    pub(crate) fn subscribe(&self, id: &str, until: Until) -> Result<Events, Error> {
        let mut tasks = self.tasks();
        let number = tasks.number(id)?;
        let entry = tasks.entry(number);
        if is_terminal(entry.state()) {
            return Err(Error::UnsupportedOperation { id: id.to_owned() });
        }
        Ok(Events {
            past: VecDeque::from([Payload::Task(entry.snapshot(None, true))]),
            future: Some(entry.follow(until)),
        })
    }

    /// Keeps a push notification configuration, in place of one with the same id.
    pub(crate) fn create_config(
        &self,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let config = with_url(config)?;
        let mut tasks = self.tasks();
        let number = tasks.number(&config.task_id)?;
        let kept = tasks.entry(number).keep_config(Some(config));
        Ok(kept.expect("there is one to keep"))
    }

    /// Returns one push notification configuration of a task.
    pub(crate) fn config(
        &self,
        task_id: &str,
        id: &str,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let tasks = self.tasks();
        let found = tasks.find(task_id)?.configs.iter().find(|it| it.id == id);
        found.cloned().ok_or_else(|| Error::TaskNotFound {
            id: format!("{task_id}/{id}"),
        })
    }

    /// Returns a page of the push notification configurations of a task, and the token of the next page.
    pub(crate) fn configs(
        &self,
        task_id: &str,
        page_size: i32,
        page_token: &str,
    ) -> Result<(Vec<TaskPushNotificationConfig>, String), Error> {
        let start = page_start(page_token)?.unwrap_or_default();
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let size = match usize::try_from(page_size) {
            Ok(0) => usize::MAX,
            Ok(size) => size,
            Err(_) => return Err(invalid("page_size", "is negative")),
        };
        let tasks = self.tasks();
        let all = &tasks.find(task_id)?.configs;
        let page: Vec<_> = all.iter().skip(start).take(size).cloned().collect();
        let end = start.saturating_add(page.len());
        let next = (end < all.len()).then(|| end.to_string());
        Ok((page, next.unwrap_or_default()))
    }

    /// Removes a push notification configuration, if there is one.
    pub(crate) fn delete_config(&self, task_id: &str, id: &str) -> Result<(), Error> {
        let mut tasks = self.tasks();
        let number = tasks.number(task_id)?;
        tasks.entry(number).configs.retain(|it| it.id != id);
        Ok(())
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last state that a subscription sees.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Until {
    /// The task has ended, or needs input.
    Interrupted,
    /// The task has ended.
    Terminal,
}

/// Reads the number of messages that a caller wants of the history; `None` for all.
pub(crate) fn history_limit(length: Option<i32>) -> Result<Option<usize>, Error> {
    let limit = length.map(usize::try_from).transpose();
    limit.map_err(|_| invalid("history_length", "is negative"))
}

/// Returns whether the task has ended.
pub(crate) fn is_terminal(state: TaskState) -> bool {
    use TaskState::{Canceled, Completed, Failed, Rejected};
    matches!(state, Completed | Failed | Canceled | Rejected)
}

/// Returns whether the task waits for the caller.
pub(crate) fn is_interrupted(state: TaskState) -> bool {
    matches!(state, TaskState::InputRequired | TaskState::AuthRequired)
}

/// Tasks by their numbers, which are in their ids: the last ones, without a gap.
#[derive(Default)]
struct Tasks {
    /// Number of the first entry.
    first: u64,
    entries: VecDeque<Entry>,
    /// Numbers of the tasks, in the order of their last updates.
    by_update: BTreeMap<u64, u64>,
    last_update: u64,
}

/// A message that was accepted.
enum Accepted {
    /// It gets this message.
    Reply(Message),
    /// It starts or continues a task.
    Turn(Message),
}

impl Tasks {
    fn accept(&self, message: Option<Message>) -> Result<Accepted, Error> {
        let message = message.ok_or_else(|| invalid("message", "is missing"))?;
        if message.message_id.is_empty() {
            return Err(invalid("message.message_id", "is missing"));
        }
        if message.parts.is_empty() {
            return Err(invalid("message.parts", "is empty"));
        }
        if !message.task_id.is_empty() {
            let entry = self.find(&message.task_id)?;
            if is_terminal(entry.state()) {
                return Err(Error::UnsupportedOperation {
                    id: message.task_id,
                });
            }
            if !message.context_id.is_empty() && message.context_id != entry.task.context_id {
                return Err(invalid("message.context_id", "is not the task's"));
            }
        }
        let text = message.text();
        if text != "message" {
            return Ok(Accepted::Turn(message));
        }
        let context_id = match message.context_id.is_empty() {
            true => context_id(self.next_number()),
            false => message.context_id,
        };
        let id = format!("reply-to-{}", message.message_id);
        Ok(Accepted::Reply(agent_message(
            id,
            &text,
            context_id,
            String::new(),
        )))
    }

    /// Returns the number of the message's task, which is a new one if the message names none.
    fn place(&mut self, message: &Message) -> Result<u64, Error> {
        if !message.task_id.is_empty() {
            return self.number(&message.task_id);
        }
        let number = self.next_number();
        if self.entries.len() == MAX_TASKS
            && let Some(oldest) = self.entries.pop_front()
        {
            self.first += 1;
            self.by_update.remove(&oldest.update);
        }
        let context_id = match message.context_id.is_empty() {
            true => context_id(number),
            false => message.context_id.clone(),
        };
        self.entries.push_back(Entry {
            task: Task {
                id: task_id(number),
                context_id,
                status: Some(status(TaskState::Submitted, None)),
                ..Task::default()
            },
            update: 0,
            configs: Vec::new(),
            followers: Vec::new(),
        });
        Ok(number)
    }

    fn next_number(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn number(&self, id: &str) -> Result<u64, Error> {
        let digits = id.strip_prefix(TASK_PREFIX);
        let number = digits.and_then(|it| it.parse().ok());
        // An id has one spelling: "task-07" is not "task-7".
        let exact = number.filter(|it| {
            (self.first..self.next_number()).contains(it) && self.at(*it).task.id == id
        });
        exact.ok_or_else(|| Error::TaskNotFound { id: id.to_owned() })
    }

    fn find(&self, id: &str) -> Result<&Entry, Error> {
        self.number(id).map(|number| self.at(number))
    }

    fn at(&self, number: u64) -> &Entry {
        &self.entries[(number - self.first) as usize]
    }

    fn entry(&mut self, number: u64) -> &mut Entry {
        &mut self.entries[(number - self.first) as usize]
    }

    /// Makes the task the one that was updated last.
    fn touch(&mut self, number: u64) {
        self.last_update += 1;
        let update = self.last_update;
        let before = std::mem::replace(&mut self.entry(number).update, update);
        self.by_update.remove(&before);
        self.by_update.insert(update, number);
    }
}

struct Entry {
    task: Task,
    /// Its place in the order of updates.
    update: u64,
    configs: Vec<TaskPushNotificationConfig>,
    followers: Vec<Follower>,
}

struct Follower {
    events: UnboundedSender<Payload>,
    until: Until,
}

impl Entry {
    /// Appends a message to the history; the question that it answers, if any, goes before it.
    fn receive(&mut self, mut message: Message) {
        let question = self.task.status.as_mut().and_then(|it| it.message.take());
        message.task_id.clone_from(&self.task.id);
        message.context_id.clone_from(&self.task.context_id);
        self.task.history.extend(question);
        self.task.history.push(message);
    }

    /// Does what the text says.
    fn run<'a>(
        &mut self,
        text: &str,
        chunks: impl IntoIterator<Item = &'a str>,
        updates: &mut Updates,
    ) {
        updates.record_for(&self.followers);
        self.set_status(TaskState::Working, None, updates);
        match text {
            "ask" => self.end_turn(TaskState::InputRequired, Some("go on?"), updates),
            "fail" => self.end_turn(TaskState::Failed, Some("failed as asked"), updates),
            "wait" => self.publish(updates),
            _ => {
                self.add_artifact(chunks, updates);
                self.end_turn(TaskState::Completed, None, updates);
            }
        }
    }

    fn end_turn(&mut self, state: TaskState, text: Option<&str>, updates: &mut Updates) {
        updates.record_for(&self.followers);
        let message = text.map(|text| {
            let Task { id, context_id, .. } = &self.task;
            let message_id = format!("{id}-message-{}", self.task.history.len());
            agent_message(message_id, text, context_id.clone(), id.clone())
        });
        self.set_status(state, message, updates);
        self.publish(updates);
    }

    fn set_status(&mut self, state: TaskState, message: Option<Message>, updates: &mut Updates) {
        let status = status(state, message);
        updates.push(|| {
            Payload::StatusUpdate(TaskStatusUpdateEvent {
                task_id: self.task.id.clone(),
                context_id: self.task.context_id.clone(),
                status: Some(status.clone()),
                metadata: None,
            })
        });
        self.task.status = Some(status);
    }

    fn add_artifact<'a>(
        &mut self,
        chunks: impl IntoIterator<Item = &'a str>,
        updates: &mut Updates,
    ) {
        let mut artifact = Artifact {
            artifact_id: format!("artifact-{}", self.task.artifacts.len() + 1),
            name: "echo".to_owned(),
            ..Artifact::default()
        };
        let mut chunks = chunks.into_iter().peekable();
        while let Some(chunk) = chunks.next() {
            updates.push(|| {
                Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
                    task_id: self.task.id.clone(),
                    context_id: self.task.context_id.clone(),
                    artifact: Some(Artifact {
                        artifact_id: artifact.artifact_id.clone(),
                        name: artifact.name.clone(),
                        parts: vec![Part::text(chunk)],
                        ..Artifact::default()
                    }),
                    append: !artifact.parts.is_empty(),
                    last_chunk: chunks.peek().is_none(),
                    metadata: None,
                })
            });
            artifact.parts.push(Part::text(chunk));
        }
        self.task.artifacts.push(artifact);
    }

    fn follow(&mut self, until: Until) -> UnboundedReceiver<Payload> {
        let (events, received) = unbounded_channel();
        self.followers.push(Follower { events, until });
        received
    }

    /// Sends the updates to the followers, and lets those go that have seen their last.
    fn publish(&mut self, updates: &Updates) {
        if self.followers.is_empty() {
            return;
        }
        let state = self.state();
        let updates = updates.0.as_deref().unwrap_or_default();
        self.followers.retain(|follower| {
            let mut sent = updates.iter().map(|it| follower.events.send(it.clone()));
            let is_last = is_terminal(state)
                || (follower.until == Until::Interrupted && is_interrupted(state));
            sent.all(|it| it.is_ok()) && !is_last
        });
    }

    fn keep_config(
        &mut self,
        config: Option<TaskPushNotificationConfig>,
    ) -> Option<TaskPushNotificationConfig> {
        let mut config = config?;
        config.task_id.clone_from(&self.task.id);
        if config.id.is_empty() {
            let taken = |id: &String| self.configs.iter().any(|it| it.id == *id);
            let ids = (1..).map(|number| format!("config-{number}"));
            config.id = ids.into_iter().find(|id| !taken(id))?;
        }
        match self.configs.iter_mut().find(|it| it.id == config.id) {
            Some(kept) => kept.clone_from(&config),
            None => self.configs.push(config.clone()),
        }
        Some(config)
    }

    fn snapshot(&self, history_limit: Option<usize>, include_artifacts: bool) -> Task {
        let task = &self.task;
        let length = task.history.len();
        let skipped = length.saturating_sub(history_limit.unwrap_or(length));
        Task {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            status: task.status.clone(),
            artifacts: match include_artifacts {
                true => task.artifacts.clone(),
                false => Vec::new(),
            },
            history: task.history[skipped..].to_vec(),
            metadata: task.metadata.clone(),
        }
    }

    fn status(&self) -> &TaskStatus {
        self.task.status.as_ref().expect("every task has a status")
    }

    fn state(&self) -> TaskState {
        self.status().state()
    }

    fn updated_at(&self) -> (i64, i32) {
        let timestamp = self.status().timestamp.as_ref();
        timestamp.map_or((0, 0), |it| (it.seconds, it.nanos))
    }
}

/// Updates of a turn; `None` while nobody reads them.
struct Updates(Option<Vec<Payload>>);

impl Updates {
    /// Begins to record if there are followers.
    fn record_for(&mut self, followers: &[Follower]) {
        if !followers.is_empty() {
            self.0.get_or_insert_default();
        }
    }

    fn push(&mut self, update: impl FnOnce() -> Payload) {
        if let Some(updates) = &mut self.0 {
            updates.push(update());
        }
    }
}

/// Returns the webhook of a message.
fn webhook(
    configuration: SendMessageConfiguration,
) -> Result<Option<TaskPushNotificationConfig>, Error> {
    let config = configuration.task_push_notification_config;
    config.map(with_url).transpose()
}

fn with_url(config: TaskPushNotificationConfig) -> Result<TaskPushNotificationConfig, Error> {
    match config.url.is_empty() {
        true => Err(invalid("url", "is missing")),
        false => Ok(config),
    }
}

fn status(state: TaskState, message: Option<Message>) -> TaskStatus {
    TaskStatus {
        state: state.into(),
        message,
        timestamp: Some(Timestamp::from(SystemTime::now())),
    }
}

fn agent_message(message_id: String, text: &str, context_id: String, task_id: String) -> Message {
    Message {
        message_id,
        context_id,
        task_id,
        role: Role::Agent.into(),
        parts: vec![Part::text(text)],
        ..Message::default()
    }
}

fn page_start(token: &str) -> Result<Option<u64>, Error> {
    if token.is_empty() {
        return Ok(None);
    }
    let start = token.parse().map(Some);
    start.map_err(|_| invalid("page_token", "is not one of this server"))
}

fn task_id(number: u64) -> String {
    format!("{TASK_PREFIX}{number}")
}

fn context_id(number: u64) -> String {
    format!("context-{number}")
}

fn invalid(field: &'static str, problem: &'static str) -> Error {
    Error::InvalidParams { field, problem }
}

const TASK_PREFIX: &str = "task-";
const MAX_TASKS: usize = 100_000;
const DEFAULT_PAGE_SIZE: i32 = 50;
const MAX_PAGE_SIZE: i32 = 100;
