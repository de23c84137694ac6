//! Messages between caller and agent.

use crate::proto::proto_enum;
use crate::wire_types::wire_types;
use crate::{ContextId, MessageId, Object, Part, TaskId};

wire_types! {
    /// One message of the user or of the agent. Specification 1.0 §4.1.4.
    pub struct Message: Debug, Default {
        /// Identifier of the message, chosen by the sender.
        pub message_id: MessageId | "message_id",
        /// Identifier of the conversation.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// The task that the message continues, or was sent in.
        pub task_id: Option<TaskId> = unless_empty | "task_id",
        /// Sender of the message.
        pub role: Role,
        /// The content, at least one part.
        pub parts: Vec<Part> = or_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
        /// URIs of the extensions that contributed to this message.
        pub extensions: Vec<String> = unless_default,
        /// Earlier tasks that the message refers to.
        pub reference_task_ids: Vec<TaskId> = unless_default | "reference_task_ids",
    }
}

impl Message {
    /// Returns a user's message of one text part, with a new identifier.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Part::text(text)])
    }

    /// Returns an agent's message of one text part, with a new identifier.
    pub fn agent(text: impl Into<String>) -> Self {
        Self::new(Role::Agent, vec![Part::text(text)])
    }

    /// Returns a message with a new identifier.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            message_id: MessageId::random(),
            role,
            parts,
            ..Self::default()
        }
    }

    /// Returns the text parts, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

impl From<&str> for Message {
    /// Returns a user's message of one text part.
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for Message {
    /// Returns a user's message of one text part.
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

proto_enum! {
    /// Sender of a message. Specification 1.0 §4.1.5.
    #[derive(Hash)]
    pub enum Role {
        /// Not stated.
        Unspecified = 0, "ROLE_UNSPECIFIED";
        /// The calling side.
        #[default]
        User = 1, "ROLE_USER" | "user";
        /// The serving side.
        Agent = 2, "ROLE_AGENT" | "agent";
    }
}
