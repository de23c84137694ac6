//! Tasks and the transitions of their states.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::extension::usage::TokenUsage;
use crate::proto::proto_enum;
use crate::timestamp::zone_optional;
use crate::wire_types::wire_types;
use crate::{Artifact, ContextId, Message, Object, TaskId, Timestamp};

wire_types! {
    /// A piece of work that an agent does for a caller. Specification 1.0 §4.1.1.
    pub struct Task: Debug, Default {
        /// Identifier of the task.
        pub id: TaskId,
        /// Conversation that the task belongs to.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// Current status.
        pub status: TaskStatus,
        /// Artifacts produced so far, in order of first appearance.
        pub artifacts: Vec<Artifact> = unless_default,
        /// Messages exchanged so far, in order, without that of the current status.
        pub history: Vec<Message> = unless_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// State of a task, its time, and the agent's message about it. Specification 1.0 §4.1.2.
    pub struct TaskStatus: Debug, Default {
        /// The state; an unknown one is read as unspecified. The words of 0.3 are understood: agents that
        /// came from it still use them.
        #[serde(deserialize_with = "known_state")]
        pub state: TaskState,
        /// Message of the agent about the status.
        pub message: Option<Box<Message>> = optional,
        /// Time at which the status was set. A time without a zone is in UTC.
        #[serde(default, deserialize_with = "zone_optional", skip_serializing_if = "Option::is_none")]
        pub timestamp: Option<Timestamp>,
    }
}

/// Reads a state; one of a later minor version is unspecified (specification 1.0 §5.7).
fn known_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TaskState, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => {
            Ok(TaskState::from_text(&text).unwrap_or_else(|| older_state(&text)))
        }
        // By gRPC a state that has no name here is a number.
        Value::Number(number) if number.is_i64() => {
            let state = number.as_i64().and_then(TaskState::from_number);
            Ok(state.unwrap_or(TaskState::Unspecified))
        }
        other => TaskState::deserialize(other).map_err(D::Error::custom),
    }
}

/// Returns the state that 0.2 and 0.3 call by this word, or that some agents do: 1.0's name without its prefix, in any
/// case, with hyphens or underscores.
fn older_state(word: &str) -> TaskState {
    let plain = word.to_ascii_uppercase().replace('-', "_");
    let name = format!("TASK_STATE_{}", plain.trim_start_matches("TASK_STATE_"));
    TaskState::from_text(&name).unwrap_or(TaskState::Unspecified)
}

impl TaskStatus {
    /// Returns the text of the message in the status; empty without one.
    pub fn text(&self) -> String {
        let message = self.message.as_deref();
        message.map_or_else(String::new, Message::text)
    }
}

proto_enum! {
    /// State of a task. Specification 1.0 §4.1.3.
    #[derive(Hash)]
    pub enum TaskState {
        /// Not stated by the peer, or unknown to us. Never the target of an update.
        Unspecified = 0, "TASK_STATE_UNSPECIFIED";
        /// Accepted, not started.
        #[default]
        Submitted = 1, "TASK_STATE_SUBMITTED";
        /// Being worked on.
        Working = 2, "TASK_STATE_WORKING";
        /// Done.
        Completed = 3, "TASK_STATE_COMPLETED";
        /// Ended by an error.
        Failed = 4, "TASK_STATE_FAILED";
        /// Canceled by the caller.
        Canceled = 5, "TASK_STATE_CANCELED" | "TASK_STATE_CANCELLED";
        /// Waiting for the caller's next message.
        InputRequired = 6, "TASK_STATE_INPUT_REQUIRED";
        /// The agent will not do it.
        Rejected = 7, "TASK_STATE_REJECTED";
        /// Waiting for credentials.
        AuthRequired = 8, "TASK_STATE_AUTH_REQUIRED";
    }
}

impl Task {
    /// Returns the text of the agent's answer: that of the artifacts or, without them, of the status's message or, if
    /// that has none either, of the agent's messages after the caller's last one.
    ///
    /// ```
    /// use a2a_types::{Artifact, Message, Part, Task};
    ///
    /// let mut task = Task::submitted("t".into(), "c".into());
    /// task.status.message = Some(Message::agent("Which city?").into());
    /// assert_eq!(task.text(), "Which city?");
    ///
    /// let mut artifact = Artifact::default();
    /// artifact.parts = vec![Part::text("sun"), Part::text("ny")];
    /// task.artifacts = vec![artifact];
    /// assert_eq!(task.text(), "sunny");
    /// ```
    pub fn text(&self) -> String {
        let joined = |texts: &mut dyn Iterator<Item = String>| {
            let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        };
        let artifacts = joined(&mut self.artifacts.iter().map(crate::Artifact::text));
        if !artifacts.is_empty() {
            return artifacts;
        }
        match self.status.text() {
            empty if empty.is_empty() => joined(&mut self.answer_messages().map(Message::text)),
            text => text,
        }
    }

    /// Returns the tokens that models used for the task, if the agent tells.
    ///
    /// ```
    /// use a2a_types::Task;
    /// use a2a_types::extension::usage::TokenUsage;
    ///
    /// let mut task = Task::default();
    /// TokenUsage::new(812, 64).put_into(task.metadata.get_or_insert_default());
    /// assert_eq!(task.usage(), Some(TokenUsage::new(812, 64)));
    /// ```
    pub fn usage(&self) -> Option<TokenUsage> {
        TokenUsage::of(self.metadata.as_ref())
    }

    /// Returns the agent's messages in the history after the caller's last one, each once, without that of the status.
    /// Some agents have their answer there alone.
    pub fn answer_messages(&self) -> impl Iterator<Item = &Message> {
        let last = self
            .history
            .iter()
            .rposition(|message| message.role == crate::Role::User);
        let status = self
            .status
            .message
            .as_ref()
            .map(|message| &message.message_id);
        let after = self
            .history
            .get(last.map_or(0, |last| last + 1)..)
            .unwrap_or_default();
        after
            .iter()
            .enumerate()
            .filter_map(move |(index, message)| {
                let is_named = !message.message_id.as_str().is_empty();
                let is_same = |other: &&Message| other.message_id == message.message_id;
                let known = status == Some(&message.message_id)
                    || after[..index].iter().any(|other| is_same(&other));
                (!(is_named && known)).then_some(message)
            })
    }
}

impl TaskState {
    /// Returns whether the task has ended.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// Returns whether the agent waits for the caller.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Returns whether the agent does nothing more until the caller does: terminal or interrupted.
    pub fn is_settled(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }

    /// Returns whether a stream ends here: at a terminal state, and when the agent asks for input. Missing
    /// credentials usually arrive by another way, so that stream stays open (1.0 §7.6.1).
    pub fn ends_stream(self) -> bool {
        self.is_terminal() || self == Self::InputRequired
    }

    /// Returns whether an update may take a task from this state to `next`.
    ///
    /// No protocol version publishes the table. Ours: everything goes from a state that is not terminal,
    /// except back to submitted; nothing goes from a terminal one, except that version 0.1
    /// reopens a finished task, which makes it submitted again.
    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Unspecified => false,
            Self::Submitted => self.is_terminal(),
            _ => !self.is_terminal(),
        }
    }
}

impl From<TaskState> for TaskStatus {
    fn from(state: TaskState) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }
}

impl Task {
    /// Returns a task that has just been accepted.
    pub fn submitted(id: TaskId, context_id: ContextId) -> Self {
        Self {
            id,
            context_id: Some(context_id),
            status: TaskStatus {
                timestamp: Some(Timestamp::now()),
                ..TaskState::Submitted.into()
            },
            ..Self::default()
        }
    }

    /// Keeps the last `length` messages of the history, or all of them if `length` is `None`.
    pub fn trim_history(&mut self, length: Option<u32>) {
        let Some(length) = length else { return };
        let keep = usize::try_from(length).unwrap_or(usize::MAX);
        let surplus = self.history.len().saturating_sub(keep);
        self.history.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    /// Servers keep a few of these for every task, and pass them on.
    #[test]
    fn tasks_and_events_are_small() {
        assert!(size_of::<TaskStatus>() <= 40);
        assert!(size_of::<Task>() <= 152);
        assert!(size_of::<Event>() <= 216);
    }

    #[test]
    fn a_state_of_a_later_version_is_read_as_unspecified() {
        let read = |state: &str| {
            let status = serde_json::from_str::<TaskStatus>(&format!(r#"{{"state":{state}}}"#));
            status.map(|status| status.state).ok()
        };
        assert_eq!(read(r#""TASK_STATE_WORKING""#), Some(TaskState::Working));
        assert_eq!(read("3"), Some(TaskState::Completed));
        assert_eq!(
            read(r#""TASK_STATE_PONDERING""#),
            Some(TaskState::Unspecified)
        );
        // gRPC has numbers, and one that is not known has no name.
        assert_eq!(read("99"), Some(TaskState::Unspecified));
        for none in ["true", "null", "{}", "[]", "1.5"] {
            assert_eq!(read(none), None, "{none}");
        }
        // Agents that came from 0.3 may have kept its words.
        for (word, state) in [
            (r#""input-required""#, TaskState::InputRequired),
            (r#""completed""#, TaskState::Completed),
            (r#""cancelled""#, TaskState::Canceled),
            (r#""unknown""#, TaskState::Unspecified),
            (r#""WORKING""#, TaskState::Working),
            (r#""done""#, TaskState::Unspecified),
        ] {
            assert_eq!(read(word), Some(state), "{word}");
        }
        // A caller's filter by an unknown state is refused.
        assert!(serde_json::from_str::<TaskState>(r#""TASK_STATE_PONDERING""#).is_err());
    }
}
