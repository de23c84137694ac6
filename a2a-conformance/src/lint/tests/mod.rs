//! Verdicts of documents.

mod kinds;
mod words;

use a2a_types::Operation;
use serde_json::json;

use super::*;
use crate::documents::{self, Corpus};

/// The verdicts equal the verdicts of the inventory that the corpus was made from.
#[test]
fn every_example_is_judged_as_in_the_inventory() {
    let corpus = Corpus::embedded().unwrap();
    let mut judged = 0;
    for example in corpus.messages() {
        let context = Context {
            protocol_version: Some(example.protocol_version),
            request: corpus.answered(example),
            kind: None,
        };
        // Text that the extraction glued to an example is not part of it.
        let found = lint(&printed_example::read(&example.printed).text, &context);
        let [found] = &found[..] else {
            panic!("{}: {} documents", example.id, found.len());
        };
        assert_eq!(found.verdict, example.strict, "{}: {found:#?}", example.id);
        let accepted = found.verdict == StrictVerdict::Accept;
        assert_eq!(found.findings.is_empty(), accepted, "{}", example.id);
        judged += 1;
    }
    assert_eq!(judged, 109);
}

/// Examples are recognised without a context, in the same family and with the same verdict.
#[test]
fn every_example_is_recognised() {
    let corpus = Corpus::embedded().unwrap();
    for example in corpus.messages() {
        let request = corpus.answered(example);
        let protocol_version = Some(example.protocol_version);
        let text = printed_example::read(&example.printed).text;
        let context = Context {
            protocol_version,
            request,
            kind: None,
        };
        let describe = &lint(&text, &context)[0];
        let alone = &lint(&text, &Context::default())[0];
        let family = |found: &LintResult| found.kind.split(' ').next().map(str::to_owned);
        assert_eq!(family(alone), family(describe), "{}", example.id);
        // 0.1 to 0.3 spell some requests alike; such a request is taken for one of 0.3.
        let asks_alike = example.kind == documents::ExampleKind::Request
            && (alone.protocol_version, describe.protocol_version) == (Some("0.3"), Some("0.1"));
        assert!(
            asks_alike || alone.protocol_version == describe.protocol_version,
            "{}",
            example.id
        );
        // Only the request shows that an answer is to another one.
        let is_mismatch = ["IDMIS", "IDLESS"]
            .iter()
            .any(|code| example.quirks.contains(*code));
        let is_same = alone.verdict == describe.verdict;
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
    let bare =
        "data: {\"task\": {\"id\": \"t\", \"status\": {\"state\": \"TASK_STATE_WORKING\"}}}\n\n";
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
        [
            StrictVerdict::Accept,
            StrictVerdict::Reject,
            StrictVerdict::Accept
        ],
        "{found:#?}"
    );
    assert_eq!(
        found[1].findings[0].path,
        "$.result.statusUpdate.status.state"
    );
    assert_eq!(found[2].kind, "event of a stream over HTTP+JSON");
}

#[test]
fn findings_have_path_and_rule() {
    let card = r#"{"name": "n", "description": "", "version": "1", "capabilities": {}, "supportedInterfaces": [
        {"url": "http://localhost", "protocolBinding": "JSONRPC"}], "defaultInputModes": [], "defaultOutputModes": [],
        "skills": [{"id": "s", "name": "s", "description": "s", "tags": "t"}]}"#;
    let found = &lint(card, &Context::default())[0];
    let describe: Vec<_> = found
        .findings
        .iter()
        .map(|finding| (&*finding.path, &*finding.rule))
        .collect();
    let expected = [
        ("$.skills[0].tags", "AgentCard"),
        ("$.supportedInterfaces[0]", "AgentCard"),
    ];
    assert_eq!(describe, expected, "{found:#?}");
    assert!(found.unusable.is_some());
    let unknown = &lint("{\"a\": 1}", &Context::default())[0];
    assert_eq!(
        (&*unknown.kind, unknown.verdict),
        ("unknown", StrictVerdict::RejectByRule)
    );
    let text = &lint("id: 7\nname: hello\n", &Context::default())[0];
    assert_eq!(
        (text.verdict, &*text.findings[0].rule),
        (StrictVerdict::Reject, "JSON")
    );
}

/// Checks the verdict of a document, and the rules that it breaks, as `path rule`.
#[track_caller]
fn check(context: &Context, document: &Value, refused: &[&str]) {
    let found = lint(&document.to_string(), context);
    let [found] = &found[..] else {
        panic!("{document}: {} documents", found.len());
    };
    let describe: Vec<_> = found
        .findings
        .iter()
        .map(|Finding { path, rule, .. }| format!("{path} {rule}"))
        .collect();
    assert_eq!(describe, refused, "{document}: {found:#?}");
    assert_eq!(found.verdict == StrictVerdict::Accept, refused.is_empty());
}

/// Checks a document of 1.0 without a hint of its kind or version.
#[track_caller]
fn check_1_0(document: &Value, kind: &str, refused: &[&str]) {
    let found = &lint(&document.to_string(), &Context::default())[0];
    let recognised = (&*found.kind, found.protocol_version);
    assert_eq!(recognised, (kind, Some("1.0")), "{document}");
    check(&Context::default(), document, refused);
    let protocol_version = Some(ProtocolVersion::V1_0);
    let describe = Context {
        protocol_version,
        ..Context::default()
    };
    check(&describe, document, refused);
}

fn of_task(member: &str, value: Value) -> Value {
    let mut task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
    task[member] = value;
    task
}

#[test]
fn the_place_of_grpc_is_a_host_and_a_port() {
    let card = |place: &str| {
        let card = a2a_types::AgentCard::new("Joker", "Tells jokes").at("http://127.0.0.1:8080/");
        let mut card = json!(card);
        let grpc = json!({"url": place, "protocolBinding": "GRPC", "protocolVersion": "1.0"});
        card["supportedInterfaces"]
            .as_array_mut()
            .unwrap()
            .push(grpc);
        lint(&card.to_string(), &Context::default()).remove(0)
    };
    let found = card("127.0.0.1:8080");
    assert_eq!(found.verdict, StrictVerdict::Accept, "{found:#?}");
    assert_eq!(card("somewhere").verdict, StrictVerdict::RejectByRule);
}
