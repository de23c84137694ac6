//! The documented examples, and the exchanges that bind them together.

use std::collections::{BTreeMap, BTreeSet};

use a2a_types::Dialect;
use rust_embed::RustEmbed;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use crate::yaml;

/// Everything that was collected from the documents.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The documents.
    pub documents: Vec<Document>,
    /// The examples, by id.
    pub examples: BTreeMap<String, Example>,
    /// The exchanges, by id.
    pub exchanges: BTreeMap<String, Exchange>,
}

/// A document that examples were taken from.
#[derive(Clone, Debug, Deserialize)]
pub struct Document {
    /// Names the document.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The language of its prose.
    pub language: String,
    /// The version it describes.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// Description of the document.
    pub about: String,
}

/// One example.
#[derive(Clone, Debug, Deserialize)]
pub struct Example {
    /// Names the example: the document and a number.
    pub id: String,
    /// Place in its document.
    pub source: Source,
    /// The version it belongs to.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// A profile of the version, like `trpc`.
    pub profile: Option<String>,
    /// Kind of document that it shows.
    pub kind: ExampleKind,
    /// The codes of its departures from the specification.
    #[serde(default)]
    pub quirks: BTreeSet<String>,
    /// Verdict of a strict reader.
    pub strict: StrictVerdict,
    /// Verdict of a lenient reader.
    pub lenient: LenientVerdict,
    /// Remark for readers of this file.
    pub note: Option<String>,
    /// Departure of our judgement from the inventory that the corpus was made from, with the reason.
    pub amended: Option<String>,
    /// Refusal by a strict server, if it is a request in legal JSON that must be refused.
    pub refused: Option<Refusal>,
    /// The text as printed.
    pub printed: String,
    /// The message as it should have been, JSON.
    pub corrected: Option<String>,
    /// Its meaning in protocol 1.0, JSON.
    pub canonical: Option<String>,
    /// The parts of an HTTP head.
    pub head: Option<Head>,
}

/// Place of an example in a document.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    /// The document.
    pub document: String,
    /// The heading above it.
    pub heading: String,
    /// The lines of the document's text.
    pub lines: String,
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
    /// Nothing is wrong with it.
    Accept,
    /// It is not JSON, no envelope, or against the schema.
    Reject,
    /// The schema accepts it, a rule of the prose does not.
    RejectByRule,
}

/// Verdict of a lenient reader.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LenientVerdict {
    /// It can, after the repairs.
    Usable,
    /// No repair makes a message of it.
    Unusable,
}

/// Refusal of a request by a strict server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub struct Refusal {
    /// The JSON-RPC code.
    pub code: i64,
    /// The JSON path that its message names.
    pub path: String,
}

/// The parts of an HTTP head.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Head {
    /// Method of a request.
    pub method: Option<String>,
    /// Target of a request.
    pub target: Option<String>,
    /// Status of a response.
    pub status: Option<u16>,
    /// The headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// Examples that belong together: requests and their answers.
#[derive(Clone, Debug, Deserialize)]
pub struct Exchange {
    /// Names the exchange.
    pub id: String,
    /// Title of the exchange.
    pub title: String,
    /// The version it is spoken in.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// `true` if both ends declare the profile of the document on their cards.
    #[serde(default)]
    pub profile: bool,
    /// Script of the reference agent, a list of steps for each turn.
    #[serde(default)]
    pub agent: Vec<Vec<ScriptStep>>,
    /// Requests sent beforehand, whose answers are ignored.
    #[serde(default)]
    pub given: Vec<String>,
    /// Steps that are compared.
    pub steps: Vec<ExchangeStep>,
}

/// One step of the reference agent. One of the members names the action.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptStep {
    /// Publishes an artifact.
    pub artifact: Option<Value>,
    /// `true` if it is a chunk to be appended.
    pub append: bool,
    /// `true` if it is the last chunk.
    pub last_chunk: bool,
    /// The metadata of the artifact's event.
    pub metadata: Option<a2a_types::Object>,
    /// Gives the task a status.
    pub status: Option<a2a_types::TaskState>,
    /// Message of the status.
    pub message: Option<Value>,
    /// Answers by a message.
    pub reply: Option<Value>,
    /// Continues the model response with this id.
    pub llm_response: Option<String>,
    /// Text that the response adds.
    pub delta: Option<String>,
    /// Reasoning that the response adds.
    pub reasoning: Option<String>,
    /// Parts that carry tool calls of the response.
    pub tool_calls: Vec<Value>,
    /// Parts that carry the responses of tools.
    pub tool_responses: Vec<Value>,
    /// Answers waiting callers before the turn ends.
    pub detach: bool,
    /// Waits until the harness releases the agent, or until the task is canceled.
    pub hold: bool,
}

/// One request and what is expected of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeStep {
    /// The example that is sent.
    pub request: Option<String>,
    /// Or the path that is fetched.
    pub get: Option<String>,
    /// The JSON-RPC id to send in place of the example's.
    pub id: Option<Value>,
    /// Headers to send.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Time at which the agent's `hold` ends.
    pub release: Option<Release>,
    /// The HTTP status that is expected; 200 if not given.
    pub status: Option<u16>,
    /// The request declares the profile.
    #[serde(default)]
    pub declares: bool,
    /// A result that no document shows.
    pub result: Option<Value>,
    /// The example that answers.
    pub answer: Option<String>,
    /// Messages that stand in the history before the documented ones.
    #[serde(default)]
    pub history_first: Vec<Value>,
    /// Results that come before the documented events.
    #[serde(default)]
    pub before: Vec<Value>,
    /// The examples that are streamed.
    #[serde(default)]
    pub events: Vec<String>,
    /// The document does not show the end of the stream.
    #[serde(default)]
    pub open: bool,
    /// Mode in which the answer is compared.
    #[serde(rename = "match")]
    pub matching: Option<MatchMode>,
    /// Differences that are right.
    #[serde(default)]
    pub allow: Vec<Allowance>,
}

/// Time at which the agent's `hold` ends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Release {
    /// Before the request; the turn is over when it is sent.
    Before,
    /// After the first event of the stream.
    Subscribed,
}

/// Mode in which an answer is compared.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum MatchMode {
    /// It holds everything that is documented, and perhaps more.
    Contains,
}

/// A difference that is right.
#[derive(Clone, Debug, Deserialize)]
pub struct Allowance {
    /// JSON path.
    pub path: String,
    /// Reason.
    pub why: String,
}

#[derive(RustEmbed)]
#[folder = "examples/"]
struct ExampleFiles;

#[derive(RustEmbed)]
#[folder = "exchanges/"]
struct ExchangeFiles;

/// A file of the corpus cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct CorpusError {
    file: String,
    problem: String,
}

impl Corpus {
    /// The corpus that is part of this program.
    pub fn embedded() -> Result<Self, CorpusError> {
        let mut corpus = Self {
            documents: Vec::new(),
            examples: BTreeMap::new(),
            exchanges: BTreeMap::new(),
        };
        for file in ExampleFiles::iter() {
            let data = ExampleFiles::get(&file)
                .map(|file| file.data)
                .unwrap_or_default();
            if file == "documents.yaml" {
                corpus.documents = parse(&file, &data)?;
            } else {
                let example: Example = parse(&file, &data)?;
                corpus.examples.insert(example.id.clone(), example);
            }
        }
        for file in ExchangeFiles::iter() {
            let data = ExchangeFiles::get(&file)
                .map(|file| file.data)
                .unwrap_or_default();
            let exchange: Exchange = parse(&file, &data)?;
            corpus.exchanges.insert(exchange.id.clone(), exchange);
        }
        corpus.check()?;
        Ok(corpus)
    }

    /// The example of that id; exchanges name only examples that exist.
    pub fn example(&self, id: &str) -> &Example {
        &self.examples[id]
    }

    /// The request that an example answers, by the first exchange that says so.
    pub fn request_of(&self, id: &str) -> Option<&Example> {
        let answered = |step: &&ExchangeStep| {
            step.answer.as_deref() == Some(id) || step.events.iter().any(|event| event == id)
        };
        let step = self
            .exchanges
            .values()
            .flat_map(|exchange| &exchange.steps)
            .find(answered)?;
        self.examples.get(step.request.as_deref()?)
    }

    /// The examples other than HTTP heads.
    pub fn messages(&self) -> impl Iterator<Item = &Example> {
        self.examples
            .values()
            .filter(|example| example.kind != ExampleKind::Head)
    }

    fn check(&self) -> Result<(), CorpusError> {
        for exchange in self.exchanges.values() {
            let steps = exchange.steps.iter();
            let named =
                steps.flat_map(|step| step.request.iter().chain(&step.answer).chain(&step.events));
            for id in named.chain(&exchange.given) {
                if !self.examples.contains_key(id) {
                    return Err(CorpusError {
                        file: exchange.id.clone(),
                        problem: format!("names the example {id}, which does not exist"),
                    });
                }
            }
        }
        Ok(())
    }
}

impl Example {
    /// The corrected message.
    pub fn corrected_value(&self) -> Option<Value> {
        serde_json::from_str(self.corrected.as_deref()?).ok()
    }

    /// The canonical value.
    pub fn canonical_value(&self) -> Option<Value> {
        serde_json::from_str(self.canonical.as_deref()?).ok()
    }
}

fn parse<T: de::DeserializeOwned>(file: &str, data: &[u8]) -> Result<T, CorpusError> {
    let error = |problem: String| CorpusError {
        file: file.to_owned(),
        problem,
    };
    let text = std::str::from_utf8(data).map_err(|invalid| error(invalid.to_string()))?;
    yaml::read(text).map_err(error)
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
    let version = String::deserialize(deserializer)?;
    Dialect::from_version(&version)
        .ok_or_else(|| de::Error::custom(format!("no version {version}")))
}
