//! Journal of the messages sent to a server, and of its answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::{
    Artifact, ArtifactId, Dialect, Event, Message, MessageId, Part, SendMessageRequest, Task,
    TaskId, TaskState,
};

/// Record of all callers: the messages they sent and what the server answered.
#[derive(Default)]
pub(crate) struct Journal {
    pages: Mutex<Pages>,
}

/// The contents of a journal.
#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) letters: HashMap<MessageId, Letter>,
    pub(crate) promises: HashMap<TaskId, Promise>,
    /// Messages recorded since the last audit.
    pub(crate) fresh_letters: BTreeSet<MessageId>,
    pub(crate) fresh_promises: BTreeSet<TaskId>,
    /// Tasks that wait for an answer of their caller.
    pub(crate) waiting: Vec<(TaskId, Dialect)>,
    /// Number of answers and events received.
    pub(crate) acknowledged: usize,
    /// Contradictions between two answers.
    pub(crate) contradictions: Vec<String>,
}

/// A message, and its outcome as far as the sender knows.
pub(crate) struct Letter {
    pub(crate) request: SendMessageRequest,
    pub(crate) dialect: Dialect,
    pub(crate) fate: Fate,
    /// It was sent again to a later server although it had been answered.
    pub(crate) repeated: bool,
}

/// Outcome of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// The connection broke before an answer came.
    Unknown,
    /// It is in the history of this task.
    Task(TaskId),
    /// It was answered by this message.
    Reply(MessageId),
    /// The server did not take it.
    Refused,
}

/// Reported state of a task.
pub(crate) struct Promise {
    pub(crate) dialect: Dialect,
    /// Events by sequence number, in short.
    pub(crate) events: BTreeMap<u64, String>,
    /// Artifacts, in short.
    pub(crate) artifacts: BTreeMap<ArtifactId, String>,
    /// The state that it ended in.
    pub(crate) ended: Option<TaskState>,
}

impl Journal {
    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// A message is about to be sent.
    pub(crate) fn sends(&mut self, request: &SendMessageRequest, dialect: Dialect) {
        let id = request.message.message_id.clone();
        self.fresh_letters.insert(id.clone());
        self.letters.entry(id).or_insert_with(|| Letter {
            request: request.clone(),
            dialect,
            fate: Fate::Unknown,
            repeated: false,
        });
    }

    /// A message was answered.
    pub(crate) fn answered(&mut self, message: &MessageId, fate: Fate) {
        self.acknowledged += usize::from(fate != Fate::Refused);
        let Some(letter) = self.letters.get_mut(message) else {
            return;
        };
        match &letter.fate {
            Fate::Unknown => letter.fate = fate,
            known if *known == fate => {}
            known => self.contradictions.push(format!(
                "message {message} came to {known:?}, and to {fate:?}"
            )),
        }
    }

    /// Records a task that the server sent as a whole.
    pub(crate) fn task(&mut self, task: &Task, dialect: Dialect) {
        let promise = self.promise(&task.id, dialect);
        for artifact in &task.artifacts {
            promise
                .artifacts
                .insert(artifact.artifact_id.clone(), text(artifact));
        }
        promise.ends(task.status.state);
    }

    /// Records an event of a stream.
    pub(crate) fn event(&mut self, event: &Event, sequence: Option<u64>, dialect: Dialect) {
        self.acknowledged += 1;
        if let Event::Task(task) = event {
            return self.task(task, dialect);
        }
        let Some(task) = event.task_id() else { return };
        let promise = self.promise(task, dialect);
        if let Some(sequence) = sequence {
            promise.events.insert(sequence, in_short(event));
        }
        if let Some(status) = event.status() {
            promise.ends(status.state);
        }
    }

    fn promise(&mut self, task: &TaskId, dialect: Dialect) -> &mut Promise {
        self.fresh_promises.insert(task.clone());
        self.promises
            .entry(task.clone())
            .or_insert_with(|| Promise {
                dialect,
                events: BTreeMap::new(),
                artifacts: BTreeMap::new(),
                ended: None,
            })
    }
}

impl Promise {
    fn ends(&mut self, state: TaskState) {
        if state.is_terminal() {
            self.ended = Some(state);
        }
    }

    /// Returns the first difference of a task from this promise, or `None`.
    pub(crate) fn broken_by(&self, task: &Task) -> Option<String> {
        let state = task.status.state;
        if let Some(ended) = self.ended.filter(|ended| *ended != state) {
            return Some(format!("it was {ended:?} and is {state:?}"));
        }
        self.artifacts.iter().find_map(|(id, said)| {
            let kept = task
                .artifacts
                .iter()
                .find(|artifact| artifact.artifact_id == *id);
            let kept = kept.map(text);
            (kept.as_ref() != Some(said))
                .then(|| format!("artifact {id} was {said:?}, is {kept:?}"))
        })
    }
}

/// An event in a form that every protocol version reports alike.
pub(crate) fn in_short(event: &Event) -> String {
    match event {
        Event::ArtifactUpdate(update) => {
            format!("{} {}", update.artifact.artifact_id, text(&update.artifact))
        }
        Event::StatusUpdate(update) => {
            let said = update.status.message.as_deref().map(Message::text);
            format!("{:?} {}", update.status.state, said.unwrap_or_default())
        }
        Event::Message(message) => format!("message {}", message.message_id),
        Event::Task(task) => format!("task {}", task.id),
    }
}

fn text(artifact: &Artifact) -> String {
    artifact.parts.iter().filter_map(Part::as_text).collect()
}
