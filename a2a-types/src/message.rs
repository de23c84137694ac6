//! Messages between caller and agent.

use serde::{Deserialize, Serialize};

use crate::proto::{or_default, proto_enum, unless_empty};
use crate::{ContextId, MessageId, Object, Part, TaskId};

/// One message of the user or of the agent. Specification 1.0 §4.1.4.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Identifier of the message, chosen by the sender.
    #[serde(alias = "message_id")]
    pub message_id: MessageId,
    /// Identifier of the conversation.
    #[serde(
        default,
        alias = "context_id",
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_id: Option<ContextId>,
    /// The task that the message continues, or was sent in.
    #[serde(
        default,
        alias = "task_id",
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub task_id: Option<TaskId>,
    /// Sender of the message.
    pub role: Role,
    /// The content, at least one part.
    #[serde(default, deserialize_with = "or_default")]
    pub parts: Vec<Part>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// URIs of the extensions that contributed to this message.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub extensions: Vec<String>,
    /// Earlier tasks that the message refers to.
    #[serde(
        default,
        alias = "reference_task_ids",
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reference_task_ids: Vec<TaskId>,
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
