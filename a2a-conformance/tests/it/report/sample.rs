//! A run like that of a real agent: most checks pass, and each other verdict occurs once.

use a2a_conformance::record::Redaction;
use a2a_conformance::record::{
    CheckResult, Evidence, FORMAT, HttpMessage, Mismatch, Run, Settings, Target, Verdict,
};
use a2a_conformance::requirement::{Basis, Level, Requirement, Role};
use serde_json::{Value, json};

/// Adds a result, with its secrets redacted.
pub(super) fn push(run: &mut Run, mut result: CheckResult, redaction: &Redaction) {
    redaction.check(&mut result);
    run.checks.push(result);
}

/// Protocol versions and bindings of the agent.
const SPOKEN: &[(&str, &str)] = &[
    ("1.0", "JSONRPC"),
    ("1.0", "HTTP+JSON"),
    ("0.3", "JSONRPC"),
    ("0.3", "HTTP+JSON"),
    ("0.2", "JSONRPC"),
];

const SPECIFICATION: &str = "https://github.com/a2aproject/A2A/blob/v1.0.1/docs/specification.md";

/// Checks made everywhere: id, level, requirement, title.
#[rustfmt::skip]
const CHECKS: &[(&str, Level, &str, &str)] = &[
    ("send.answer-is-task-or-message", Level::Must, "3.1.1-M1", "An answer is a task or a message"),
    ("send.ended-task-refused", Level::Must, "3.1.1-M2", "A message to an ended task is refused"),
    ("send.unknown-task-refused", Level::Must, "3.1.1-M3", "A message to a task that does not exist is refused"),
    ("send.context-continued", Level::Must, "3.4.1-M2", "A message in a context stays in it"),
    ("send.return-immediately", Level::Must, "3.2.2-M1", "An answer comes at once if the caller does not want to wait"),
    ("send.accepted-modes", Level::Should, "3.2.2-S1", "Only media types that the caller accepts are sent"),
    ("stream.begins-with-task", Level::Must, "3.1.2-M2", "A stream begins with the task"),
    ("stream.ends-after-last-state", Level::Must, "3.1.2-M3", "A stream ends after the task has ended"),
    ("stream.two-subscribers-same-order", Level::Must, "3.5.2-M3", "Two streams of one task carry the same events in the same order"),
    ("stream.closed-one-leaves-others", Level::Must, "3.5.2-M4", "Closing one stream does not end another"),
    ("stream.keeps-alive", Level::Should, "3.5.2-S1", "A quiet stream is kept alive"),
    ("task.history-length-zero", Level::Must, "3.2.4-M1", "A history of length 0 is none"),
    ("task.list-newest-first", Level::Must, "3.1.4-M2", "Tasks are listed by when they changed, the newest first"),
    ("task.list-page-token", Level::Must, "3.1.4-M3", "The last page has an empty token"),
    ("task.cancel-ended-refused", Level::Must, "3.1.5-M1", "An ended task cannot be canceled"),
    ("task.unknown-not-found", Level::Must, "3.1.3-M1", "A task that does not exist is not found"),
    ("push.config-round-trip", Level::Must, "3.1.7-M1", "A push configuration is read back as it was written"),
    ("push.token-sent", Level::Must, "4.3.3-M1", "A webhook is told the token of its configuration"),
    ("push.retried-after-500", Level::Should, "4.3.3-S2", "A webhook that fails is told again"),
    ("rpc.id-echoed", Level::Must, "9.1-M1", "The id of a request is that of its answer"),
    ("rpc.parse-error", Level::Must, "9.5-M1", "What is not JSON is a parse error"),
    ("rpc.unknown-method", Level::Must, "9.5-M2", "A method that does not exist is not found"),
    ("security.own-tasks-only", Level::Must, "13.1-M1", "No caller sees the tasks of others"),
    ("security.errors-tell-nothing", Level::Should, "13.4-S3", "Errors tell nothing of the inside"),
    ("version.unknown-refused", Level::Must, "3.6.2-M2", "A version that is not spoken is refused"),
    ("version.absent-is-old", Level::May, "3.6.2-Y1", "What is said without a version"),
];

/// The run of an agent that has faults of every kind.
pub(crate) fn run() -> Run {
    let redaction = Redaction::default();
    let mut run = empty();
    push(
        &mut run,
        card_check("card.well-formed", Verdict::Pass),
        &redaction,
    );
    push(
        &mut run,
        card_check("card.signed", Verdict::NotApplicable),
        &redaction,
    );
    for (index, (protocol_version, binding)) in SPOKEN.iter().enumerate() {
        for (number, row) in CHECKS.iter().enumerate() {
            let mut result = met(row, protocol_version, binding);
            result.seconds = 0.004 * (number + 1) as f64;
            depart(&mut result, index);
            push(&mut run, result, &redaction);
        }
    }
    run
}

/// The same agent after some work.
pub(crate) fn later() -> Run {
    let mut run = run();
    run.began = "2026-11-22T09:30:00Z".to_owned();
    run.target.version = "2.2.0".to_owned();
    run.checks.retain(|result| {
        result.id != "version.absent-is-old" || result.protocol_version.as_deref() != Some("0.2")
    });
    for result in &mut run.checks {
        match (&*result.id, result.protocol_version.as_deref()) {
            ("send.ended-task-refused", _) => result.verdict = Verdict::Pass,
            ("rpc.id-echoed", Some("1.0")) => result.verdict = Verdict::Fail,
            ("send.accepted-modes", Some("0.3")) => result.verdict = Verdict::Warn,
            ("push.token-sent", Some("0.2")) => result.verdict = Verdict::NotApplicable,
            _ => {}
        }
    }
    let mut new = card_check("card.one-per-agent", Verdict::Fail);
    new.title = "There is one card | for <all>".to_owned();
    run.checks.push(new);
    run
}

/// A run of that agent in which nothing is checked yet.
pub(crate) fn empty() -> Run {
    let interfaces = SPOKEN
        .iter()
        .map(|(protocol_version, binding)| format!("{binding} {protocol_version}"));
    Run {
        format: FORMAT.to_owned(),
        suite: "0.1.0".to_owned(),
        target: Target {
            role: Some(Role::Agent),
            place: "http://127.0.0.1:9900/.well-known/agent-card.json".to_owned(),
            name: "Recipe Agent".to_owned(),
            version: "2.1.0".to_owned(),
            server: Some("uvicorn".to_owned()),
            interfaces: interfaces.collect(),
        },
        settings: Settings {
            profile: "instrumented".to_owned(),
            seed: 20_261_121,
            repeat: 5,
            strict: false,
            filters: [("skip".to_owned(), vec!["grpc.*".to_owned()])].into(),
        },
        began: "2026-11-21T18:04:31Z".to_owned(),
        seconds: 41.3,
        checks: Vec::new(),
        not_made: 0,
        requirements: CHECKS.iter().map(requirement).collect(),
        waivers: Vec::new(),
    }
}

fn requirement((id, level, number, title): &(&str, Level, &str, &str)) -> Requirement {
    let section = number.split('-').next().unwrap().to_owned();
    Requirement {
        id: format!("A2A10-{number}"),
        says: match *id {
            "send.ended-task-refused" => {
                "A message to a task that has reached a terminal state is answered with UnsupportedOperation.".to_owned()
            }
            _ => format!("{title}."),
        },
        level: *level,
        section,
        binding: None,
        source: format!("{SPECIFICATION}?plain=1#L{}", 100 + number.len()),
        basis: Basis::Keyword,
        reading: "agrees".to_owned(),
        binds: vec![Role::Agent],
        checks: vec![(*id).to_owned()],
        excluded: None,
    }
}

fn met(
    (id, level, number, title): &(&str, Level, &str, &str),
    protocol_version: &str,
    binding: &str,
) -> CheckResult {
    CheckResult {
        id: (*id).to_owned(),
        title: (*title).to_owned(),
        level: *level,
        protocol_version: Some(protocol_version.to_owned()),
        binding: Some(binding.to_owned()),
        requirements: vec![format!("A2A10-{number}")],
        explanation: String::new(),
        verdict: Verdict::Pass,
        reason: None,
        mismatches: Vec::new(),
        evidence: Vec::new(),
        seconds: 0.0,
        unmet: None,
        same_cause_as: None,
        without_waiver: None,
    }
}

fn card_check(id: &str, verdict: Verdict) -> CheckResult {
    let title = match verdict {
        Verdict::NotApplicable => "The card is signed",
        _ => "The card is as the schema says",
    };
    let reason =
        (verdict == Verdict::NotApplicable).then(|| "the card has no signatures".to_owned());
    let row = (id, Level::Must, "4.4.1-M1", title);
    let mut result = met(&row, "", "");
    (result.protocol_version, result.binding) = (None, None);
    CheckResult {
        verdict,
        reason,
        seconds: 0.012,
        ..result
    }
}

/// Applies this agent's failures; `index` is the place of the protocol version and binding in the
/// list.
fn depart(result: &mut CheckResult, index: usize) {
    let reason = |text: &str| Some(text.to_owned());
    match (&*result.id, index) {
        ("send.ended-task-refused", 0 | 2 | 4) => ended_task_accepted(result, index == 0),
        ("stream.two-subscribers-same-order", 0) => event_missed(result),
        ("stream.keeps-alive", 0 | 1) => {
            result.verdict = Verdict::Warn;
            result.reason = reason("nothing came for 30 s");
        }
        ("task.list-page-token", 1) => no_answer(result),
        ("task.list-newest-first" | "task.list-page-token", 2..) => {
            result.verdict = Verdict::NotApplicable;
            result.reason = reason("this version lists no tasks");
        }
        ("push.config-round-trip" | "push.token-sent" | "push.retried-after-500", 3) => {
            result.verdict = Verdict::NotApplicable;
            result.reason = reason("the card does not declare pushNotifications");
        }
        ("push.token-sent", 1) => {
            result.verdict = Verdict::SetupFailed;
            result.reason = reason("push.config-round-trip has to be met before");
        }
        ("push.config-round-trip", 1) => {
            result.verdict = Verdict::Untestable;
            result.reason = reason(
                "the card declares pushNotifications, but the operation is answered with MethodNotFound",
            );
        }
        ("push.retried-after-500", 0) => {
            result.verdict = Verdict::Flaky;
            result.unmet = Some((2, 5));
            result.reason = reason("no second request within 10 s");
        }
        ("rpc.id-echoed", 4) => {
            result.verdict = Verdict::PassLenient;
            result.reason = reason("the number 7 came back as 7.0");
        }
        ("security.errors-tell-nothing", 0) => stack_trace(result),
        ("version.absent-is-old", _) => {
            result.verdict = Verdict::Note;
            result.reason = reason("answered as 0.3");
        }
        ("version.unknown-refused", 3) => {
            result.verdict = Verdict::HarnessError;
            result.reason =
                reason("what was to be sent is not a valid request: $.params: must be an object");
        }
        _ => {}
    }
}

fn ended_task_accepted(result: &mut CheckResult, in_full: bool) {
    result.verdict = Verdict::Fail;
    result.explanation = "A task that is completed, failed, canceled or rejected stays so: readers of its end rely on \
        it. A message to it is refused, and a follow-up begins a new task in the same context.\n\
        The agent is asked for something that ends at once, then is sent another message with the id of the ended task."
        .to_owned();
    result.mismatches = vec![Mismatch {
        place: "step 2: $.error.code".to_owned(),
        expected: "-32004 (UnsupportedOperation)".to_owned(),
        found: "no error: a result with a task in TASK_STATE_WORKING".to_owned(),
        evidence: Some(1),
        ..Mismatch::default()
    }];
    if in_full {
        result.mismatches.push(Mismatch {
            place: "step 2: $.result.task.status.state".to_owned(),
            expected: "nothing".to_owned(),
            found: "\"TASK_STATE_WORKING\"".to_owned(),
            evidence: Some(1),
            ..Mismatch::default()
        });
    }
    let message = |text: &str, task: Option<&str>| {
        let message = json!({"messageId": "m-1f2e", "role": "ROLE_USER", "parts": [{"text": text}], "taskId": task});
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}})
    };
    let task = |state: &str| {
        let status = json!({"state": state, "timestamp": "2026-11-21T18:04:33.120Z"});
        json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t-77", "contextId": "c-4", "status": status}}})
    };
    result.evidence = vec![
        exchange(
            1,
            &message("echo hello", None),
            &task("TASK_STATE_COMPLETED"),
        ),
        exchange(
            2,
            &message("echo again, it's \"over\"", Some("t-77")),
            &task("TASK_STATE_WORKING"),
        ),
    ];
}

fn event_missed(result: &mut CheckResult) {
    result.verdict = Verdict::Fail;
    result.mismatches = vec![Mismatch {
        place: "step 2, event 3: $.result.statusUpdate.status.state".to_owned(),
        expected: "\"TASK_STATE_WORKING\", as the first subscriber saw".to_owned(),
        found: "\"TASK_STATE_COMPLETED\"".to_owned(),
        evidence: Some(0),
        ..Mismatch::default()
    }];
    let event = |value: Value| json!({"jsonrpc": "2.0", "id": 2, "result": value}).to_string();
    let update = |state: &str| json!({"statusUpdate": {"taskId": "t-78", "contextId": "c-5", "status": {"state": state}}});
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 2, "method": "SubscribeToTask", "params": {"id": "t-78"}});
    let mut exchange = exchange(2, &subscribe, &json!(null));
    exchange.response = Some(HttpMessage {
        start: "200 OK".to_owned(),
        headers: headers(&[
            ("content-type", "text/event-stream"),
            ("cache-control", "no-cache"),
        ]),
        events: vec![
            (
                3,
                event(
                    json!({"task": {"id": "t-78", "contextId": "c-5", "status": {"state": "TASK_STATE_SUBMITTED"}}}),
                ),
            ),
            (
                12,
                event(
                    json!({"artifactUpdate": {"taskId": "t-78", "artifact": {"artifactId": "a", "parts": [{"text": "one"}]}}}),
                ),
            ),
            (1204, event(update("TASK_STATE_COMPLETED"))),
        ],
        ..HttpMessage::default()
    });
    exchange.failure = Some("the stream was closed by the agent".to_owned());
    result.evidence = vec![exchange];
}

fn no_answer(result: &mut CheckResult) {
    result.verdict = Verdict::Fail;
    result.mismatches = vec![Mismatch {
        place: "step 1".to_owned(),
        expected: "an answer within 10 s".to_owned(),
        found: "none".to_owned(),
        evidence: Some(0),
        ..Mismatch::default()
    }];
    let request = HttpMessage {
        start: "GET http://127.0.0.1:9900/v1/tasks?pageSize=2&pageToken=a%20b".to_owned(),
        headers: headers(&[("accept", "application/json"), ("a2a-version", "1.0")]),
        ..HttpMessage::default()
    };
    let failure = Some("the connection was closed before an answer came".to_owned());
    result.evidence = vec![Evidence {
        step: 1,
        request,
        failure,
        ..Evidence::default()
    }];
}

fn stack_trace(result: &mut CheckResult) {
    result.verdict = Verdict::Warn;
    result.mismatches = vec![Mismatch {
        place: "step 1: $.error.message".to_owned(),
        expected: "no path of a file, no stack".to_owned(),
        found: "\"Traceback (most recent call last):\\n  File \\\"/srv/agent/app.py\\\", line 81\""
            .to_owned(),
        evidence: Some(0),
        ..Mismatch::default()
    }];
    let crash = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"parts": [{"text": "crash"}]}}});
    let message = "Traceback (most recent call last):\n  File \"/srv/agent/app.py\", line 81";
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": message}});
    result.evidence = vec![exchange(1, &crash, &error)];
}

/// A request and its answer, with the credentials that a real one carries.
fn exchange(step: usize, request: &Value, response: &Value) -> Evidence {
    let json = ("content-type", "application/json");
    let length = request.to_string().len().to_string();
    Evidence {
        step,
        request: HttpMessage {
            start: "POST http://127.0.0.1:9900/rpc".to_owned(),
            headers: headers(&[
                ("host", "127.0.0.1:9900"),
                json,
                ("accept", "application/json, text/event-stream"),
                ("a2a-version", "1.0"),
                ("authorization", "Bearer canary-of-the-sample"),
                ("content-length", &length),
            ]),
            body: request.to_string(),
            ..HttpMessage::default()
        },
        response: Some(HttpMessage {
            start: "200 OK".to_owned(),
            headers: headers(&[
                json,
                ("server", "uvicorn"),
                ("date", "Sat, 21 Nov 2026 18:04:33 GMT"),
            ]),
            body: response.to_string(),
            ..HttpMessage::default()
        }),
        ..Evidence::default()
    }
}

fn headers(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    headers.iter().map(owned).collect()
}
