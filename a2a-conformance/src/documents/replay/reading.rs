//! Strict and lenient reading of each printed text, compared with the inventory.

use std::collections::BTreeSet;

use a2a_jsonrpc::Id;
use a2a_transport::binding::ReadOptions;
use a2a_transport::binding::jsonrpc::{read_call, write_call};
use a2a_types::reading::{Hints, Mode, read};
use a2a_types::{Dialect, Task, v0_2};
use serde_json::{Value, json};

use super::result::{Direction, ReplayResult};
use crate::documents::compare::{Bindings, Rules, compare};
use crate::documents::corpus::{Corpus, Example, ExampleKind, LenientVerdict};
use crate::documents::printed_example;
use crate::documents::verdict::{judge, repairs_of};

/// Codes of what a person saw in a document and no program can find.
const OBSERVED: &[&str] = &["LABEL", "STATE"];

pub(super) fn replay(corpus: &Corpus, example: &Example) -> ReplayResult {
    let mut problems = Vec::new();
    let judgement = judge(corpus, example);
    if judgement.verdict != example.strict {
        problems.push(format!(
            "{}: read strictly: expected {:?}, found {:?} {}",
            example.id, example.strict, judgement.verdict, judgement.reason
        ));
    }
    if example.kind != ExampleKind::Head {
        problems.extend(check_repairs(corpus, example));
        problems.extend(check_meaning(example));
    }
    ReplayResult {
        document: example.source.document.clone(),
        id: example.id.clone(),
        direction: Direction::Read,
        problems,
    }
}

fn check_repairs(corpus: &Corpus, example: &Example) -> Vec<String> {
    let mut problems = Vec::new();
    match repairs_of(corpus, example) {
        Err(problem) => problems.push(format!("{}: not read leniently: {problem}", example.id)),
        Ok(found) => {
            let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
            let mut expected: BTreeSet<&str> = example.quirks.iter().map(String::as_str).collect();
            expected.retain(|code| !OBSERVED.contains(code));
            if example.lenient == LenientVerdict::Unusable {
                // A template: what is inside the parts that stand for something is not looked for.
                expected
                    .retain(|code| found.contains(code) || !["NOKIND", "NOMSGID"].contains(code));
            }
            if found != expected {
                problems.push(format!(
                    "{}: repairs: expected {expected:?}, found {found:?}",
                    example.id
                ));
            }
        }
    }
    let usable = printed_example::read(&example.printed).json.is_some()
        && example.kind != ExampleKind::Fragment;
    if usable != (example.lenient == LenientVerdict::Usable) {
        problems.push(format!("{}: usable leniently: {usable}", example.id));
    }
    if let Some(corrected) = &example.corrected
        && let Err(error) = serde_json::from_str::<Value>(corrected)
    {
        problems.push(format!(
            "{}: the corrected text is no JSON: {error}",
            example.id
        ));
    }
    problems
}

/// Compares what a lenient reader understands of a request or a webhook's body with its meaning. The meaning
/// of answers is compared where they are played to the client.
fn check_meaning(example: &Example) -> Vec<String> {
    let json = printed_example::read(&example.printed)
        .json
        .filter(|_| example.kind != ExampleKind::Fragment);
    let Some((json, expected)) = json.zip(example.canonical_value()) else {
        return Vec::new();
    };
    let understood = match example.kind {
        ExampleKind::Request => meaning_of_request(example, &json),
        ExampleKind::Webhook => {
            let task = read::<v0_2::Task>(&json, Mode::Lenient, &Hints::at("$"));
            task.map(|task| json!({"task": Task::from(task.value)}))
                .map_err(|violation| violation.to_string())
        }
        _ => return Vec::new(),
    };
    let understood = match understood {
        Ok(understood) => understood,
        Err(problem) => return vec![format!("{}: not understood: {problem}", example.id)],
    };
    let mut bindings = Bindings::default();
    bindings.keep_ids_of(&expected);
    let rules = Rules {
        exact_times: true,
        ..Rules::default()
    };
    let differences = compare(&expected, &understood, &mut bindings, rules);
    differences
        .into_iter()
        .map(|difference| format!("{}: understood: {difference}", example.id))
        .collect()
}

fn meaning_of_request(example: &Example, json: &str) -> Result<Value, String> {
    let mut reading = ReadOptions::default();
    reading.prefer = Some(example.dialect);
    let question =
        read_call(json.as_bytes(), None, &reading).map_err(|refused| refused.error.message)?;
    let written = write_call(question.request, Dialect::V1_0, &Id::Null)
        .map_err(|error| error.to_string())?
        .0;
    let written: Value = serde_json::from_slice(&written).map_err(|error| error.to_string())?;
    Ok(json!({"operation": written["method"], "params": written["params"]}))
}
