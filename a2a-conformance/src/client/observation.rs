//! Everything that the suite observed of a client, as one value to compare with the pattern of a case:
//!
//! | member | value |
//! |---|---|
//! | `requests` | the requests except those for cards, in order: `operation`, `method`, `path`, `query`, `headers`, `params` in protocol 1.0, `body` as JSON, `text` as sent, `problems`, `delivered` |
//! | `operations` | the names of those operations |
//! | `cards` | the requests for the card |
//! | `elsewhere` | everything that came to the second listener |
//! | `reported` | the report on each instruction: `events`, `result`, `error`, `done` |
//! | `repeated` | the `ids` of requests and the `messageIds` that were used more than once |
//! | `hasty` | the number of requests that came less than 50 ms after the answer to the last one of the same operation |
//! | `messages` | the number of messages `sent`, and of distinct `ids` |
//! | `webhook` | the answer to each push notification: `status` |
//! | `exit` | the exit code of the process, if the client is a process for the case |

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::driver_request::DriverOutcome;
use super::fixture::{Fixture, Listener, ReceivedRequest};
use crate::record::visible::head;
use crate::record::{Evidence, HttpMessage};

/// Returns everything that was observed.
pub(super) fn observation(fixture: &Fixture, outcome: &DriverOutcome) -> Map<String, Value> {
    let received = fixture.received();
    let (agent, elsewhere): (Vec<_>, Vec<_>) = received
        .iter()
        .partition(|received| received.listener == Listener::Agent);
    let agent = agent
        .into_iter()
        .filter(|received| !received.request.path().ends_with("/jwks.json"));
    let (cards, requests): (Vec<_>, Vec<_>) =
        agent.partition(|received| received.parsed.operation == Some("AgentCard"));
    let operations: Vec<_> = requests
        .iter()
        .map(|received| received.parsed.operation)
        .collect();
    let all =
        |received: Vec<&ReceivedRequest>| received.into_iter().map(request).collect::<Vec<_>>();
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    put("operations", json!(operations));
    put("requests", all(requests).into());
    put("cards", all(cards).into());
    put("elsewhere", all(elsewhere).into());
    put("webhook", json!(outcome.webhook));
    put("repeated", repeated(&received));
    put("hasty", hasty(&received).into());
    put("messages", messages(&received));
    if let Some(exit) = outcome.exit {
        put("exit", exit.into());
    }
    if let Some(reports) = &outcome.reports {
        put("reported", json!(reports));
    }
    members
}

/// Returns the ids that were used more than once.
fn repeated(received: &[ReceivedRequest]) -> Value {
    let twice = |ids: Vec<&Value>| {
        let again = ids
            .iter()
            .enumerate()
            .filter(|(index, id)| ids.iter().take(*index).any(|other| other == *id));
        again.map(|(_, id)| (*id).clone()).collect::<Vec<_>>()
    };
    let bodies = || received.iter().map(|received| &received.parsed.body);
    let ids = bodies().filter_map(|body| body.get("id")).collect();
    json!({"ids": twice(ids), "messageIds": twice(message_ids(received))})
}

/// Returns the number of requests that came less than [`PAUSE`] after the answer to the last one of the
/// same operation.
///
/// A busy machine makes each pause longer, and none shorter: a client that pauses is never counted, and one
/// that does not is seen though it makes few requests.
fn hasty(received: &[ReceivedRequest]) -> usize {
    let is_hasty = |(index, request): &(usize, &ReceivedRequest)| {
        let mut earlier = received.iter().take(*index).rev();
        let last = earlier.find(|last| last.parsed.operation == request.parsed.operation);
        let answered = last.and_then(|last| last.answered_at);
        answered.is_some_and(|at| request.at.saturating_sub(at) < PAUSE)
    };
    received.iter().enumerate().filter(is_hasty).count()
}

/// Time between an answer and the next request of the same operation that counts as a pause.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns the number of messages sent, and of distinct ids among them.
fn messages(received: &[ReceivedRequest]) -> Value {
    let is_message = |received: &&ReceivedRequest| {
        matches!(
            received.parsed.operation,
            Some("SendMessage" | "SendStreamingMessage")
        )
    };
    let mut ids = message_ids(received);
    ids.sort_by_key(|id| id.to_string());
    ids.dedup();
    json!({"sent": received.iter().filter(is_message).count(), "ids": ids.len()})
}

/// Returns the ids of all messages; messages of 0.1 have none.
fn message_ids(received: &[ReceivedRequest]) -> Vec<&Value> {
    let bodies = received.iter().map(|received| &received.parsed.body);
    let messages = bodies.filter_map(|body| body["params"].get("message").or(body.get("message")));
    messages
        .filter_map(|message| message.get("messageId"))
        .collect()
}

fn request(received: &ReceivedRequest) -> Value {
    let mut headers = Map::new();
    for (name, value) in &received.request.headers {
        let value = match headers.get(name).and_then(Value::as_str) {
            Some(earlier) => format!("{earlier}, {value}"),
            None => value.clone(),
        };
        headers.insert(name.clone(), value.into());
    }
    let operation = received.parsed.operation;
    json!({
        "operation": operation,
        "method": received.request.method,
        "path": received.request.path(),
        "query": received.request.query(),
        "headers": headers,
        "params": received.parsed.params,
        "body": received.parsed.body,
        "text": String::from_utf8_lossy(&received.request.body),
        "problems": received.parsed.problems,
        "delivered": received.delivered,
    })
}

/// Returns all exchanges with the client.
pub(super) fn evidence(fixture: &Fixture) -> Vec<Evidence> {
    let received = fixture.received();
    let all = received
        .iter()
        .enumerate()
        .map(|(index, received)| Evidence {
            step: index + 1,
            request: HttpMessage {
                start: format!(
                    "{} {}{}",
                    received.request.method,
                    match received.listener {
                        Listener::Agent => "",
                        Listener::Elsewhere => "(elsewhere) ",
                    },
                    received.request.target
                ),
                headers: received.request.headers.clone(),
                ..with_body(&String::from_utf8_lossy(&received.request.body))
            },
            response: received.answer.as_ref().map(|(status, body)| HttpMessage {
                start: status.to_string(),
                ..with_body(body)
            }),
            failure: (!received.delivered).then(|| {
                let ms = received.at.as_millis();
                format!("the client did not read all of it (requested after {ms} ms)")
            }),
            ..Evidence::default()
        });
    all.take(MAX_EVIDENCE).collect()
}

fn with_body(body: &str) -> HttpMessage {
    let (kept, left_out) = head(body, MAX_BODY);
    HttpMessage {
        body: kept.to_owned(),
        left_out,
        ..HttpMessage::default()
    }
}

/// Number of exchanges that are kept: a client that reconnects in a loop repeats itself.
const MAX_EVIDENCE: usize = 32;
/// Bytes of a body that are kept.
const MAX_BODY: usize = 16 << 10;
