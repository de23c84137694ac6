//! Instructions to a client under test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An instruction to the client.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// The operation.
    pub op: InstructionKind,
    /// `true` if a client that cannot do this is judged by the rest of the case.
    #[serde(default, skip_serializing)]
    pub optional: bool,
    /// Text of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Parts of the message in place of `text`, in the format of 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Value>,
    /// `true` if the client is to report parts in the format of 1.0, besides their text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detail: bool,
    /// Metadata of the message.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The media types that the answer may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// `true` if the agent is to answer immediately, before the task ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub immediately: bool,
    /// The task that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The tasks to which the message is related.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The push notification config, in the format of 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// URL of the push notification config, of which the client makes up the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// Parameters of `ListTasks`, in the format of 1.0.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub list: Map<String, Value>,
    /// Number of messages of the history that are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<u32>,
    /// The URI of an extension that is to be active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<String>,
    /// Credentials to show the agent: `bearer`, `api_key`, `user` and `password`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub credentials: Map<String, Value>,
    /// Milliseconds that the agent may be silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
    /// `true` if the client may use only a card that one of the trusted keys has signed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// Credentials that a sender of push notifications has to show: `token`, `jwt`; and the `tasks` that they
    /// may be about.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub require: Map<String, Value>,
}

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionKind {
    /// Fetch the card.
    FetchCard,
    /// Send a message, and wait for the answer.
    #[default]
    SendMessage,
    /// Send a message, and follow its task.
    Stream,
    /// Send a message without waiting for its end, and then wait for it.
    SendAndWait,
    /// Send a message, follow its task, and report the task that the events make.
    Assemble,
    /// Read a task.
    GetTask,
    /// Cancel a task.
    CancelTask,
    /// Follow a task.
    Subscribe,
    /// List tasks.
    ListTasks,
    /// Register a webhook.
    CreatePushConfig,
    /// Read a webhook.
    GetPushConfig,
    /// List webhooks.
    ListPushConfigs,
    /// Delete a webhook.
    DeletePushConfig,
    /// Fetch the card for callers who authenticate.
    ExtendedCard,
    /// Receive push notifications until asked to stop.
    Receive,
}

/// Feature that a client may lack.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// It asks the agent what tasks there are.
    List,
    /// It activates extensions.
    Extensions,
    /// It manages push notification configs.
    PushConfigs,
    /// It receives push notifications.
    Webhook,
    /// It fetches the card for callers who authenticate.
    ExtendedCard,
    /// It verifies the signatures of cards.
    Signatures,
    /// It shows credentials that the card asks for.
    Credentials,
    /// It calls `https://`.
    Tls,
    /// It sends and reports more than text: files, data, metadata.
    Parts,
    /// It can be answered before a task ends, and waits for the end by itself.
    Waiting,
    /// It makes a task of the events of a stream.
    Assembly,
    /// It can say how it wants to be answered.
    Configuration,
    /// It follows tasks by streams.
    Streaming,
    /// It cancels tasks.
    Canceling,
}
