//! Strict and lenient reading of each printed text, compared with the inventory.

use std::collections::BTreeSet;

use a2a_jsonrpc::Id;
use a2a_transport::binding::ReadOptions;
use a2a_transport::binding::jsonrpc::{read_call, write_call};
use a2a_types::reading::{Hints, Mode, read};
use a2a_types::{ProtocolVersion, Task, v0_2};
use serde_json::{Value, json};

use crate::documents::compare::compare_exactly;
use crate::documents::corpus::{Corpus, Example, ExampleKind, Head, LenientVerdict, StrictVerdict};
use crate::documents::printed_example::{self, PrintedExample};
use crate::lint::{self, Context, LintResult};

/// Codes of departures that a person saw in a document and no program can detect.
const OBSERVED: &[&str] = &["LABEL", "STATE"];

/// Codes of departures that are not looked for in a text that stands for others.
const IN_TEMPLATES: &[&str] = &["NOKIND", "NOMSGID", "URI"];

/// Reads an example, and returns the problems.
pub(super) fn replay(corpus: &Corpus, example: &Example) -> Vec<String> {
    let id = &example.id;
    if let Some(head) = &example.head {
        let wrong = check_verdict(example, verdict_on(head), "by the length of its body");
        return wrong.into_iter().collect();
    }
    let printed = printed_example::read(&example.printed);
    let context = Context {
        protocol_version: Some(example.protocol_version),
        request: corpus.answered(example),
        kind: None,
    };
    let found = lint::lint(&printed.text, &context);
    let [found] = &found[..] else {
        return vec![format!(
            "{id}: expected one document, found {}",
            found.len()
        )];
    };
    let reason = found.findings.first().map(|finding| {
        let lint::Finding {
            path,
            problem,
            rule,
        } = finding;
        format!("{path}: {problem} ({rule})")
    });
    let mut problems = Vec::new();
    problems.extend(check_verdict(
        example,
        found.verdict,
        &reason.unwrap_or_default(),
    ));
    problems.extend(check_repairs(corpus, example, &printed, found));
    match (&found.unusable, example.lenient) {
        (Some(problem), LenientVerdict::Usable) => {
            problems.push(format!("{id}: not read leniently: {problem}"));
        }
        (None, LenientVerdict::Unusable) => problems.push(format!("{id}: usable leniently: true")),
        _ => {}
    }
    if let Some(corrected) = &example.corrected
        && let Err(error) = serde_json::from_str::<Value>(corrected)
    {
        problems.push(format!("{id}: the corrected text is not JSON: {error}"));
    }
    problems.extend(check_meaning(example, &printed));
    problems
}

fn check_verdict(example: &Example, found: StrictVerdict, reason: &str) -> Option<String> {
    let Example { id, strict, .. } = example;
    let problem = format!("{id}: read strictly: expected {strict:?}, found {found:?} {reason}");
    (found != *strict).then_some(problem)
}

/// Returns the verdict on an HTTP head: a request with a body has to say how long it is.
fn verdict_on(head: &Head) -> StrictVerdict {
    let has = |name: &str| {
        head.headers
            .keys()
            .any(|header| header.eq_ignore_ascii_case(name))
    };
    let posts = head.method.as_deref() == Some("POST");
    // A head of a webhook's POST lists only the headers that matter there.
    let whole = has("host");
    match posts && whole && !has("content-length") && !has("transfer-encoding") {
        true => StrictVerdict::RejectByRule,
        false => StrictVerdict::Accept,
    }
}

fn check_repairs(
    corpus: &Corpus,
    example: &Example,
    printed: &PrintedExample,
    linted: &LintResult,
) -> Option<String> {
    let mut found = departures_in_stream(corpus, example);
    found.extend(&printed.repairs);
    found.extend(linted.repairs.iter().map(|repair| repair.code.as_str()));
    if example.kind == ExampleKind::Fragment {
        found.insert("FRAG");
    }
    let mut expected: BTreeSet<&str> = example.quirks.iter().map(String::as_str).collect();
    expected.retain(|code| !OBSERVED.contains(code));
    if example.lenient == LenientVerdict::Unusable {
        expected.retain(|code| found.contains(code) || !IN_TEMPLATES.contains(code));
    }
    let problem = format!(
        "{}: repairs: expected {expected:?}, found {found:?}",
        example.id
    );
    (found != expected).then_some(problem)
}

/// Returns the departures that only show in comparison with the other events of the stream.
fn departures_in_stream(corpus: &Corpus, example: &Example) -> BTreeSet<&'static str> {
    let mut codes = BTreeSet::new();
    let is_joined = |pair: &[String]| {
        let open_ended = !corpus.example(&pair[0]).printed.ends_with("\n\n");
        open_ended && pair.contains(&example.id)
    };
    let streams = corpus.steps().map(|step| &step.events);
    for events in streams.filter(|events| events.contains(&example.id)) {
        if events.windows(2).any(is_joined) {
            codes.insert("NOBLANK");
        }
        let event = printed_example::read(&example.printed).json;
        let event: Value = event
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_default();
        // A chunk of an artifact of several chunks, none of which says `append`.
        let is_chunk = event["artifact"]["artifactId"].is_string();
        if example.profile.is_some() && is_chunk && event["append"].is_null() {
            codes.insert("NOAPPEND");
        }
    }
    codes
}

/// Compares what a lenient reader understands of a request or a webhook's body with its meaning. The meaning
/// of answers is compared where they are played to the client.
fn check_meaning(example: &Example, printed: &PrintedExample) -> Vec<String> {
    let Some(json) = &printed.json else {
        return Vec::new();
    };
    let understood = match example.kind {
        ExampleKind::Request => meaning_of_request(example, json),
        ExampleKind::Webhook => {
            let task = read::<v0_2::Task>(json, Mode::Lenient, &Hints::at("$"));
            task.map(|task| json!({"task": Task::from(task.value)}))
                .map_err(|violation| violation.to_string())
        }
        _ => return Vec::new(),
    };
    match understood {
        Ok(understood) => {
            let label = format!("{}: understood", example.id);
            compare_exactly(&label, &example.canonical_value(), &understood)
        }
        Err(problem) => vec![format!("{}: not understood: {problem}", example.id)],
    }
}

fn meaning_of_request(example: &Example, json: &str) -> Result<Value, String> {
    let mut reading = ReadOptions::default();
    reading.prefer = Some(example.protocol_version);
    let question =
        read_call(json.as_bytes(), None, &reading).map_err(|refused| refused.error.message)?;
    let written = write_call(question.request, ProtocolVersion::V1_0, &Id::Null)
        .map_err(|error| error.to_string())?
        .0;
    let written: Value = serde_json::from_slice(&written).map_err(|error| error.to_string())?;
    Ok(json!({"operation": written["method"], "params": written["params"]}))
}
