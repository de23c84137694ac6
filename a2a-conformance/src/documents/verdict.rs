//! Verdict of a strict reader on an example, and repairs of a lenient one.

use std::collections::BTreeSet;

use a2a_types::reading::{Deviation, Mode};
use a2a_types::{Base64, Dialect, Operation, Timestamp};
use serde_json::Value;

use crate::documents::corpus::{Corpus, Example, ExampleKind, StrictVerdict};
use crate::documents::printed_example;
use crate::lint::{self, LintSubject, envelope_of, violations};

/// A strict reader's judgement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Judgement {
    /// Accepted or refused.
    pub verdict: StrictVerdict,
    /// Reason for the refusal.
    pub reason: String,
}

impl Judgement {
    fn reject(reason: impl ToString) -> Self {
        Self {
            verdict: StrictVerdict::Reject,
            reason: reason.to_string(),
        }
    }

    fn by_rule(reason: impl ToString) -> Self {
        Self {
            verdict: StrictVerdict::RejectByRule,
            reason: reason.to_string(),
        }
    }
}

/// Reads an example strictly: as text, as a stream event, as a JSON-RPC message, by the schema of
/// its version, and by the rules of the prose.
pub fn judge(corpus: &Corpus, example: &Example) -> Judgement {
    let printed = printed_example::read(&example.printed);
    let text = match example.kind {
        ExampleKind::Head => return judge_head(example),
        ExampleKind::Event => match lint::event_data(&printed.text) {
            Some(data) => data,
            None => return Judgement::reject(lint::NOT_ONE_DOCUMENT),
        },
        _ => printed.text.clone(),
    };
    if serde_json::from_str::<Value>(&text).is_err() {
        return Judgement::reject("not JSON");
    }
    if example.kind == ExampleKind::Fragment {
        return Judgement::by_rule("a fragment is no message");
    }
    let Some(subject) = subject(corpus, example) else {
        return Judgement::by_rule("no request belongs to it");
    };
    let is_event = false;
    let (verdict, findings) = lint::judge(&text, is_event, Some(&subject));
    let reason = findings.first().map(|finding| {
        let lint::Finding {
            path,
            problem,
            rule,
        } = finding;
        format!("{path}: {problem} ({rule})")
    });
    Judgement {
        verdict,
        reason: reason.unwrap_or_default(),
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
            verdict: StrictVerdict::Accept,
            reason: String::new(),
        },
    }
}

/// Returns the operation of a request, or `None` if its method is unknown.
pub fn operation_of(request: &Example) -> Option<Operation> {
    let method = request.corrected_value()?["method"].as_str()?.to_owned();
    Dialect::of_method(&method).map(|method| method.operation)
}

/// Validates a value by a definition of our schema.
pub fn validate(dialect: Dialect, definition: &'static str, value: &Value) -> Result<(), String> {
    match violations(dialect, definition, value)?.first() {
        None => Ok(()),
        Some(violation) => Err(format!("{violation} ({definition})")),
    }
}

/// Returns the subject that an example is read as, or `None` if it is a fragment or a head, or its request is
/// unknown.
fn subject(corpus: &Corpus, example: &Example) -> Option<LintSubject> {
    let kind = match example.kind {
        ExampleKind::Request => lint::SubjectKind::Request(operation_of(example)?),
        ExampleKind::Response => lint::SubjectKind::Response,
        ExampleKind::Event => lint::SubjectKind::Event,
        ExampleKind::Card => lint::SubjectKind::Card,
        ExampleKind::Webhook => lint::SubjectKind::Object("Task"),
        ExampleKind::Fragment | ExampleKind::Head => return None,
    };
    let mut subject = LintSubject::new(kind, example.dialect);
    if matches!(kind, lint::SubjectKind::Response | lint::SubjectKind::Event) {
        let (request, id) = answered(corpus, example)?;
        subject.envelope = envelope_of(&request, &id, example.dialect);
    }
    Some(subject)
}

/// The request that an example answers, and the id that was sent with it.
pub fn answered(corpus: &Corpus, answer: &Example) -> Option<(Value, Value)> {
    let request = corpus.request_of(&answer.id)?;
    let step = corpus
        .exchanges
        .values()
        .flat_map(|exchange| &exchange.steps)
        .find(|step| {
            step.answer.as_ref() == Some(&answer.id) || step.events.contains(&answer.id)
        })?;
    let printed: Value = printed_example::read(&request.printed)
        .json
        .and_then(|json| serde_json::from_str(&json).ok())?;
    let id = step.id.clone().unwrap_or_else(|| printed["id"].clone());
    let mut request = request.corrected_value()?;
    request["id"] = id.clone();
    Some((request, id))
}

/// Returns the codes of what a lenient reader repairs. Errors: it cannot be read at all.
pub fn repairs_of(corpus: &Corpus, example: &Example) -> Result<BTreeSet<String>, String> {
    let printed = printed_example::read(&example.printed);
    let mut codes: BTreeSet<String> = printed
        .repairs
        .iter()
        .map(|code| (*code).to_owned())
        .collect();
    if example.kind == ExampleKind::Fragment {
        codes.insert("FRAG".to_owned());
    }
    let Some(json) = printed.json else {
        return Ok(codes);
    };
    let value: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    accepted_departures(&value, example.dialect, &mut codes);
    if let Some(subject) = subject(corpus, example) {
        let repairs = subject.read(&json, Mode::Lenient);
        let repairs: Vec<Deviation> = repairs.map_err(|violation| violation.to_string())?;
        codes.extend(repairs.iter().map(|repair| repair.quirk.code().to_owned()));
    }
    accepted_departures_in_stream(corpus, example, &mut codes);
    Ok(codes)
}

/// Departures that need no repair: they are understood as they are.
pub(crate) fn accepted_departures(value: &Value, dialect: Dialect, codes: &mut BTreeSet<String>) {
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
                accepted_departures(member, dialect, codes);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| accepted_departures(item, dialect, codes)),
        _ => {}
    }
}

fn lacks_zone(text: &str) -> bool {
    text.parse::<Timestamp>().is_err() && Timestamp::parse_zone_optional(text).is_ok()
}

fn is_not_base64(text: &str) -> bool {
    Base64::from_text(text).decode().is_err()
}

/// Adds the departures that only show in comparison with the other events of the stream.
fn accepted_departures_in_stream(corpus: &Corpus, example: &Example, codes: &mut BTreeSet<String>) {
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
            let json = printed_example::read(&corpus.example(id).printed).json;
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
