//! Redaction of secrets: none is in a report, wherever in an exchange it was.

use a2a_conformance::record::Redaction;
use a2a_conformance::record::{CheckResult, Evidence, HttpMessage, Mismatch, Run, Verdict};
use a2a_conformance::report::{Changes, Form, print};
use regex::Regex;

use super::sample::{self, push};

/// A secret for each place.
const HEADERS: &[(&str, &str)] = &[
    ("Authorization", "Bearer canary-1"),
    ("proxy-authorization", "Basic canary-2"),
    ("Cookie", "session=canary-3"),
    ("Set-Cookie", "session=canary-4; HttpOnly"),
    ("X-API-Key", "canary-5"),
    ("X-A2A-Notification-Token", "canary-6"),
    ("X-Own", "canary-7"),
    ("Location", "https://user:canary-8@host/?token=canary-9&x=1"),
    ("X-Access-Token", "canary-24"),
    ("DPoP", "canary-25"),
    ("X-Amz-Security-Token", "canary-26"),
    ("Webhook-Signature", "v1,canary-27"),
    ("X-Echo", "you sent canary-10-that-the-user-gave"),
];

const BODY: &str = r#"{
    "pushNotificationConfig": {"url": "https://h/?access_token=canary-11", "token": "canary-12",
        "authentication": {"schemes": ["Bearer"], "credentials": "canary-13"}},
    "error": "refused {\"token\": \"canary-14\"}", "note": "secret-canary-15", "client_secret": "canary-16"
}"#;

fn run() -> Run {
    let redaction = Redaction::default()
        .header("x-own")
        .secret("canary-10-that-the-user-gave")
        .pattern(Regex::new("secret-[a-z]+-[0-9]+").unwrap());
    let half = |start: &str| HttpMessage {
        start: start.to_owned(),
        headers: HEADERS
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        body: BODY.to_owned(),
        events: vec![(1, BODY.to_owned())],
        ..HttpMessage::default()
    };
    let evidence = Evidence {
        step: 1,
        request: half("POST https://me:canary-17@host/?api_key=canary-18"),
        response: Some(half("200 OK")),
        failure: Some("no answer from https://me:canary-19@host/".to_owned()),
        ..Evidence::default()
    };
    let mismatch = Mismatch {
        place: "step 1: $.note".to_owned(),
        expected: "\"token\": \"canary-20\"".to_owned(),
        found: "Authorization was Bearer canary-21-canary-21".to_owned(),
        evidence: Some(0),
        ..Mismatch::default()
    };
    let mut run = sample::empty();
    run.target.place = "https://me:canary-22@host/".to_owned();
    run.target.name = "agent with canary-10-that-the-user-gave".to_owned();
    redaction.target(&mut run.target);
    for verdict in Verdict::ALL {
        let result = CheckResult {
            verdict: *verdict,
            reason: Some("secret-canary-23".to_owned()),
            mismatches: vec![mismatch.clone()],
            evidence: vec![evidence.clone()],
            ..sample::run().checks.swap_remove(0)
        };
        push(&mut run, result, &redaction);
    }
    run
}

#[test]
fn no_report_contains_a_secret() {
    let run = run();
    let mut console = Vec::new();
    print(&run, &mut console).unwrap();
    let mut texts = vec![("console", String::from_utf8(console).unwrap())];
    for form in [Form::Json, Form::Html, Form::Junit, Form::Md, Form::Badge] {
        texts.push((form.file(), form.text(&run).unwrap()));
    }
    let changes = Changes::between(&run, &sample::later());
    texts.push(("changes", changes.markdown()));
    texts.push(("changes.json", serde_json::to_string(&changes).unwrap()));
    for (name, text) in texts {
        let found: Vec<_> = text
            .match_indices("canary")
            .map(|(at, _)| &text[at.saturating_sub(60)..at + 9])
            .collect();
        assert_eq!(found, [""; 0], "{name}");
    }
}

#[test]
fn other_values_are_kept() {
    let json = Form::Json.text(&run()).unwrap();
    for kept in [
        "Bearer ***",
        "https://***@host/?api_key=***",
        "token=***&x=1",
        "you sent ***",
        "\"***\"",
    ] {
        assert!(json.contains(&kept.replace('"', "\\\"")), "{kept}: {json}");
    }
}
