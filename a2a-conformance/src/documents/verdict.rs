//! What a strict reader says of an example, and what a lenient one has to mend.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::Reading;
use a2a_transport::binding::jsonrpc::{EventReader, read_call, read_reply};
use a2a_transport::{Binding, Envelope, Error};
use a2a_types::reading::{Hints, Mode, Read, Repair, Violation, read};
use a2a_types::{Base64, Dialect, Operation, Timestamp, schema, v0_1, v0_2};
use serde_json::Value;

use crate::documents::corpus::{Corpus, Example, Kind, Strict};
use crate::documents::printed;

/// A strict reader's judgement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Judgement {
    /// Accepted or refused.
    pub verdict: Strict,
    /// Why it was refused.
    pub reason: String,
}

impl Judgement {
    fn reject(reason: impl ToString) -> Self {
        Self {
            verdict: Strict::Reject,
            reason: reason.to_string(),
        }
    }

    fn by_rule(reason: impl ToString) -> Self {
        Self {
            verdict: Strict::RejectByRule,
            reason: reason.to_string(),
        }
    }
}

/// Reads an example strictly: as text, as a stream event, as a JSON-RPC message, by the schema of
/// its generation, and by the specification's words.
pub fn judge(corpus: &Corpus, example: &Example) -> Judgement {
    let printed = printed::read(&example.printed);
    let text = match example.kind {
        Kind::Head => return judge_head(example),
        Kind::Event => match event_data(&printed.text) {
            Some(data) => data,
            None => return Judgement::reject("the event is no JSON: only its first line is data"),
        },
        _ => printed.text.clone(),
    };
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        return Judgement::reject("not JSON");
    };
    if example.kind == Kind::Fragment {
        return Judgement::by_rule("a fragment is no message");
    }
    if let Err(missing) = check_envelope(example.kind, &value) {
        return Judgement::reject(missing);
    }
    if let Some(definition) = definition(corpus, example)
        && let Err(violation) = validate(example.dialect, definition, &value)
    {
        return Judgement::reject(violation);
    }
    match read_typed(corpus, example, &text, Mode::Strict) {
        Ok(_) => Judgement {
            verdict: Strict::Accept,
            reason: String::new(),
        },
        Err(problem) => Judgement::by_rule(problem),
    }
}

/// A request with a body has to say how long it is.
fn judge_head(example: &Example) -> Judgement {
    let head = example.head.clone().unwrap_or_default();
    let has = |name: &str| {
        head.headers
            .keys()
            .any(|header| header.eq_ignore_ascii_case(name))
    };
    let posts = head.method.as_deref() == Some("POST");
    // A head of a webhook's POST lists only the headers that matter there.
    let whole = has("host");
    match posts && whole && !has("content-length") && !has("transfer-encoding") {
        true => Judgement::by_rule("a POST without the length of its body"),
        false => Judgement {
            verdict: Strict::Accept,
            reason: String::new(),
        },
    }
}

/// The data of a Server-Sent Event by the letter: fields are lines, the field is named `data`.
fn event_data(text: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: Vec<_> = lines
        .map(|value| value.strip_prefix(' ').unwrap_or(value))
        .collect();
    let data = data.join("\n");
    serde_json::from_str::<serde::de::IgnoredAny>(&data)
        .ok()
        .map(|_| data)
}

/// The words of every generation want a full JSON-RPC envelope, where the schema of 0.1 does not.
fn check_envelope(kind: Kind, message: &Value) -> Result<(), String> {
    let missing = |member: &str| format!("$.{member}: missing");
    match kind {
        Kind::Request | Kind::Response | Kind::Event => {
            if message["jsonrpc"] != "2.0" {
                return Err(missing("jsonrpc"));
            }
            if message.get("id").is_none() {
                return Err(missing("id"));
            }
            let answered = message.get("result").is_some() != message.get("error").is_some();
            match kind == Kind::Request || answered {
                true => Ok(()),
                false => Err(missing("result")),
            }
        }
        Kind::Card | Kind::Webhook | Kind::Fragment | Kind::Head => Ok(()),
    }
}

/// The definition that a whole message must satisfy.
fn definition(corpus: &Corpus, example: &Example) -> Option<&'static str> {
    match example.kind {
        Kind::Request => schema::request_definition(example.dialect, operation_of(example)?),
        Kind::Response | Kind::Event => schema::response_definition(
            example.dialect,
            operation_of(corpus.request_of(&example.id)?)?,
        ),
        Kind::Card => Some("AgentCard"),
        Kind::Webhook => Some("Task"),
        Kind::Fragment | Kind::Head => None,
    }
}

/// Which operation a request is.
pub fn operation_of(request: &Example) -> Option<Operation> {
    let method = request.corrected_value()?["method"].as_str()?.to_owned();
    Dialect::of_method(&method).map(|method| method.operation)
}

/// Validates a value by a definition of our schema.
pub fn validate(dialect: Dialect, definition: &'static str, value: &Value) -> Result<(), String> {
    type Validators = BTreeMap<(Dialect, &'static str), std::sync::Arc<jsonschema::Validator>>;
    static VALIDATORS: OnceLock<Mutex<Validators>> = OnceLock::new();
    let validator = {
        let mut validators = VALIDATORS
            .get_or_init(Mutex::default)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match validators.get(&(dialect, definition)) {
            Some(validator) => validator.clone(),
            None => {
                let schema = schema::definition(dialect, definition).ok_or("no such definition")?;
                let validator =
                    jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
                let validator = std::sync::Arc::new(validator);
                validators.insert((dialect, definition), validator.clone());
                validator
            }
        }
    };
    match validator.iter_errors(value).next() {
        None => Ok(()),
        Some(error) => {
            let path = error.instance_path().to_string().replace('/', ".");
            let text: String = error.to_string().chars().take(160).collect();
            Err(format!("${path}: {text} ({definition})"))
        }
    }
}

/// Reads a message with the types of its generation.
fn read_typed(
    corpus: &Corpus,
    example: &Example,
    text: &str,
    mode: Mode,
) -> Result<Vec<Repair>, String> {
    let limits = Limits::default();
    let at = Hints::at("$");
    match example.kind {
        Kind::Request => {
            let reading = Reading {
                mode,
                prefer: Some(example.dialect),
                limits,
            };
            let question = read_call(text.as_bytes(), None, &reading)
                .map_err(|refused| refused.error.message)?;
            Ok(question.repairs)
        }
        Kind::Response => {
            let envelope = envelope_of(corpus, example).ok_or("no request belongs to it")?;
            let read = read_reply(&envelope, text.as_bytes(), mode, &limits);
            read.map(|read| read.repairs).map_err(|error| told(&error))
        }
        Kind::Event => {
            let envelope = envelope_of(corpus, example).ok_or("no request belongs to it")?;
            let read = EventReader::new(envelope, mode, limits).read(text.as_bytes());
            read.map(|read| read.repairs).map_err(|error| told(&error))
        }
        Kind::Card if example.dialect == Dialect::V0_1 => {
            repairs(read::<v0_1::AgentCard>(text, mode, &at))
        }
        Kind::Card => repairs(read::<v0_2::AgentCard>(text, mode, &at)),
        Kind::Webhook if example.dialect == Dialect::V0_1 => {
            repairs(read::<v0_1::Task>(text, mode, &at))
        }
        Kind::Webhook => repairs(read::<v0_2::Task>(text, mode, &at)),
        Kind::Fragment | Kind::Head => Err("not a message".to_owned()),
    }
}

fn repairs<T>(read: Result<Read<T>, Violation>) -> Result<Vec<Repair>, String> {
    read.map(|read| read.repairs)
        .map_err(|violation| violation.to_string())
}

fn told(error: &Error) -> String {
    match error {
        Error::Malformed(violation) => violation.to_string(),
        other => other.to_string(),
    }
}

/// The envelope of the printed request that an example answers.
fn envelope_of(corpus: &Corpus, answer: &Example) -> Option<Envelope> {
    let request = corpus.request_of(&answer.id)?;
    let printed: Value = printed::read(&request.printed)
        .json
        .and_then(|json| serde_json::from_str(&json).ok())?;
    let step = corpus
        .exchanges
        .values()
        .flat_map(|exchange| &exchange.steps)
        .find(|step| {
            step.answer.as_ref() == Some(&answer.id) || step.events.contains(&answer.id)
        })?;
    let id = step.id.clone().unwrap_or_else(|| printed["id"].clone());
    let operation = operation_of(request)?;
    Some(Envelope {
        id: Some(serde_json::from_value(id).unwrap_or(Id::Null)),
        task: request.canonical_value().and_then(|canonical| {
            let params = &canonical["params"];
            let task = params["id"]
                .as_str()
                .or(params["message"]["taskId"].as_str());
            task.or(params["taskId"].as_str()).map(Into::into)
        }),
        ..Envelope::new(answer.dialect, Binding::JsonRpc, operation)
    })
}

/// What a lenient reader found to mend, by code; an error if it could not be read at all.
pub fn mended(corpus: &Corpus, example: &Example) -> Result<BTreeSet<String>, String> {
    let printed = printed::read(&example.printed);
    let mut codes: BTreeSet<String> = printed
        .repairs
        .iter()
        .map(|code| (*code).to_owned())
        .collect();
    if example.kind == Kind::Fragment {
        codes.insert("FRAG".to_owned());
    }
    let Some(json) = printed.json else {
        return Ok(codes);
    };
    let value: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    observe(&value, example.dialect, &mut codes);
    if example.kind != Kind::Fragment {
        let repairs = read_typed(corpus, example, &json, Mode::Lenient)?;
        codes.extend(repairs.iter().map(|repair| repair.quirk.code().to_owned()));
    }
    observe_neighbours(corpus, example, &mut codes);
    Ok(codes)
}

/// Departures that need no repair: they are understood as they are.
fn observe(value: &Value, dialect: Dialect, codes: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, member) in object {
                let text = member.as_str();
                let found = match name.as_str() {
                    "timestamp" => text.is_some_and(lacks_zone).then_some("NOTZ"),
                    "bytes" => text.is_some_and(is_not_base64).then_some("B64"),
                    "data" if object.contains_key("mimeType") => {
                        text.is_some_and(is_not_base64).then_some("B64")
                    }
                    "configuration" if dialect == Dialect::V0_2 => {
                        member["acceptedOutputModes"].is_null().then_some("NOAOM")
                    }
                    "uri" if object.contains_key("params") => {
                        text.is_some_and(|uri| !uri.contains(':')).then_some("URI")
                    }
                    _ => None,
                };
                codes.extend(found.map(str::to_owned));
                observe(member, dialect, codes);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| observe(item, dialect, codes)),
        _ => {}
    }
}

fn lacks_zone(text: &str) -> bool {
    text.parse::<Timestamp>().is_err() && Timestamp::parse_zone_optional(text).is_ok()
}

fn is_not_base64(text: &str) -> bool {
    Base64::from_text(text).decode().is_err()
}

/// Departures that only show beside the other events of the stream.
fn observe_neighbours(corpus: &Corpus, example: &Example, codes: &mut BTreeSet<String>) {
    let streams = corpus
        .exchanges
        .values()
        .flat_map(|exchange| &exchange.steps);
    for step in streams.filter(|step| step.events.contains(&example.id)) {
        let position = step
            .events
            .iter()
            .position(|id| *id == example.id)
            .unwrap_or_default();
        let open_ended = |id: &String| !corpus.example(id).printed.ends_with("\n\n");
        let joined_before = position > 0 && open_ended(&step.events[position - 1]);
        let joined_after = position + 1 < step.events.len() && open_ended(&example.id);
        if joined_before || joined_after {
            codes.insert("NOBLANK".to_owned());
        }
        let of_printed = |id: &String| -> Value {
            let json = printed::read(&corpus.example(id).printed).json;
            json.and_then(|json| serde_json::from_str(&json).ok())
                .unwrap_or_default()
        };
        let artifact_of = |id: &String| {
            of_printed(id)["artifact"]["artifactId"]
                .as_str()
                .map(str::to_owned)
        };
        let mine = of_printed(&example.id);
        // A chunk of an artifact of several chunks, none of which says `append`.
        let artifact = artifact_of(&example.id);
        if example.profile.is_some() && artifact.is_some() && mine["append"].is_null() {
            codes.insert("NOAPPEND".to_owned());
        }
    }
}
