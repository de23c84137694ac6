//! Everything that was seen of a client, as one value to compare with the pattern of a case:
//!
//! | member | what |
//! |---|---|
//! | `requests` | what the agent was asked, but for cards, in order: `operation`, `method`, `path`, `query`, `headers`, `params` in protocol 1.0, `body` as JSON, `text` as sent, `problems`, `delivered` |
//! | `operations` | the names of those operations |
//! | `cards` | the requests for the card |
//! | `elsewhere` | everything that came to the second listener |
//! | `reported` | for each thing that the client was asked: `events`, `result`, `error`, `done` |
//! | `repeated` | the `ids` of requests and the `messageIds` that were used more than once |
//! | `messages` | how many messages were `sent`, and under how many `ids` |
//! | `webhook` | what each push notification was answered: `status` |
//! | `exit` | what the process exited with, if it was one for the case |

use serde_json::{Map, Value, json};

use super::errand::Told;
use super::stage::{Listener, Stage, Taken};
use crate::run::{Evidence, Half};

/// Returns everything that was seen.
pub(super) fn seen(stage: &Stage, told: &Told) -> Map<String, Value> {
    let taken = stage.taken();
    let (agent, elsewhere): (Vec<_>, Vec<_>) = taken
        .iter()
        .partition(|taken| taken.listener == Listener::Agent);
    let agent = agent
        .into_iter()
        .filter(|taken| !taken.request.path().ends_with("/jwks.json"));
    let (cards, requests): (Vec<_>, Vec<_>) =
        agent.partition(|taken| taken.asked.operation == Some("AgentCard"));
    let operations: Vec<_> = requests.iter().map(|taken| taken.asked.operation).collect();
    let all = |taken: Vec<&Taken>| taken.into_iter().map(request).collect::<Vec<_>>();
    let mut seen = Map::new();
    let mut put = |name: &str, value: Value| drop(seen.insert(name.to_owned(), value));
    put("operations", json!(operations));
    put("requests", all(requests).into());
    put("cards", all(cards).into());
    put("elsewhere", all(elsewhere).into());
    put("webhook", json!(told.webhook));
    put("repeated", repeated(&taken));
    put("messages", messages(&taken));
    if let Some(exit) = told.exit {
        put("exit", exit.into());
    }
    if let Some(reports) = &told.reports {
        put("reported", json!(reports));
    }
    seen
}

/// Returns the ids that were used more than once.
fn repeated(taken: &[Taken]) -> Value {
    let twice = |ids: Vec<&Value>| {
        let again = ids
            .iter()
            .enumerate()
            .filter(|(index, id)| ids.iter().take(*index).any(|other| other == *id));
        again.map(|(_, id)| (*id).clone()).collect::<Vec<_>>()
    };
    let bodies = || taken.iter().map(|taken| &taken.asked.body);
    let ids = bodies().filter_map(|body| body.get("id")).collect();
    json!({"ids": twice(ids), "messageIds": twice(message_ids(taken))})
}

/// Returns the number of messages sent, and of distinct ids among them.
fn messages(taken: &[Taken]) -> Value {
    let is_message = |taken: &&Taken| {
        matches!(
            taken.asked.operation,
            Some("SendMessage" | "SendStreamingMessage")
        )
    };
    let mut ids = message_ids(taken);
    ids.sort_by_key(|id| id.to_string());
    ids.dedup();
    json!({"sent": taken.iter().filter(is_message).count(), "ids": ids.len()})
}

/// Returns the ids of all messages; messages of 0.1 have none.
fn message_ids(taken: &[Taken]) -> Vec<&Value> {
    let bodies = taken.iter().map(|taken| &taken.asked.body);
    let messages = bodies.filter_map(|body| body["params"].get("message").or(body.get("message")));
    messages
        .filter_map(|message| message.get("messageId"))
        .collect()
}

fn request(taken: &Taken) -> Value {
    let mut headers = Map::new();
    for (name, value) in &taken.request.headers {
        let value = match headers.get(name).and_then(Value::as_str) {
            Some(earlier) => format!("{earlier}, {value}"),
            None => value.clone(),
        };
        headers.insert(name.clone(), value.into());
    }
    let operation = taken.asked.operation;
    json!({
        "operation": operation,
        "method": taken.request.method,
        "path": taken.request.path(),
        "query": taken.request.query(),
        "headers": headers,
        "params": taken.asked.params,
        "body": taken.asked.body,
        "text": String::from_utf8_lossy(&taken.request.body),
        "problems": taken.asked.problems,
        "delivered": taken.delivered,
    })
}

/// Returns all exchanges with the client.
pub(super) fn evidence(stage: &Stage) -> Vec<Evidence> {
    let taken = stage.taken();
    let all = taken.iter().enumerate().map(|(index, taken)| Evidence {
        step: index + 1,
        request: Half {
            start: format!(
                "{} {}{}",
                taken.request.method,
                match taken.listener {
                    Listener::Agent => "",
                    Listener::Elsewhere => "(elsewhere) ",
                },
                taken.request.target
            ),
            headers: taken.request.headers.clone(),
            body: clipped(&String::from_utf8_lossy(&taken.request.body)),
            ..Half::default()
        },
        response: taken.answer.as_ref().map(|(status, body)| Half {
            start: status.to_string(),
            body: clipped(body),
            ..Half::default()
        }),
        failure: (!taken.delivered).then(|| {
            let ms = taken.at.as_millis();
            format!("the client did not take all of it (asked after {ms} ms)")
        }),
    });
    all.take(MAX_EVIDENCE).collect()
}

fn clipped(text: &str) -> String {
    text.chars().take(MAX_BODY).collect()
}

/// Number of exchanges that are kept: a client that reconnects in a loop repeats itself.
const MAX_EVIDENCE: usize = 32;
const MAX_BODY: usize = 16 << 10;
