//! A case as data: the instructions to the client, the answers of the suite, and the expected outcome.

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::instruction::{Feature, Instruction};
use crate::interface_kind::InterfaceKind;
use crate::level::level_in;
use crate::requirement::Level;

/// One check of a client.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Permanent name of the check, like `client.redirect-drops-credentials`.
    pub id: String,
    /// Title of one line.
    pub title: String,
    /// Level of the check in protocol versions of which no requirement names it.
    #[schemars(with = "LevelName")]
    pub level: Level,
    /// Reason for the check, and the sections that state it.
    pub why: String,
    /// The text that requires it, like `RFC 9112 §8`, where A2A does not.
    #[serde(default)]
    pub source: Option<String>,
    /// The protocol versions it applies to; all if none is named.
    #[serde(default)]
    pub protocol_versions: Vec<ProtocolVersionName>,
    /// The bindings it applies to; all that the protocol version has if none is named.
    #[serde(default)]
    pub bindings: Vec<BindingName>,
    /// Feature without which the check does not apply to a client.
    #[serde(default)]
    pub feature: Option<Feature>,
    /// An unusual but valid agent, which a correct client accepts.
    #[serde(default)]
    pub control: bool,
    /// Card, signature and TLS of the agent, where a plain agent has others.
    #[serde(default)]
    pub agent: Agent,
    /// Instructions to the client, in order.
    pub ask: Vec<Instruction>,
    /// Answers that a plain agent would not give.
    #[serde(default)]
    pub serve: Vec<ScriptedAnswer>,
    /// Notifications sent to the client's webhook.
    #[serde(default)]
    pub notify: Vec<super::notification::Notification>,
    /// Pattern that everything seen by the suite must match.
    pub expect: Map<String, Value>,
    /// Milliseconds that the client may take for everything; 20000 by default.
    #[serde(default = "usual_time")]
    pub within: u64,
    /// `true` if the client need not be done by then: what was seen until then counts.
    #[serde(default)]
    pub endless: bool,
}

fn usual_time() -> u64 {
    20_000
}

/// Card, signature and TLS of the agent, where a plain agent has others.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// Merged into the card in the format of 1.0, before it is written in the protocol version (RFC 7396).
    pub card: Map<String, Value>,
    /// Merged into the card as it is written.
    pub written: Map<String, Value>,
    /// Puts the agent behind TLS.
    pub tls: Option<Tls>,
    /// Signature of the card.
    pub signed: Option<SignatureKind>,
}

/// Certificate of an agent behind TLS.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// Issued by the authority that the client trusts.
    Trusted,
    /// Issued by another authority.
    Untrusted,
    /// Issued by the trusted authority, for another host.
    OtherHost,
    /// Issued by the trusted authority, and expired.
    Expired,
}

/// Signature of a card.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureKind {
    /// Signed by the key that the client trusts.
    Well,
    /// Valid, but the card was changed afterwards.
    Tampered,
    /// Signed by `alg: none`, with an empty signature.
    None,
    /// Signed by HS256, with the public key as the secret.
    Hmac,
    /// Signed by another key, which only the URL in the signature leads to: the second listener.
    ElsewhereKey,
    /// Valid, but with an unknown `crit` extension.
    Critical,
    /// Twice: by a key that the client does not know, then by the key that it trusts.
    Twice,
}

/// Answer of the suite to some requests.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedAnswer {
    /// The operation by its name in 1.0, or `AgentCard`; any if none is named.
    pub on: Option<String>,
    /// Only the request of that number, from 1, among the requests of this operation.
    pub nth: Option<usize>,
    /// The result in the format of 1.0, for operations that are answered once.
    pub reply: Option<Value>,
    /// The events in the format of 1.0, for requests that are answered by a stream.
    pub stream: Option<Vec<Value>>,
    /// An error by its reason in 1.0, like `TASK_NOT_FOUND`; after the events, if there are any.
    pub error: Option<String>,
    /// The body as it is, or the whole answer if it begins with `HTTP/`. None of the above is looked at. By gRPC it is an
    /// answer of HTTP; one that begins with `HTTP/` is none at all.
    pub raw: Option<String>,
    /// Another HTTP status.
    pub status: Option<u16>,
    /// Headers, in place of headers of the same name. An empty value leaves one out.
    pub headers: Map<String, Value>,
    /// Changes of the JSON of an answer or of the card.
    pub edit: Edit,
    /// Format of events as Server-Sent Events.
    pub frame: EventFormat,
    /// Chunking and timing of the body.
    pub wire: Transmission,
    /// End of the answer.
    pub close: Close,
}

/// Changes of the JSON that is written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Edit {
    /// Members of the outermost object (RFC 7396).
    pub merge: Map<String, Value>,
    /// Members to add to every object of a name, like `status`.
    pub add: Map<String, Value>,
    /// Values to set at a path, like `status.state`, wherever it exists.
    pub put: Map<String, Value>,
    /// Only in the event of this number, from 1.
    pub event: Option<usize>,
    /// Members in the opposite order, with blanks.
    pub shuffled: bool,
}

/// Format of events as Server-Sent Events.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventFormat {
    /// Line terminator.
    pub line_end: String,
    /// Begins with a byte order mark.
    pub mark: bool,
    /// A comment before each event.
    pub comment: Option<String>,
    /// An `id:` line, numbers from 1; so by default.
    pub id: bool,
    /// An `event:` line.
    pub event: Option<String>,
    /// A `retry:` line.
    pub retry: Option<u64>,
    /// The JSON over several `data:` lines.
    pub lines: bool,
    /// No blank after the colon.
    pub tight: bool,
    /// The last event lacks its blank line.
    pub unfinished: bool,
    /// Before each event an empty block, without any `data:` line.
    pub idle: bool,
}

impl Default for EventFormat {
    fn default() -> Self {
        Self {
            line_end: "\n".to_owned(),
            mark: false,
            comment: None,
            id: true,
            event: None,
            retry: None,
            lines: false,
            tight: false,
            unfinished: false,
            idle: false,
        }
    }
}

/// Chunking and timing of the body of an answer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transmission {
    /// Number of bytes to write at a time.
    pub chunk: Option<usize>,
    /// All events in one write.
    pub together: bool,
    /// `Transfer-Encoding: chunked` in place of `Content-Length`.
    pub chunked: bool,
    /// After this number of events, or after the head if zero, waits.
    pub hold: Option<Pause>,
    /// Ends the body by this number of equal bytes.
    pub flood: Option<LongBody>,
    /// Sends only this number of events.
    pub only: Option<usize>,
}

/// A pause.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// After this number of events.
    pub after: usize,
    /// Until the client has asked for this, by the name of the operation in 1.0.
    #[serde(default)]
    pub asked: Option<String>,
    /// For this number of milliseconds, for checks of timing.
    #[serde(default)]
    pub ms: Option<u64>,
}

/// An oversized body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongBody {
    /// Text at its beginning.
    pub start: String,
    /// Number of bytes that follow, all of them `x`.
    pub bytes: u64,
}

/// End of an answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// At the end that HTTP and gRPC define.
    #[default]
    Done,
    /// The connection ends although more was promised; by gRPC the answer has no status.
    Cut,
    /// The connection is reset; by gRPC the stream of HTTP/2.
    Reset,
    /// It does not: the connection stays open until the client closes it.
    Open,
}

/// A [`Level`] as it is written.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum LevelName {
    Must,
    Should,
    May,
}

/// A [`ProtocolVersion`] as it is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
pub enum ProtocolVersionName {
    /// 0.1
    #[serde(rename = "0.1")]
    V0_1,
    /// 0.2
    #[serde(rename = "0.2")]
    V0_2,
    /// 0.3
    #[serde(rename = "0.3")]
    V0_3,
    /// 1.0
    #[serde(rename = "1.0")]
    V1_0,
}

/// A [`Binding`] as cards write it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
pub enum BindingName {
    /// JSON-RPC.
    #[serde(rename = "JSONRPC")]
    JsonRpc,
    /// HTTP+JSON.
    #[serde(rename = "HTTP+JSON")]
    HttpJson,
    /// gRPC.
    #[serde(rename = "GRPC")]
    Grpc,
}

impl From<ProtocolVersionName> for ProtocolVersion {
    fn from(name: ProtocolVersionName) -> Self {
        match name {
            ProtocolVersionName::V0_1 => Self::V0_1,
            ProtocolVersionName::V0_2 => Self::V0_2,
            ProtocolVersionName::V0_3 => Self::V0_3,
            ProtocolVersionName::V1_0 => Self::V1_0,
        }
    }
}

impl From<BindingName> for Binding {
    fn from(name: BindingName) -> Self {
        match name {
            BindingName::JsonRpc => Self::JsonRpc,
            BindingName::HttpJson => Self::HttpJson,
            BindingName::Grpc => Self::Grpc,
        }
    }
}

impl Case {
    /// Returns whether a client that behaves well reads not even the card.
    pub(super) fn expects_silence(&self) -> bool {
        let cards = self.expect.get("cards").and_then(Value::as_array);
        cards.is_some_and(Vec::is_empty)
    }

    /// Returns every version and binding in which the case applies.
    pub fn interface_kinds(&self) -> impl Iterator<Item = InterfaceKind> + '_ {
        let all = InterfaceKind::ALL.iter().copied();
        all.filter(|interface| {
            let protocol_version = |name: &ProtocolVersionName| {
                ProtocolVersion::from(*name) == interface.protocol_version
            };
            let binding = |name: &BindingName| Binding::from(*name) == interface.binding;
            (self.protocol_versions.is_empty()
                || self.protocol_versions.iter().any(protocol_version))
                && (self.bindings.is_empty() || self.bindings.iter().any(binding))
        })
    }

    /// Returns its level in a version and binding.
    pub fn level_in(&self, interface: InterfaceKind) -> Level {
        level_in(
            interface.protocol_version,
            Some(interface.binding),
            &self.id,
            self.level,
        )
    }
}
