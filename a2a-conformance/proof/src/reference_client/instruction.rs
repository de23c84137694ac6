//! Instructions of the suite, and the lines that report on them.

use std::io;

use a2a_conformance::client::UNIMPLEMENTED;
use a2a_transport::webhook::Jwk;
use a2a_types::{
    ListTasksRequest, Object, Part, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt, Lines};

/// One instruction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InstructionLine {
    pub(super) id: Value,
    pub(super) case: String,
    pub(super) op: String,
    pub(super) url: String,
    pub(super) protocol_version: String,
    pub(super) binding: String,
    pub(super) text: Option<String>,
    pub(super) parts: Option<Vec<Part>>,
    /// `true` if reports have the parts of messages and artifacts.
    pub(super) detail: bool,
    pub(super) metadata: Object,
    pub(super) modes: Vec<String>,
    pub(super) immediately: bool,
    pub(super) task: Option<String>,
    pub(super) context: Option<String>,
    pub(super) references: Vec<TaskId>,
    pub(super) config: Option<TaskPushNotificationConfig>,
    /// URL of the webhook, for a config that the client makes itself.
    pub(super) webhook: Option<String>,
    pub(super) list: ListTasksRequest,
    pub(super) history: Option<u32>,
    pub(super) extension: Option<String>,
    pub(super) credentials: Credentials,
    pub(super) patience_ms: Option<u64>,
    pub(super) verify: bool,
    pub(super) keys: Keys,
    pub(super) ca: Option<String>,
    pub(super) require: RequiredCredentials,
    /// Port at which to receive push notifications.
    pub(super) port: Option<u16>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Credentials {
    pub(super) bearer: Option<String>,
    pub(super) api_key: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Keys {
    pub(super) keys: Vec<Jwk>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RequiredCredentials {
    pub(super) token: Option<String>,
    pub(super) jwt: Option<KeySource>,
    /// The tasks that a notification may be about; any if there are none.
    pub(super) tasks: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KeySource {
    pub(super) jwks: String,
}

impl InstructionLine {
    pub(super) fn protocol_version(&self) -> ProtocolVersion {
        ProtocolVersion::from_version(&self.protocol_version).unwrap_or(ProtocolVersion::V1_0)
    }
}

/// Further lines from the suite.
pub(super) type Input<R> = Lines<R>;

/// Writes a report on an instruction.
pub(super) async fn write_report(
    output: &mut (impl AsyncWrite + Unpin),
    id: &Value,
    mut value: Value,
) -> io::Result<()> {
    value["id"] = id.clone();
    output.write_all(format!("{value}\n").as_bytes()).await?;
    output.flush().await
}

/// Returns the report that this client does not have something.
pub(super) fn unimplemented(what: &str) -> Value {
    json!({"error": {"kind": UNIMPLEMENTED, "message": what}})
}
