//! Trials of the client alone: it follows a task through cut connections, and its caller sees every event once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a_client::{Client, Error, Retries, StreamExt, TaskEventStream};
use a2a_server::{Agent, Failure as AgentFailure, Turn};
use a2a_types::{Event, Message, Part, ProtocolVersion, Task, TaskState};
use fastrand::Rng;
use tokio::sync::watch;

use super::proxy::{Ids, Proxy};
use crate::Failure;

/// One task to be followed.
pub(super) struct Trial {
    pub(super) target: std::net::SocketAddr,
    pub(super) protocol_version: ProtocolVersion,
    pub(super) ids: Ids,
    /// Number of connections cut before the task ends.
    pub(super) cuts: usize,
}

/// Results of the listeners.
#[derive(Default)]
pub(super) struct ClientTotals {
    pub(super) events: usize,
    pub(super) cuts: usize,
    pub(super) reconnections: usize,
    pub(super) missing: usize,
    pub(super) twice: usize,
    /// The folded task is another than the agent's own.
    pub(super) others: usize,
    pub(super) failures: usize,
    pub(super) remarks: Vec<String>,
}

impl ClientTotals {
    pub(super) fn add(&mut self, other: Self) {
        self.events += other.events;
        self.cuts += other.cuts;
        self.reconnections += other.reconnections;
        self.missing += other.missing;
        self.twice += other.twice;
        self.others += other.others;
        self.failures += other.failures;
        self.remarks.extend(other.remarks);
    }
}

/// An agent that counts for as long as its listener wants, and never runs far ahead of it.
#[derive(Clone, Default)]
pub(super) struct PacedCounter(Arc<Mutex<HashMap<String, watch::Receiver<Progress>>>>);

/// Progress of a listener.
#[derive(Clone, Copy, Default)]
struct Progress {
    numbers: u64,
    enough: bool,
}

impl PacedCounter {
    /// Registers the listener of the turn with this text; it reports its progress to the sender.
    fn expect(&self, text: &str) -> watch::Sender<Progress> {
        let (sender, receiver) = watch::channel(Progress::default());
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.insert(text.to_owned(), receiver);
        sender
    }

    fn listener(&self, text: &str) -> Option<watch::Receiver<Progress>> {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.remove(text)
    }
}

impl Agent for PacedCounter {
    async fn run(&self, turn: Turn) -> Result<(), AgentFailure> {
        let mut progress = self
            .listener(&turn.text())
            .ok_or("no follower is registered for this turn")?;
        let mut numbers = turn.artifact("numbers");
        for number in 0.. {
            let near =
                progress.wait_for(|progress| progress.enough || progress.numbers + AHEAD > number);
            if near.await?.enough {
                break;
            }
            if number % 16 == 15 {
                turn.working(format!("word {number}")).await?;
            }
            numbers = numbers.text(number.to_string()).send().await?;
        }
        Ok(())
    }
}

/// Numbers that the agent may be ahead of its listener.
const AHEAD: u64 = 6;

/// Follows one task to its end by a client, through a proxy that cuts its connections.
pub(super) async fn follow(
    trial: Trial,
    agent: PacedCounter,
    name: String,
    rng: Rng,
) -> Result<ClientTotals, Failure> {
    let proxy = Proxy::begin(trial.target, trial.ids, rng).await?;
    let retries = Retries::default()
        .attempts(1000)
        .reconnections(1000)
        .base(Duration::from_millis(1))
        .max_delay(Duration::from_millis(5))
        .budget(100, 1000)
        .resend_messages(true);
    let client = Client::at(&proxy.url(), trial.protocol_version)?.retries(retries);
    let progress = agent.expect(&name);
    let mut message = Message::user(name.clone());
    if trial.protocol_version == ProtocolVersion::V0_1 {
        // Its messages have no ids: the server cannot recognise one that is sent again.
        message.task_id = Some(name.into());
        proxy.spare(true);
    }
    let mut listener = EventChecker {
        trial,
        progress,
        next: 0,
        words: Vec::new(),
        totals: ClientTotals::default(),
    };
    let updates = client.send(message).follow();
    let whole = listener.listen(updates, &proxy);
    match tokio::time::timeout(MAX_FOLLOW, whole).await {
        Err(_) => listener.fail("it never came to its end".to_owned()),
        Ok(Err(error)) => listener.fail(error.to_string()),
        Ok(Ok(task)) => {
            let direct = Client::at(
                &format!("http://{}/", listener.trial.target),
                listener.trial.protocol_version,
            )?;
            let own = direct.get_task(task.id.clone(), None).await?;
            listener.judge(&task, &own);
        }
    }
    listener.totals.cuts = proxy.cuts();
    let place = format!(
        "{}, {:?}",
        listener.trial.protocol_version, listener.trial.ids
    );
    for remark in &mut listener.totals.remarks {
        *remark = format!("{place}: {remark}");
    }
    Ok(listener.totals)
}

/// Time limit for following a task to its end.
const MAX_FOLLOW: Duration = Duration::from_secs(300);

/// The caller of a client.
struct EventChecker {
    trial: Trial,
    progress: watch::Sender<Progress>,
    /// The number that comes next.
    next: u64,
    /// Texts of the agent's messages.
    words: Vec<String>,
    totals: ClientTotals,
}

impl EventChecker {
    /// Reads to the end; returns the task as the client folded it.
    async fn listen(
        &mut self,
        mut updates: TaskEventStream,
        proxy: &Proxy,
    ) -> Result<Task, Failure> {
        while let Some(event) = updates.next().await {
            let event = event.map_err(|error: Error| match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            })?;
            proxy.spare(false);
            self.totals.events += 1;
            self.check(&event);
            let enough = proxy.cuts() >= self.trial.cuts;
            self.progress.send_replace(Progress {
                numbers: self.next,
                enough,
            });
        }
        self.totals.reconnections = updates.reconnections() as usize;
        Ok(updates.task().cloned().ok_or("there was no task")?)
    }

    fn check(&mut self, event: &Event) {
        match event {
            Event::ArtifactUpdate(update) => {
                if !update.append && self.next > 0 {
                    self.remark("the artifact was replaced".to_owned());
                    self.totals.twice += 1;
                }
                for text in update.artifact.parts.iter().filter_map(Part::as_text) {
                    self.count(text.parse().unwrap_or(u64::MAX >> 1));
                }
            }
            Event::StatusUpdate(update) => self
                .words
                .extend(update.status.message.as_deref().map(Message::text)),
            Event::Message(message) => self.words.push(message.text()),
            Event::Task(task) => {
                if self.totals.events > 1 {
                    self.remark("the task was received as a whole".to_owned());
                    self.totals.twice += 1;
                }
                for artifact in &task.artifacts {
                    for text in artifact.parts.iter().filter_map(Part::as_text) {
                        self.count(text.parse().unwrap_or(u64::MAX >> 1));
                    }
                }
                let messages = task.history.iter().chain(task.status.message.as_deref());
                let messages = messages.filter(|message| message.role == a2a_types::Role::Agent);
                self.words.extend(messages.map(Message::text));
            }
        }
    }

    fn count(&mut self, number: u64) {
        match number.cmp(&self.next) {
            std::cmp::Ordering::Equal => self.next += 1,
            std::cmp::Ordering::Less => {
                self.totals.twice += 1;
                self.remark(format!("{number} was received twice"));
            }
            std::cmp::Ordering::Greater => {
                self.totals.missing += (number - self.next) as usize;
                self.remark(format!("{number} came when {} was due", self.next));
                self.next = number + 1;
            }
        }
    }

    /// Compares the events, and the task that the client folded from them, with the agent's own
    /// task.
    fn judge(&mut self, task: &Task, own: &Task) {
        let texts = |task: &Task| -> Vec<String> {
            let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
            parts.filter_map(Part::as_text).map(str::to_owned).collect()
        };
        if own.status.state != TaskState::Completed {
            self.fail(format!("it has ended {:?}", own.status.state));
        }
        let same = task.artifacts == own.artifacts && task.status.state == own.status.state;
        if !same {
            self.totals.others += 1;
            self.remark(format!(
                "{} parts {:?}, not {} {:?}",
                texts(task).len(),
                task.status.state,
                texts(own).len(),
                own.status.state
            ));
        }
        self.totals.missing += texts(own).len().saturating_sub(self.next as usize);
        // 0.1 returns messages only to a caller that asks for a length of the history.
        if self.trial.protocol_version == ProtocolVersion::V0_1 {
            return;
        }
        let due = (0..self.next).filter(|number| number % 16 == 15);
        let due: Vec<_> = due.map(|number| format!("word {number}")).collect();
        let mut received = std::mem::take(&mut self.words);
        let all = received.len();
        received.sort();
        received.dedup();
        let missing = due.iter().filter(|word| !received.contains(word)).count();
        self.totals.twice += all - received.len();
        self.totals.missing += missing;
        if missing > 0 || all > received.len() {
            self.remark(format!(
                "{missing} words missing, {} twice",
                all - received.len()
            ));
        }
    }

    fn fail(&mut self, remark: String) {
        self.totals.failures += 1;
        self.remark(remark);
    }

    fn remark(&mut self, remark: String) {
        self.totals.remarks.push(remark);
    }
}
