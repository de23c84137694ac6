//! Validation of single documents: the rules that they break, with paths, and the repairs of a lenient
//! reader.
//!
//! ```
//! use a2a_conformance::lint::{Context, lint};
//!
//! let message = r#"{"role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "hi"}]}"#;
//! let [found] = &lint(message, &Context::default())[..] else { panic!() };
//! assert_eq!((&*found.kind, found.protocol_version), ("Message", Some("0.2")));
//! assert_eq!(found.findings[0].path, "$");
//! assert_eq!(found.findings[0].problem, r#""kind" is a required property"#);
//! assert_eq!(found.repairs[0].code, "NOKIND");
//! ```

mod checks;
mod departures;
mod detect;
mod kind;
mod marks;
mod nulls;
mod schema;
mod subject;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;

use a2a_types::ProtocolVersion;
use a2a_types::reading::{Mode, Violation};
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::checks::{is_host_and_port, is_utc};
use self::departures::accepted_departures;
use self::detect::{as_kind, detect};
pub use self::kind::DocumentKind;
pub(crate) use self::nulls::without_nulls;
use self::schema::violations_in;
pub(crate) use self::schema::{
    SchemaViolation, schema_violation, schema_violations, validate, violations,
};
use self::subject::limits;
pub(crate) use self::subject::{LintSubject, SubjectKind, envelope_of};
use crate::card;
use crate::documents::{StrictVerdict, printed_example};
use crate::requirement::Level;

/// Facts that the caller knows about a document.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Its version; else the one that it looks like.
    pub protocol_version: Option<ProtocolVersion>,
    /// The request that it answers; else any request that it could answer.
    pub request: Option<Value>,
    /// Its kind; else the one that it looks like.
    pub kind: Option<&'static DocumentKind>,
}

/// Judgement of a document; of a card of several versions, as one of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LintResult {
    /// The number of the event, from 1, if the document is one of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<usize>,
    /// Name of its kind, like `request of SendMessage` or `AgentCard`.
    pub kind: String,
    /// Its version.
    pub protocol_version: Option<&'static str>,
    /// Verdict of a strict reader.
    pub verdict: StrictVerdict,
    /// Findings of a strict reader; empty if it is accepted.
    pub findings: Vec<Finding>,
    /// Repairs of a lenient reader.
    pub repairs: Vec<AppliedRepair>,
    /// Reason why not even a lenient reader can use it.
    pub unusable: Option<String>,
}

/// A violation of a rule.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    /// The JSON path.
    pub path: String,
    /// Description of what was found there and what was expected.
    pub problem: String,
    /// Rule that is violated: `JSON`, `JSON-RPC`, a definition of the schema, a section like `1.0 §5.7`, a
    /// requirement by its id, or `words` for what only the typed readers find.
    pub rule: String,
}

/// A repair that a lenient reader makes.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct AppliedRepair {
    /// Code of the departure.
    pub code: String,
    /// Description of the departure.
    pub about: String,
    /// The JSON path, if it is at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Judges a text: one document, or the events of a stream, each. A card of several versions is
/// judged as one of each.
pub fn lint(text: &str, context: &Context) -> Vec<LintResult> {
    let blocks = events(text);
    if blocks.is_empty() {
        return lint_one(text, None, context);
    }
    let numbered = blocks.iter().enumerate();
    let mut results: Vec<_> = numbered
        .flat_map(|(index, block)| lint_one(block, Some(index + 1), context))
        .collect();
    refuse_after_message(&blocks, &mut results);
    results
}

/// Adds a finding to each event of 1.0 that comes with a message: a stream with a message has nothing else (§3.1.2).
fn refuse_after_message(blocks: &[String], results: &mut [LintResult]) {
    let is_message = |block: &String| {
        let event = event_data(block).and_then(|data| serde_json::from_str::<Value>(&data).ok());
        event.is_some_and(|event| {
            event.get("message").is_some() || event["result"].get("message").is_some()
        })
    };
    if !blocks.iter().any(is_message) {
        return;
    }
    let of_1_0 =
        |one: &&mut LintResult| one.protocol_version == Some(ProtocolVersion::V1_0.version());
    for result in results.iter_mut().filter(of_1_0).skip(1) {
        let problem = "a stream with a message has nothing else";
        result
            .findings
            .push(Finding::new("$", problem, "1.0 §3.1.2"));
        result.verdict = StrictVerdict::RejectByRule;
    }
}

/// Reason why a strict reader refuses an event that is printed over several lines.
const NOT_ONE_DOCUMENT: &str = "the event is not JSON: only its first line is data";

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

/// The events of a stream, if the text is one: blocks that begin with a field.
fn events(text: &str) -> Vec<String> {
    let field = |line: &str| {
        let (name, _) = line.split_once(':')?;
        let names = ["data", "event", "id", "retry"];
        names.into_iter().find(|known| *known == name.trim_end())
    };
    let is_field = |line: &str| field(line).is_some();
    let mut blocks: Vec<String> = Vec::new();
    let mut ended = true;
    let text = text.trim_start_matches('\u{feff}');
    for line in text.lines() {
        if line.trim().is_empty() {
            ended = true;
            continue;
        }
        match blocks.last_mut() {
            // A blank line within data that is printed over several lines does not end the event.
            Some(block) if !ended || !is_field(line) => {
                block.push_str(line);
                block.push('\n');
            }
            _ if line.starts_with(':') => continue,
            _ if is_field(line) => blocks.push(format!("{line}\n")),
            _ => return Vec::new(),
        }
        ended = false;
    }
    blocks.retain(|block| block.lines().any(|line| field(line) == Some("data")));
    blocks
}

fn lint_one(text: &str, event: Option<usize>, context: &Context) -> Vec<LintResult> {
    let data = event.and_then(|_| event_data(text));
    let printed = printed(data.as_deref().unwrap_or(text));
    let repaired = printed.json.as_deref();
    let value: Option<Value> = repaired.and_then(|json| serde_json::from_str(json).ok());
    let subjects = value.as_ref().map_or(Vec::new(), |value| {
        subjects_of(value, event.is_some(), context)
    });
    let subjects = match subjects.is_empty() {
        true => vec![None],
        false => subjects.into_iter().map(Some).collect(),
    };
    let judged = subjects.into_iter().map(|subject| {
        let (repairs, unusable) = lenient(&printed, value.as_ref(), subject.as_ref());
        let (verdict, findings) = judge(text, event.is_some(), subject.as_ref());
        LintResult {
            event,
            kind: subject
                .as_ref()
                .map_or("unknown".to_owned(), LintSubject::name),
            protocol_version: subject
                .as_ref()
                .map(|subject| subject.protocol_version.version()),
            verdict,
            findings,
            repairs,
            unusable,
        }
    });
    judged.collect()
}

/// Returns the text, repaired if it is not JSON.
fn printed(text: &str) -> printed_example::PrintedExample {
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => printed_example::PrintedExample {
            json: Some(text.to_owned()),
            text: text.to_owned(),
            repairs: BTreeSet::new(),
        },
        Err(_) => printed_example::read(text),
    }
}

/// Returns the repairs of a lenient reader, and the reason if it still cannot read the document.
fn lenient(
    printed: &printed_example::PrintedExample,
    value: Option<&Value>,
    subject: Option<&LintSubject>,
) -> (Vec<AppliedRepair>, Option<String>) {
    let mut repairs: Vec<AppliedRepair> =
        printed.repairs.iter().map(|code| textual(code)).collect();
    let mut unusable = None;
    match (subject, printed.json.as_deref()) {
        (Some(subject), Some(json)) => match subject.read(json, Mode::Lenient) {
            Ok(made) => repairs.extend(made.into_iter().map(|repair| AppliedRepair {
                code: repair.quirk.code().to_owned(),
                about: repair.quirk.about().to_owned(),
                path: Some(repair.path),
            })),
            Err(violation) => unusable = Some(violation.to_string()),
        },
        (None, Some(_)) => unusable = Some(UNKNOWN.to_owned()),
        (_, None) => unusable = Some("no repair makes JSON of it".to_owned()),
    }
    let mut seen = BTreeSet::new();
    if let (Some(subject), Some(value)) = (subject, value) {
        accepted_departures(value, subject.protocol_version, &mut seen);
    }
    let known = |code: &&String| !repairs.iter().any(|repair| repair.code == **code);
    let more: Vec<_> = seen
        .iter()
        .filter(known)
        .map(|code| textual(code))
        .collect();
    repairs.extend(more);
    (repairs, unusable)
}

const UNKNOWN: &str = "no document of A2A: expected one of the kinds that --as takes";

fn subjects_of(value: &Value, is_event: bool, context: &Context) -> Vec<LintSubject> {
    let mut subjects = match context.kind {
        Some(kind) => vec![as_kind(kind, value, context.protocol_version)],
        None => detect(value, is_event, context.protocol_version),
    };
    let Some(request) = &context.request else {
        return subjects;
    };
    for subject in &mut subjects {
        if !matches!(subject.kind, SubjectKind::Response | SubjectKind::Event) {
            continue;
        }
        subject.envelope = envelope_of(request, &request["id"], subject.protocol_version);
        let envelope = subject.envelope.as_ref();
        let streams = envelope.is_some_and(|envelope| envelope.operation.is_stream());
        // An error before the stream begins is an answer as to any other request.
        let is_event = streams && (is_event || value["error"].is_null());
        subject.kind = if is_event {
            SubjectKind::Event
        } else {
            SubjectKind::Response
        };
    }
    subjects
}

/// Judges as a strict reader: the text, the envelope, the schema, and the prose of the specification.
fn judge(
    text: &str,
    is_event: bool,
    subject: Option<&LintSubject>,
) -> (StrictVerdict, Vec<Finding>) {
    let at_root = |rule: &str, problem: &str| vec![Finding::new("$", problem, rule)];
    let data = match is_event {
        true => match event_data(text) {
            Some(data) => data,
            None => return (StrictVerdict::Reject, at_root("JSON", NOT_ONE_DOCUMENT)),
        },
        false => text.to_owned(),
    };
    if data.trim().is_empty() {
        return (StrictVerdict::Reject, at_root("JSON", "the text is empty"));
    }
    if data.starts_with('\u{feff}') {
        let problem = "a byte order mark before the document, which RFC 8259 §8.1 forbids";
        return (StrictVerdict::Reject, at_root("JSON", problem));
    }
    let value: Value = match serde_json::from_str(&data) {
        Ok(value) => value,
        Err(error) => return (StrictVerdict::Reject, at_root("JSON", &error.to_string())),
    };
    let Some(subject) = subject else {
        let problem = match value.is_array() {
            true => "expected one document, found an array: judge its items one by one",
            false => UNKNOWN,
        };
        return (StrictVerdict::RejectByRule, at_root("words", problem));
    };
    let mut findings = against_schema(&data, &value, subject);
    let verdict = match findings.is_empty() {
        true => StrictVerdict::RejectByRule,
        false => StrictVerdict::Reject,
    };
    findings.extend(against_words(&value, subject, &findings));
    if findings.is_empty()
        && let Err(Violation { path, problem }) = subject.read(&data, Mode::Strict)
    {
        findings.push(Finding::new(path, problem, "words"));
    }
    match findings.is_empty() {
        true => (StrictVerdict::Accept, findings),
        false => (verdict, findings),
    }
}

/// Returns the findings on the text and the envelope, and by the schema.
fn against_schema(text: &str, value: &Value, subject: &LintSubject) -> Vec<Finding> {
    let finding = |rule: &'static str| {
        move |Violation { path, problem }: Violation| Finding::new(path, problem, rule)
    };
    let mut findings = Vec::new();
    if let Err(fault) = a2a_jsonrpc::check(text.as_bytes(), &limits()) {
        let problem = fault.reason.to_string();
        findings.push(Finding::new(fault.path, problem, "JSON"));
    }
    let envelope = subject.envelope_violations(value);
    findings.extend(envelope.into_iter().map(finding("JSON-RPC")));
    if let Some((bundle, definition)) = subject.definition(value) {
        let readable = match subject.protocol_version {
            // In 0.1 optional members may be null, and in ProtoJSON null is absent.
            ProtocolVersion::V0_1 | ProtocolVersion::V1_0 => &readable(value),
            _ => value,
        };
        let mut found = violations_in(bundle, definition, readable).unwrap_or_else(|problem| {
            let path = "$".to_owned();
            vec![Violation { path, problem }]
        });
        if subject.kind == SubjectKind::Card {
            // The first releases of 0.2 did not have the member.
            let is_version =
                |one: &Violation| one.problem.contains("\"protocolVersion\" is a required");
            found.retain(|one| {
                subject.protocol_version != ProtocolVersion::V0_2 || !is_version(one)
            });
            for one in found
                .iter_mut()
                .filter(|_| subject.protocol_version == ProtocolVersion::V1_0)
            {
                if let Some(problem) = card::older_scheme(value, &one.path) {
                    one.problem = problem;
                }
            }
        }
        findings.extend(found.into_iter().map(finding(definition)));
    }
    findings
}

/// Returns a document without the members that are null; its envelope keeps them.
fn readable(value: &Value) -> Value {
    let mut readable = value.clone();
    match &mut readable {
        Value::Object(envelope) if envelope.contains_key("jsonrpc") => {
            for member in envelope.values_mut() {
                *member = without_nulls(member);
            }
            readable
        }
        _ => without_nulls(value),
    }
}

/// Returns the findings by the prose of the specification; problems of a card at known paths are left out.
fn against_words(value: &Value, subject: &LintSubject, known: &[Finding]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some((bundle, definition)) = subject.definition(value) {
        let found = words::violations(bundle, definition, value);
        findings.extend(
            found.into_iter().map(|(violation, section)| {
                Finding::new(violation.path, violation.problem, section)
            }),
        );
    }
    if subject.kind == SubjectKind::Card {
        let problems = card::problems(value, subject.protocol_version).into_iter();
        let musts = problems.filter(|problem| problem.level == Level::Must);
        for problem in musts {
            let is_said = |one: &Finding| one.path == problem.path;
            if !known.iter().chain(&findings).any(is_said) {
                let rule = problem.requirement;
                findings.push(Finding::new(problem.path, problem.problem, rule));
            }
        }
    }
    findings
}

impl Finding {
    fn new(path: impl Into<String>, problem: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
            rule: rule.into(),
        }
    }
}

fn textual(code: &str) -> AppliedRepair {
    let about = TEXTUAL.iter().find(|(known, _)| *known == code);
    AppliedRepair {
        code: code.to_owned(),
        about: about.map_or("", |(_, about)| about).to_owned(),
        path: None,
    }
}

/// Departures of the text, and departures that are understood as they are.
#[rustfmt::skip]
const TEXTUAL: &[(&str, &str)] = &[
    ("ARR", "Members of an object within the brackets of an array."),
    ("B64", "What should be base64 is not."),
    ("COMMENT", "A comment within JSON."),
    ("ELL", "An ellipsis where values belong."),
    ("GLUE", "Prose after the end of the document."),
    ("GUTTER", "Line numbers before the document."),
    ("NBSP", "Blanks that are not whitespace to JSON."),
    ("NOAOM", "A configuration without `acceptedOutputModes`, which the schema wants until 0.2.5."),
    ("NOTZ", "A time without a zone, read as UTC."),
    ("QUOTE", "A quotation mark within a string that is not escaped."),
    ("SSEML", "An event over several lines of which only the first says `data:`."),
    ("SSESP", "A blank before the colon of `data:`."),
    ("TRAIL", "A comma before a closing brace."),
    ("URI", "What should be a URI is not."),
];
