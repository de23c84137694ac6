//! Grouping of findings with one cause, which are counted once: the root cause first, the others under it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::run::{CheckResult, Column, Evidence, Mismatch, MismatchKind, Run, Verdict};
use crate::requirement::Role;

/// Finding about a client that neither calls the agent nor reports a result in any case.
pub(crate) const SILENCE: &str = "nothing at all, in any case";

impl Run {
    /// Groups the checks that are not met by one cause: those in whose findings nothing is new. Each is
    /// listed under the first, which alone is counted.
    pub fn group_causes(&mut self) {
        let mut order: Vec<_> = (0..self.checks.len())
            .filter(|index| self.checks.get(*index).is_some_and(has_cause))
            .collect();
        order.sort_by_key(|index| self.checks.get(*index).map(rank));
        let mut known: BTreeMap<(Column, String), usize> = BTreeMap::new();
        let mut grouped: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in order {
            let Some(result) = self.checks.get(index) else {
                continue;
            };
            let findings = findings(result);
            let roots: BTreeSet<_> = findings.iter().map(|one| known.get(one)).collect();
            let root = roots.iter().next().copied().flatten().copied();
            match root.filter(|_| !roots.contains(&None)) {
                Some(root) => grouped.entry(root).or_default().push(index),
                None => {
                    for finding in findings {
                        known.entry(finding).or_insert(index);
                    }
                }
            }
        }
        for (root, others) in grouped {
            self.list_under(root, &others);
        }
    }

    fn list_under(&mut self, root: usize, others: &[usize]) {
        let Some(first) = self.checks.get(root) else {
            return;
        };
        let (id, column) = (first.id.clone(), first.column());
        let mut names = BTreeSet::new();
        for index in others {
            let Some(other) = self.checks.get_mut(*index) else {
                continue;
            };
            names.insert(other.id.clone());
            let reason = match other.column() == column {
                true => format!("the same cause as `{id}`"),
                false => format!("the same cause as `{id}` in {column}"),
            };
            add_reason(other, reason);
            other.same_cause_as = Some(id.clone());
        }
        let names: Vec<_> = names.into_iter().collect();
        let reason = format!(
            "of the same cause, and not counted again: {}",
            names.join(", ")
        );
        if let Some(first) = self.checks.get_mut(root) {
            add_reason(first, reason);
        }
    }
}

fn add_reason(result: &mut CheckResult, reason: String) {
    result.reason = Some(match result.reason.take() {
        Some(before) => format!("{before}; {reason}"),
        None => reason,
    });
}

fn has_cause(result: &CheckResult) -> bool {
    use Verdict::{Fail, SetupFailed, Untestable, Warn};
    matches!(result.verdict, Fail | Warn | Untestable | SetupFailed)
}

/// Returns the rank of a result as a cause: stricter levels come first, then the check that is about what failed, then
/// earlier findings.
fn rank(result: &CheckResult) -> (crate::requirement::Level, bool, usize, String) {
    let first = result.mismatches.first();
    let step = first.and_then(|mismatch| {
        let rest = mismatch.place.strip_prefix("step ")?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit());
        rest.get(..digits.unwrap_or(rest.len()))?.parse().ok()
    });
    let is_about = first.is_some_and(|mismatch| match finding(result, mismatch).as_str() {
        NO_RESPONSE => result.id == "rpc.envelope",
        // A member of a task, whether in an answer or an event.
        _ if result.id == "task.shape" && member(place_of(mismatch)).is_some() => true,
        _ => {
            let operation = operation_in(result, mismatch);
            let about = ABOUT.iter().find(|(end, _)| operation.ends_with(end));
            about.is_some_and(|(_, ids)| ids.contains(&&*result.id))
        }
    });
    (
        result.level,
        !is_about,
        step.unwrap_or(0),
        result.id.clone(),
    )
}

/// Methods and ends of paths, and the checks that are about their operations.
const ABOUT: &[(&str, &[&str])] = &[
    ("SendMessage", SENDS),
    ("message/send", SENDS),
    ("tasks/send", SENDS),
    ("/message:send", SENDS),
    ("SendStreamingMessage", STREAMS),
    ("message/stream", STREAMS),
    ("tasks/sendSubscribe", STREAMS),
    ("/message:stream", STREAMS),
    ("GetTask", GETS),
    ("tasks/get", GETS),
    ("/tasks/#", GETS),
    ("ListTasks", LISTS),
    ("tasks/list", LISTS),
    ("/tasks", LISTS),
    ("CancelTask", CANCELS),
    ("tasks/cancel", CANCELS),
    (":cancel", CANCELS),
    ("SubscribeToTask", SUBSCRIPTIONS),
    ("tasks/resubscribe", SUBSCRIPTIONS),
    (":subscribe", SUBSCRIPTIONS),
    ("CreateTaskPushNotificationConfig", CONFIGS),
    ("GetTaskPushNotificationConfig", CONFIGS),
    ("ListTaskPushNotificationConfigs", CONFIGS),
    ("DeleteTaskPushNotificationConfig", CONFIGS),
    ("/set", CONFIGS),
    ("/get", CONFIGS),
    ("/list", CONFIGS),
    ("/delete", CONFIGS),
    ("/pushNotificationConfigs", CONFIGS),
    ("/pushNotificationConfigs/#", CONFIGS),
];
const SENDS: &[&str] = &["send.task-or-message"];
const STREAMS: &[&str] = &["stream.opens"];
const GETS: &[&str] = &["task.get", "task.get-unknown"];
const LISTS: &[&str] = &["list.shape"];
const CANCELS: &[&str] = &["cancel.working"];
const SUBSCRIPTIONS: &[&str] = &["stream.subscribe-goes-on"];
const CONFIGS: &[&str] = &["push.set", "push.get", "push.list", "push.delete"];

/// Returns the findings in a form that can be compared; nothing in them depends on the requirement. What
/// cannot be compared is new.
fn findings(result: &CheckResult) -> BTreeSet<(Column, String)> {
    let column = result.column();
    if Role::of_check(&result.id) == Role::Client {
        let is_silence = |mismatch: &Mismatch| mismatch.found == SILENCE;
        let is_silent = result.mismatches.iter().any(is_silence);
        let own = format!("{column} {}", result.id);
        let finding = if is_silent { SILENCE.to_owned() } else { own };
        return BTreeSet::from([(Column::default(), finding)]);
    }
    if result.mismatches.is_empty() {
        let reason = result.reason.as_deref().map(without_ids);
        let finding = reason.unwrap_or_else(|| result.id.clone());
        return BTreeSet::from([(column, finding)]);
    }
    let is_broken = |mismatch: &Mismatch| mismatch.kind == MismatchKind::BrokenStream;
    if let Some(broken) = result.mismatches.iter().find(|one| is_broken(one)) {
        let operation = operation_in(result, broken);
        return BTreeSet::from([(column, format!("{operation} | a stream that broke off"))]);
    }
    // Later findings of the case follow from an answer of the wrong kind.
    let count = match result.mismatches.first() {
        Some(first) if place_of(first) == ANSWER => 1,
        _ => result.mismatches.len(),
    };
    let all = result.mismatches.iter().take(count);
    all.map(|mismatch| (column.clone(), finding(result, mismatch)))
        .collect()
}

/// The place of a mismatch, without the step.
fn place_of(mismatch: &Mismatch) -> &str {
    let place = &*mismatch.place;
    place.split_once(", ").map_or(place, |(_, rest)| rest)
}

const ANSWER: &str = "the answer";
/// Finding that an answer has neither a result nor an error.
const NO_RESPONSE: &str = "no JSON-RPC response";

fn finding(result: &CheckResult, mismatch: &Mismatch) -> String {
    let place = place_of(mismatch);
    if mismatch.kind == MismatchKind::Count {
        return format!("{} {}", result.id, mismatch.place);
    }
    let (expected, found) = (
        without_ids(&mismatch.expected),
        without_ids(&mismatch.found),
    );
    // The definition of the schema is named behind what is expected.
    let expected = expected.split(" (").next().unwrap_or_default();
    let operation = operation_in(result, mismatch);
    let is_about_body = place == "$" || place.starts_with("the body.");
    let is_unreadable = mismatch.kind == MismatchKind::Unreadable;
    if (is_about_body || is_unreadable) && has_no_response(result, mismatch) {
        return NO_RESPONSE.to_owned();
    }
    let is_about_type = place.to_ascii_lowercase().ends_with("content-type");
    if (is_unreadable || is_about_type)
        && let Some(status) = status_without_json(result, mismatch)
    {
        return format!("{operation} | no JSON, {status}");
    }
    if is_unreadable {
        return format!("{operation} | no result that can be read");
    }
    if is_about_type {
        let essence = found
            .trim_matches('"')
            .split(';')
            .next()
            .unwrap_or_default();
        return format!("content-type {essence}");
    }
    if let Some(path) = member(place) {
        return format!("{path} | {expected} | {found}");
    }
    match place {
        // The same wherever it is answered.
        "the error" => format!("{expected} | {found}"),
        ANSWER if mismatch.kind == MismatchKind::NoConnection => "no connection".to_owned(),
        ANSWER if mismatch.kind == MismatchKind::Result => match message_in(result, mismatch) {
            Some(message) => format!("{message} | {expected} | a result"),
            None => format!("{operation} | {expected} | a result"),
        },
        ANSWER => format!("{operation} | {found}"),
        place => format!(
            "{operation} | {} | {expected} | {found}",
            without_ids(place)
        ),
    }
}

fn operation_in(result: &CheckResult, mismatch: &Mismatch) -> String {
    let evidence = evidence_of(result, mismatch);
    let request = evidence.map(|evidence| &evidence.request);
    request.map_or_else(String::new, |request| {
        operation_of(&request.start, &request.body)
    })
}

/// Returns whether an answer of JSON-RPC has neither a result nor an error.
fn has_no_response(result: &CheckResult, mismatch: &Mismatch) -> bool {
    let response = evidence_of(result, mismatch).and_then(|it| it.response.as_ref());
    let json = response.and_then(|it| serde_json::from_str::<Value>(&it.body).ok());
    json.is_some_and(|json| {
        json.get("jsonrpc").is_some() && json.get("result").is_none() && json.get("error").is_none()
    })
}

/// Returns the status of an answer that is not JSON, and no stream.
fn status_without_json<'r>(result: &'r CheckResult, mismatch: &Mismatch) -> Option<&'r str> {
    let response = evidence_of(result, mismatch)?.response.as_ref()?;
    let is_json = serde_json::from_str::<Value>(&response.body).is_ok();
    (!is_json && response.events.is_empty()).then_some(&response.start)
}

/// Returns the form of the message that was sent: its members without their values. Two answers to messages of one form
/// have one cause, by whichever operation they were sent.
fn message_in(result: &CheckResult, mismatch: &Mismatch) -> Option<String> {
    let body = &evidence_of(result, mismatch)?.request.body;
    let json: Value = serde_json::from_str(body).ok()?;
    let message = [&json["params"]["message"], &json["message"]];
    let message = message.into_iter().find(|message| message.is_object())?;
    Some(form(message).to_string())
}

fn form(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), form(value)));
            Value::Object(members.collect())
        }
        Value::Array(items) => items.iter().map(form).collect(),
        Value::String(text) if text.is_empty() => "".into(),
        Value::String(_) => "text".into(),
        Value::Number(_) => 0.into(),
        other => other.clone(),
    }
}

fn evidence_of<'r>(result: &'r CheckResult, mismatch: &Mismatch) -> Option<&'r Evidence> {
    result.evidence.get(mismatch.evidence?)
}

/// Returns the last two names of a path like `$.result.parts[0].text`, without indices.
fn member(place: &str) -> Option<String> {
    let (_, path) = place.split_once('.')?;
    let names = path.split('.').map(|name| {
        let end = name.find('[').unwrap_or(name.len());
        name.get(..end).unwrap_or_default()
    });
    let names: Vec<_> = names.collect();
    let last = names.len().saturating_sub(2);
    Some(names.get(last..)?.join("."))
}

/// Returns the operation of a request: the JSON-RPC method, otherwise the HTTP method and path.
fn operation_of(start: &str, body: &str) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    match json["method"].as_str() {
        Some(method) => method.to_owned(),
        None => {
            let target = start.split('?').next().unwrap_or_default();
            let target = without_ids(target);
            let mut before = "";
            let segments = target.split('/').map(|segment| {
                let is_id = ["tasks", "pushNotificationConfigs"].contains(&before);
                before = segment;
                match segment.split_once(':') {
                    Some((_, verb)) if is_id => format!("#:{verb}"),
                    _ if is_id || segment.contains('#') => "#".to_owned(),
                    _ => segment.to_owned(),
                }
            });
            segments.collect::<Vec<_>>().join("/")
        }
    }
}

/// Replaces the parts of a text that differ between runs: ids and numbers.
pub(crate) fn without_ids(text: &str) -> String {
    static VARIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let id = "[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}";
        Regex::new(&format!("{id}|[0-9]+")).ok()
    });
    match &*VARIES {
        Some(varies) => varies.replace_all(text, "#").into_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{HttpMessage, Score};
    use crate::requirement::Level;

    fn result(id: &str, level: Level, found: &[(&str, &str, &str)]) -> CheckResult {
        CheckResult {
            id: id.to_owned(),
            level,
            protocol_version: Some("1.0".to_owned()),
            binding: Some("JSONRPC".to_owned()),
            verdict: match level {
                Level::Must => Verdict::Fail,
                _ => Verdict::Warn,
            },
            mismatches: found
                .iter()
                .map(|(place, expected, found)| Mismatch {
                    evidence: Some(0),
                    ..Mismatch::new(*place, *expected, *found)
                })
                .collect(),
            evidence: vec![Evidence {
                request: HttpMessage {
                    start: "POST http://127.0.0.1:1/".to_owned(),
                    body: r#"{"method": "SendMessage"}"#.to_owned(),
                    ..HttpMessage::default()
                },
                ..Evidence::default()
            }],
            ..blank()
        }
    }

    fn blank() -> CheckResult {
        serde_json::from_value(serde_json::json!({
            "id": "", "title": "", "level": "must", "requirements": [], "verdict": "pass", "seconds": 0.0
        }))
        .unwrap()
    }

    /// Checks which results are counted, and under which of them the others are listed.
    #[track_caller]
    fn check(checks: Vec<CheckResult>, expected: &[(&str, Option<&str>)]) -> Run {
        let mut run = Run {
            checks,
            ..Run::default()
        };
        run.group_causes();
        let found: Vec<_> = run
            .checks
            .iter()
            .map(|result| (&*result.id, result.same_cause_as.as_deref()))
            .collect();
        assert_eq!(found, expected);
        run
    }

    #[test]
    fn one_cause_is_counted_once() {
        let answer = |step: &str, id: &str| {
            let place = format!("step {step}, the answer");
            let found = format!("the error Internal: no row {id}");
            (place, found)
        };
        let (first, one) = answer("1", "17");
        let (third, other) = answer("3.2", "4c3f7d1e-0000-4000-8000-0123456789ab");
        let run = check(
            vec![
                result("task.get", Level::Must, &[(&third, "a result", &other)]),
                result(
                    "send.waits",
                    Level::Should,
                    &[(&first, "the error X", &one)],
                ),
                result(
                    "send.task-or-message",
                    Level::Must,
                    &[(&first, "a result", &one)],
                ),
            ],
            &[
                ("task.get", Some("send.task-or-message")),
                ("send.waits", Some("send.task-or-message")),
                ("send.task-or-message", None),
            ],
        );
        assert_eq!(run.unmet().count(), 1);
        let score = run.checks.iter().collect::<Score>();
        assert_eq!((score.met, score.scored), (0, 1));
        assert_eq!(run.exit_code(), 1);
        let reason = run.checks[2].reason.as_deref();
        let listed = "of the same cause, and not counted again: send.waits, task.get";
        assert_eq!(reason, Some(listed));
    }

    #[test]
    fn failures_with_a_waived_cause_are_not_counted() {
        let answer = ("step 1, the answer", "a result", "the error Internal: no");
        let mut run = check(
            vec![
                result("task.get", Level::Must, &[answer]),
                result("send.task-or-message", Level::Must, &[answer]),
            ],
            &[
                ("task.get", Some("send.task-or-message")),
                ("send.task-or-message", None),
            ],
        );
        run.checks[1].verdict = Verdict::Waived;
        assert_eq!(run.unmet().count(), 0);
    }

    #[test]
    fn findings_that_differ_are_counted_each() {
        let state = ("step 1, the task.status.state", "A", "B");
        let other = ("step 2, the task.artifacts", "one", "nothing");
        let counts_tasks = |id: &str| {
            let mut result = result(id, Level::Must, &[("$.tasks", "1 task", "2 tasks")]);
            result.mismatches[0].kind = MismatchKind::Count;
            result
        };
        check(
            vec![
                result("send.waits", Level::Must, &[state]),
                result("task.get", Level::Must, &[state, other]),
                counts_tasks("task.artifacts"),
                counts_tasks("list.pages"),
            ],
            &[
                ("send.waits", None),
                ("task.get", None),
                ("task.artifacts", None),
                ("list.pages", None),
            ],
        );
    }

    #[test]
    fn a_member_is_the_same_wherever_it_stands() {
        check(
            vec![
                result(
                    "stream.event-shapes",
                    Level::Must,
                    &[("event 2: $.result.status.state", "a", "b")],
                ),
                result(
                    "task.shape",
                    Level::Must,
                    &[("$.result.tasks[3].status.state", "a", "b")],
                ),
            ],
            &[
                ("stream.event-shapes", Some("task.shape")),
                ("task.shape", None),
            ],
        );
    }

    /// Checks that these findings, each of another check, are one cause.
    #[track_caller]
    fn check_one_cause(found: Vec<Mismatch>, response: &str) {
        let ids = [
            "send.task-or-message",
            "task.shape",
            "stream.opens",
            "rpc.envelope",
        ];
        let results = found.into_iter().zip(ids).map(|(one, id)| {
            let mut result = result(id, Level::Must, &[]);
            result.mismatches = vec![Mismatch {
                evidence: Some(0),
                ..one
            }];
            result.evidence[0].response = Some(HttpMessage {
                start: "200 OK".to_owned(),
                body: response.to_owned(),
                ..HttpMessage::default()
            });
            result
        });
        let mut run = Run {
            checks: results.collect(),
            ..Run::default()
        };
        run.group_causes();
        assert_eq!(run.unmet().count(), 1, "{:#?}", run.checks);
    }

    #[test]
    fn an_answer_of_the_wrong_form_is_one_cause() {
        let answer = "step 1, the answer";
        let unreadable = |place, expected| {
            Mismatch::new(place, expected, "another form").of_kind(MismatchKind::Unreadable)
        };
        check_one_cause(
            vec![
                unreadable(answer, "a result"),
                unreadable("$.result", "a member \"task\" (SendMessageResponse)"),
            ],
            r#"{"jsonrpc": "2.0", "result": {}}"#,
        );
        check_one_cause(
            vec![
                unreadable(answer, "the error TaskNotFound"),
                unreadable("$", "a member \"error\" (JSONRPCGetTaskResponse)"),
            ],
            r#"{"jsonrpc": "2.0", "result": null}"#,
        );
        let word = |place, expected| Mismatch::new(place, expected, "\"completed\"");
        check_one_cause(
            vec![
                word(
                    "$.result.tasks[0].status.state",
                    "one of \"A\" (ListTasksResponse)",
                ),
                word(
                    "event 3: $.result.statusUpdate.status.state",
                    "one of \"A\" (StreamResponse)",
                ),
            ],
            "{}",
        );
        check_one_cause(
            vec![
                unreadable(answer, "a result"),
                Mismatch::new("$", "`result`", "no `result`"),
                Mismatch::new("step 1, the body.result", "an object", "nothing"),
            ],
            r#"{"jsonrpc": "2.0", "id": 1}"#,
        );
        check_one_cause(
            vec![
                unreadable(answer, "a result"),
                Mismatch::new("Content-Type", "application/json", "text/html, and no JSON"),
            ],
            "<html>",
        );
    }

    #[test]
    fn client_failures_share_a_cause_only_if_silent() {
        let silent = ("the client", "x", SILENCE);
        let mut elsewhere = result("client.sends-version", Level::Must, &[silent]);
        elsewhere.protocol_version = Some("0.3".to_owned());
        check(
            vec![
                result("client.reads-card", Level::Must, &[silent]),
                elsewhere,
                result(
                    "client.reads-errors",
                    Level::Must,
                    &[("reported[0]", "x", "nothing")],
                ),
                result(
                    "client.reads-any-status",
                    Level::Must,
                    &[("reported[0]", "x", "nothing")],
                ),
            ],
            &[
                ("client.reads-card", None),
                ("client.sends-version", Some("client.reads-card")),
                ("client.reads-errors", None),
                ("client.reads-any-status", None),
            ],
        );
    }
}
