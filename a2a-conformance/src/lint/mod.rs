//! Judges single documents: is this legal A2A, and if not, where and by which rule; and what a
//! lenient reader has to mend to understand it.
//!
//! ```
//! use a2a_conformance::lint::{Context, lint};
//!
//! let message = r#"{"role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "hi"}]}"#;
//! let [found] = &lint(message, &Context::default())[..] else { panic!() };
//! assert_eq!((&*found.kind, found.dialect), ("Message", Some("0.2")));
//! assert_eq!(found.findings[0].path, "$");
//! assert_eq!(found.findings[0].problem, r#""kind" is a required property"#);
//! assert_eq!(found.repairs[0].code, "NOKIND");
//! ```

mod detect;
mod schema;
mod subject;

use std::collections::BTreeSet;

use a2a_types::Dialect;
use a2a_types::reading::{Mode, Violation};
use serde::Serialize;
use serde_json::Value;

use self::detect::detect;
pub(crate) use self::schema::{Misfit, held_against, misfit, misfits, violations};
pub(crate) use self::subject::{Kind, Subject, envelope_of};
use crate::documents::{Strict, observe, printed};

/// What is known beside a document.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Its generation; else the one that it looks like.
    pub dialect: Option<Dialect>,
    /// The request that it answers; else whatever request could be answered so.
    pub request: Option<Value>,
}

/// What is said of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Linted {
    /// What it is, like `request of SendMessage` or `AgentCard`.
    pub kind: String,
    /// Its generation.
    pub dialect: Option<&'static str>,
    /// What a strict reader says.
    pub verdict: Strict,
    /// What is wrong; nothing if it is accepted.
    pub findings: Vec<Finding>,
    /// What a lenient reader mends.
    pub repairs: Vec<Mended>,
    /// Why not even a lenient reader can use it.
    pub unusable: Option<String>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    /// The JSON path.
    pub path: String,
    /// What was found there and what was expected.
    pub problem: String,
    /// What it is against: `JSON`, `JSON-RPC`, a definition of the schema, or `words`, those of the
    /// specification.
    pub rule: String,
}

/// Something that a lenient reader mends.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Mended {
    /// Which departure, by its code.
    pub code: String,
    /// What the departure is.
    pub about: String,
    /// The JSON path, if it is at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Judges a text: one document, or the events of a stream, each.
pub fn lint(text: &str, context: &Context) -> Vec<Linted> {
    let blocks = events(text);
    match blocks.is_empty() {
        true => vec![lint_one(text, false, context)],
        false => blocks
            .iter()
            .map(|block| lint_one(block, true, context))
            .collect(),
    }
}

/// Why a strict reader refuses an event that is printed over several lines.
pub(crate) const NOT_ONE_DOCUMENT: &str = "the event is no JSON: only its first line is data";

/// The data of a Server-Sent Event by the letter: fields are lines, the field is named `data`.
pub(crate) fn event_data(text: &str) -> Option<String> {
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
            // A blank line within data that is printed over several lines ends nothing.
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

fn lint_one(text: &str, is_event: bool, context: &Context) -> Linted {
    let printed = printed::read(text);
    let mended = printed.json.as_deref();
    let mended: Option<Value> = mended.and_then(|json| serde_json::from_str(json).ok());
    let subject = mended
        .as_ref()
        .and_then(|value| subject_of(value, is_event, context));
    let mut repairs: Vec<Mended> = printed.repairs.iter().map(|code| textual(code)).collect();
    let mut unusable = None;
    match (&subject, printed.json.as_deref()) {
        (Some(subject), Some(json)) => match subject.read(json, Mode::Lenient) {
            Ok(made) => repairs.extend(made.into_iter().map(|repair| Mended {
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
    if let (Some(subject), Some(value)) = (&subject, &mended) {
        observe(value, subject.dialect, &mut seen);
    }
    repairs.extend(seen.iter().map(|code| textual(code)));
    let (verdict, findings) = judge(&printed.text, is_event, subject.as_ref());
    Linted {
        kind: subject.as_ref().map_or("unknown".to_owned(), Subject::name),
        dialect: subject.as_ref().map(|subject| subject.dialect.version()),
        verdict,
        findings,
        repairs,
        unusable,
    }
}

const UNKNOWN: &str = "no document of A2A: expected a request, an answer, an event, a card, a task, \
    a message, or a piece of one of them";

fn subject_of(value: &Value, is_event: bool, context: &Context) -> Option<Subject> {
    let mut subject = detect(value, is_event, context.dialect)?;
    if let Some(request) = &context.request
        && matches!(subject.kind, Kind::Response | Kind::Event)
    {
        subject.envelope = envelope_of(request, &request["id"], subject.dialect);
        let streams = subject
            .envelope
            .as_ref()
            .is_some_and(|envelope| envelope.operation.is_stream());
        subject.kind = if streams { Kind::Event } else { Kind::Response };
    }
    Some(subject)
}

/// What a strict reader says: of the text, of the envelope, by the schema, and by the words.
fn judge(text: &str, is_event: bool, subject: Option<&Subject>) -> (Strict, Vec<Finding>) {
    let finding = |rule: &str, Violation { path, problem }: Violation| Finding {
        path,
        problem,
        rule: rule.to_owned(),
    };
    let at_root = |rule: &str, problem: &str| Finding {
        path: "$".to_owned(),
        problem: problem.to_owned(),
        rule: rule.to_owned(),
    };
    let data = match is_event {
        true => match event_data(text) {
            Some(data) => data,
            None => return (Strict::Reject, vec![at_root("JSON", NOT_ONE_DOCUMENT)]),
        },
        false => text.to_owned(),
    };
    let value: Value = match serde_json::from_str(&data) {
        Ok(value) => value,
        Err(error) => return (Strict::Reject, vec![at_root("JSON", &error.to_string())]),
    };
    let Some(subject) = subject else {
        return (Strict::RejectByRule, vec![at_root("words", UNKNOWN)]);
    };
    let mut findings = Vec::new();
    if let Err(violation) = subject.check_envelope(&value) {
        findings.push(finding("JSON-RPC", violation));
    }
    if let Some(definition) = subject.definition() {
        let found = violations(subject.dialect, definition, &value).unwrap_or_default();
        findings.extend(
            found
                .into_iter()
                .map(|violation| finding(definition, violation)),
        );
    }
    if !findings.is_empty() {
        return (Strict::Reject, findings);
    }
    match subject.read(&data, Mode::Strict) {
        Ok(_) => (Strict::Accept, findings),
        Err(violation) => (Strict::RejectByRule, vec![finding("words", violation)]),
    }
}

fn textual(code: &str) -> Mended {
    let about = TEXTUAL.iter().find(|(known, _)| *known == code);
    Mended {
        code: code.to_owned(),
        about: about.map_or("", |(_, about)| about).to_owned(),
        path: None,
    }
}

/// Departures of the text, and those that are understood as they are.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{self, Corpus, answered};

    /// The verdicts are those of the inventory that the corpus was made from.
    #[test]
    fn every_example_is_judged_as_in_the_inventory() {
        let corpus = Corpus::embedded().unwrap();
        let mut judged = 0;
        for example in corpus.messages() {
            let context = Context {
                dialect: Some(example.dialect),
                request: answered(&corpus, example).map(|(request, _)| request),
            };
            let found = lint(&example.printed, &context);
            let [found] = &found[..] else {
                panic!("{}: {} documents", example.id, found.len());
            };
            assert_eq!(found.verdict, example.strict, "{}: {found:#?}", example.id);
            let accepted = found.verdict == Strict::Accept;
            assert_eq!(found.findings.is_empty(), accepted, "{}", example.id);
            judged += 1;
        }
        assert_eq!(judged, 109);
    }

    /// What an example is shows in the example: of the same family, and with the same verdict, also
    /// if nothing is told.
    #[test]
    fn every_example_is_recognised() {
        let corpus = Corpus::embedded().unwrap();
        for example in corpus.messages() {
            let request = answered(&corpus, example).map(|(request, _)| request);
            let dialect = Some(example.dialect);
            let told = &lint(&example.printed, &Context { dialect, request })[0];
            let alone = &lint(&example.printed, &Context::default())[0];
            let family = |found: &Linted| found.kind.split(' ').next().map(str::to_owned);
            assert_eq!(family(alone), family(told), "{}", example.id);
            // 0.1 to 0.3 spell some requests alike; whoever asks so is taken for the latest.
            let asks_alike = example.kind == documents::Kind::Request
                && (alone.dialect, told.dialect) == (Some("0.3"), Some("0.1"));
            assert!(
                asks_alike || alone.dialect == told.dialect,
                "{}",
                example.id
            );
            // That an answer is to another request shows only beside the request.
            let is_mismatch = ["IDMIS", "IDLESS"]
                .iter()
                .any(|code| example.quirks.contains(*code));
            let is_same = alone.verdict == told.verdict;
            assert!(is_same || is_mismatch, "{}: {alone:#?}", example.id);
        }
    }

    #[test]
    fn streams_are_judged_event_by_event() {
        let event = |state: &str| {
            format!(
                "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"statusUpdate\":\
                 {{\"taskId\":\"t\",\"contextId\":\"c\",\"status\":{{\"state\":\"{state}\"}}}}}}}}\n\n"
            )
        };
        let bare = "data: {\"task\": {\"id\": \"t\", \"status\": {\"state\": \"TASK_STATE_WORKING\"}}}\n\n";
        let stream = [
            ": ping\n\n",
            &event("TASK_STATE_WORKING"),
            &event("done"),
            bare,
        ]
        .concat();
        let found = lint(&stream, &Context::default());
        let verdicts: Vec<_> = found.iter().map(|one| one.verdict).collect();
        assert_eq!(
            verdicts,
            [Strict::Accept, Strict::Reject, Strict::Accept],
            "{found:#?}"
        );
        assert_eq!(
            found[1].findings[0].path,
            "$.result.statusUpdate.status.state"
        );
        assert_eq!(found[2].kind, "event of a stream over HTTP+JSON");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_rule() {
        let card = r#"{"name": "n", "description": "", "version": "1", "capabilities": {}, "supportedInterfaces": [
            {"url": "http://localhost", "protocolBinding": "JSONRPC"}], "defaultInputModes": [], "defaultOutputModes": [],
            "skills": [{"id": "s", "name": "s", "description": "s", "tags": "t"}]}"#;
        let found = &lint(card, &Context::default())[0];
        let told: Vec<_> = found
            .findings
            .iter()
            .map(|finding| (&*finding.path, &*finding.rule))
            .collect();
        let expected = [
            ("$.skills[0].tags", "AgentCard"),
            ("$.supportedInterfaces[0]", "AgentCard"),
        ];
        assert_eq!(told, expected, "{found:#?}");
        assert!(found.unusable.is_some());
        let unknown = &lint("{\"a\": 1}", &Context::default())[0];
        assert_eq!(
            (&*unknown.kind, unknown.verdict),
            ("unknown", Strict::RejectByRule)
        );
        let text = &lint("id: 7\nname: hello\n", &Context::default())[0];
        assert_eq!(
            (text.verdict, &*text.findings[0].rule),
            (Strict::Reject, "JSON")
        );
    }
}
