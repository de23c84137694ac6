//! The documented examples, and the exchanges that bind them together.

use std::collections::{BTreeMap, BTreeSet};

use a2a_types::{Object, Operation, Part, ProtocolVersion, TaskState};
use rust_embed::RustEmbed;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::printed_example;
use crate::yaml;

/// Everything that was collected from the documents.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The documents.
    pub(crate) documents: Vec<Document>,
    /// The examples, by id.
    pub(crate) examples: BTreeMap<String, Example>,
    /// The exchanges, by id.
    pub exchanges: BTreeMap<String, Exchange>,
}

/// A document that examples were taken from.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Document {
    /// Names the document.
    pub(crate) id: String,
    /// Its title.
    pub(crate) title: String,
}

/// One example.
#[derive(Clone, Debug, Deserialize)]
pub struct Example {
    /// Names the example: the document and a number.
    pub id: String,
    /// Place in its document.
    pub source: Source,
    /// The version it belongs to.
    #[serde(deserialize_with = "protocol_version")]
    pub(crate) protocol_version: ProtocolVersion,
    /// A profile of the version, like `trpc`.
    pub(crate) profile: Option<String>,
    /// Kind of document that it shows.
    pub kind: ExampleKind,
    /// The codes of its departures from the specification.
    #[serde(default)]
    pub(crate) quirks: BTreeSet<String>,
    /// Verdict of a strict reader.
    pub(crate) strict: StrictVerdict,
    /// Verdict of a lenient reader.
    pub(crate) lenient: LenientVerdict,
    /// Refusal by a strict server, if it is a request in legal JSON that must be refused.
    pub(crate) refused: Option<Refusal>,
    /// The text as printed.
    pub printed: String,
    /// The message as it should have been, JSON.
    pub(crate) corrected: Option<String>,
    /// Its meaning in protocol 1.0, JSON.
    pub(crate) canonical: Option<String>,
    /// The parts of an HTTP head.
    pub(crate) head: Option<Head>,
}

/// Place of an example in a document.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    /// The document.
    pub document: String,
}

/// Kind of document that an example shows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExampleKind {
    /// A JSON-RPC request.
    Request,
    /// A JSON-RPC response.
    Response,
    /// One event of a stream.
    Event,
    /// An agent card.
    Card,
    /// The body of a push notification.
    Webhook,
    /// A piece of something.
    Fragment,
    /// An HTTP head.
    Head,
}

/// Verdict of a strict reader.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrictVerdict {
    /// It is valid.
    Accept,
    /// It is not JSON, lacks an envelope, or violates the schema.
    Reject,
    /// It conforms to the schema, but violates a rule of the prose.
    RejectByRule,
}

/// Verdict of a lenient reader.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LenientVerdict {
    /// It can, after the repairs.
    Usable,
    /// No repair makes it a message.
    Unusable,
}

/// Refusal of a request by a strict server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub(crate) struct Refusal {
    /// The JSON-RPC code.
    pub(crate) code: i64,
    /// The JSON path that its message names.
    pub(crate) path: String,
}

/// The parts of an HTTP head.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Head {
    /// Method of a request.
    pub(crate) method: Option<String>,
    /// The headers.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
}

/// Examples that belong together: requests and their answers.
#[derive(Clone, Debug, Deserialize)]
pub struct Exchange {
    /// Names the exchange.
    pub(crate) id: String,
    /// The version it is spoken in.
    #[serde(deserialize_with = "protocol_version")]
    pub(crate) protocol_version: ProtocolVersion,
    /// `true` if both ends declare the profile of the document on their cards.
    #[serde(default)]
    pub(crate) profile: bool,
    /// Script of the reference agent, a list of steps for each turn.
    #[serde(default)]
    pub(crate) agent: Vec<Vec<ScriptStep>>,
    /// Requests sent beforehand, whose answers are ignored.
    #[serde(default)]
    pub(crate) given: Vec<String>,
    /// Steps that are compared.
    pub steps: Vec<ExchangeStep>,
}

/// One step of the reference agent. One of the members names the action.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct ScriptStep {
    /// Publishes an artifact.
    pub(crate) artifact: Option<Value>,
    /// `true` if it is a chunk to be appended.
    pub(crate) append: bool,
    /// `true` if it is the last chunk.
    pub(crate) last_chunk: bool,
    /// The metadata of the artifact's event.
    pub(crate) metadata: Option<Object>,
    /// Gives the task a status.
    pub(crate) status: Option<TaskState>,
    /// Message of the status.
    pub(crate) message: Option<Value>,
    /// Answers by a message.
    pub(crate) reply: Option<Value>,
    /// Continues the model response with this id.
    pub(crate) llm_response: Option<String>,
    /// Text that the response adds.
    pub(crate) delta: Option<String>,
    /// Reasoning that the response adds.
    pub(crate) reasoning: Option<String>,
    /// Parts that carry tool calls of the response, or the responses of tools.
    pub(crate) tools: Vec<Part>,
    /// Answers waiting callers before the turn ends.
    pub(crate) respond_early: bool,
    /// Waits until the harness releases the agent, or until the task is canceled.
    pub(crate) hold: bool,
}

/// One request and what is expected of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeStep {
    /// The example that is sent.
    pub request: Option<String>,
    /// Or the path that is fetched.
    pub(crate) get: Option<String>,
    /// The JSON-RPC id to send in place of the example's.
    pub(crate) id: Option<Value>,
    /// Headers to send.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Time at which the agent's `hold` ends.
    pub(crate) release: Option<Release>,
    /// The HTTP status that is expected; 200 if not given.
    pub(crate) status: Option<u16>,
    /// The request declares the profile.
    #[serde(default)]
    pub(crate) declares: bool,
    /// A result that no document shows.
    pub(crate) result: Option<Value>,
    /// The example that answers.
    pub answer: Option<String>,
    /// Messages that stand in the history before the documented ones.
    #[serde(default)]
    pub(crate) history_first: Vec<Value>,
    /// Results that come before the documented events.
    #[serde(default)]
    pub(crate) before: Vec<Value>,
    /// The examples that are streamed.
    #[serde(default)]
    pub events: Vec<String>,
    /// The document does not show the end of the stream.
    #[serde(default)]
    pub(crate) open: bool,
    /// Differences that are right.
    #[serde(default)]
    pub(crate) allow: Vec<Allowance>,
}

/// Time at which the agent's `hold` ends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Release {
    /// Before the request; the turn is over when it is sent.
    Before,
    /// After the first event of the stream.
    Subscribed,
}

/// An accepted difference; the file says why.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Allowance {
    /// JSON path.
    pub(crate) path: String,
}

#[derive(RustEmbed)]
#[folder = "examples/"]
struct ExampleFiles;

#[derive(RustEmbed)]
#[folder = "exchanges/"]
struct ExchangeFiles;

/// The file of the documents, next to their examples.
const DOCUMENTS: &str = "documents.yaml";

impl Corpus {
    /// Returns the corpus that is part of this program.
    ///
    /// Errors: a file cannot be read.
    pub fn embedded() -> Result<Self, String> {
        let examples = ExampleFiles::iter().filter(|file| file != DOCUMENTS);
        let examples = examples.map(|file| {
            let example: Example = read::<ExampleFiles, _>(&file)?;
            Ok((example.id.clone(), example))
        });
        let exchanges = ExchangeFiles::iter().map(|file| {
            let exchange: Exchange = read::<ExchangeFiles, _>(&file)?;
            Ok((exchange.id.clone(), exchange))
        });
        Ok(Self {
            documents: read::<ExampleFiles, _>(DOCUMENTS)?,
            examples: examples.collect::<Result<_, String>>()?,
            exchanges: exchanges.collect::<Result<_, String>>()?,
        })
    }

    /// Returns the example of an id.
    ///
    /// Panics: there is none; exchanges name only examples that exist.
    pub(crate) fn example(&self, id: &str) -> &Example {
        &self.examples[id]
    }

    /// Returns the request that an example answers, with the id that was sent.
    pub(crate) fn answered(&self, answer: &Example) -> Option<Value> {
        let mut steps = self.steps();
        let step = steps.find(|step| {
            step.answer.as_ref() == Some(&answer.id) || step.events.contains(&answer.id)
        })?;
        let request = self.example(step.request.as_deref()?);
        let printed = printed_example::read(&request.printed).json?;
        let printed: Value = serde_json::from_str(&printed).ok()?;
        let mut answered = request.corrected_value();
        answered["id"] = step.id.clone().unwrap_or_else(|| printed["id"].clone());
        Some(answered)
    }

    /// The steps of all exchanges.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &ExchangeStep> {
        let exchanges = self.exchanges.values();
        exchanges.flat_map(|exchange| &exchange.steps)
    }

    /// The examples other than HTTP heads.
    pub fn messages(&self) -> impl Iterator<Item = &Example> {
        self.examples
            .values()
            .filter(|example| example.kind != ExampleKind::Head)
    }
}

impl Example {
    /// Returns the corrected message; null if there is none.
    pub(crate) fn corrected_value(&self) -> Value {
        value(self.corrected.as_deref())
    }

    /// Returns the meaning in protocol 1.0; null if there is none.
    pub(crate) fn canonical_value(&self) -> Value {
        value(self.canonical.as_deref())
    }

    /// Returns the operation of a request, or `None` if its method is unknown.
    pub(crate) fn operation(&self) -> Option<Operation> {
        let method = ProtocolVersion::of_method(self.corrected_value()["method"].as_str()?)?;
        Some(method.operation)
    }
}

impl ExchangeStep {
    /// Returns the example that is sent, or the path that is fetched.
    pub(crate) fn label(&self) -> &str {
        let label = self.request.as_deref().or(self.get.as_deref());
        label.unwrap_or_default()
    }
}

fn value(json: Option<&str>) -> Value {
    let value = json.and_then(|json| serde_json::from_str(json).ok());
    value.unwrap_or_default()
}

fn read<F: RustEmbed, T: DeserializeOwned>(file: &str) -> Result<T, String> {
    let data = F::get(file).map(|file| file.data).unwrap_or_default();
    let read = yaml::read(&String::from_utf8_lossy(&data));
    read.map_err(|problem| format!("{file}: {problem}"))
}

fn protocol_version<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ProtocolVersion, D::Error> {
    let version = String::deserialize(deserializer)?;
    ProtocolVersion::from_version(&version)
        .ok_or_else(|| D::Error::custom(format!("no version {version}")))
}
