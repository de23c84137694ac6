//! Grouping of findings with one cause, which are counted once: the root cause first, the others under it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::check::role_of;
use crate::requirement::Role;
use crate::run::{CheckResult, Column, Mismatch, Run, Verdict};

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

/// Returns the rank of a result as a cause: stricter levels and earlier findings come first.
fn rank(result: &CheckResult) -> (crate::requirement::Level, usize, String) {
    let first = result.mismatches.first();
    let step = first.and_then(|mismatch| {
        let rest = mismatch.place.strip_prefix("step ")?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit());
        rest.get(..digits.unwrap_or(rest.len()))?.parse().ok()
    });
    (result.level, step.unwrap_or(0), result.id.clone())
}

/// Returns the findings in a form that can be compared; nothing in them depends on the requirement. What
/// cannot be compared is new.
fn findings(result: &CheckResult) -> BTreeSet<(Column, String)> {
    let column = result.column();
    if role_of(&result.id) == Role::Client {
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
    let all = result.mismatches.iter();
    all.map(|mismatch| (column.clone(), finding(result, mismatch)))
        .collect()
}

fn finding(result: &CheckResult, mismatch: &Mismatch) -> String {
    let Mismatch {
        place,
        expected,
        found,
        evidence,
    } = mismatch;
    // Their number does not show what is wrong with them.
    if found.ends_with(" items") {
        return format!("{} {place}", result.id);
    }
    let place = place.split_once(", ").map_or(&**place, |(_, rest)| rest);
    let (expected, found) = (without_ids(expected), without_ids(found));
    if let Some(path) = member(place) {
        return format!("{path} | {expected} | {found}");
    }
    let evidence = evidence.and_then(|index| result.evidence.get(index));
    let operation =
        evidence.map(|evidence| operation_of(&evidence.request.start, &evidence.request.body));
    let operation = operation.unwrap_or_default();
    match place {
        "the answer" if found.contains("Connection refused") => "no connection".to_owned(),
        "the answer" if found.starts_with("the result ") => {
            format!("{operation} | {expected} | a result")
        }
        "the answer" => format!("{operation} | {found}"),
        place => format!(
            "{operation} | {} | {expected} | {found}",
            without_ids(place)
        ),
    }
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
            let segments = target
                .split('/')
                .map(|segment| match segment.contains('#') {
                    true => "#",
                    false => segment,
                });
            segments.collect::<Vec<_>>().join("/")
        }
    }
}

/// Replaces the parts of a text that differ between runs: ids and numbers.
fn without_ids(text: &str) -> String {
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
    use crate::requirement::Level;
    use crate::run::{Evidence, HttpMessage, Score};

    fn result(id: &str, level: Level, found: &[(&str, &str, &str)]) -> CheckResult {
        CheckResult {
            id: id.to_owned(),
            level,
            dialect: Some("1.0".to_owned()),
            binding: Some("JSONRPC".to_owned()),
            verdict: match level {
                Level::Must => Verdict::Fail,
                _ => Verdict::Warn,
            },
            mismatches: found
                .iter()
                .map(|(place, expected, found)| Mismatch {
                    place: (*place).to_owned(),
                    expected: (*expected).to_owned(),
                    found: (*found).to_owned(),
                    evidence: Some(0),
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
    fn findings_that_differ_are_counted_each() {
        let state = ("step 1, the task.status.state", "A", "B");
        let other = ("step 2, the task.artifacts", "one", "nothing");
        check(
            vec![
                result("send.waits", Level::Must, &[state]),
                result("task.get", Level::Must, &[state, other]),
                result(
                    "task.artifacts",
                    Level::Must,
                    &[("$.tasks", "1 items", "2 items")],
                ),
                result(
                    "list.pages",
                    Level::Must,
                    &[("$.tasks", "1 items", "2 items")],
                ),
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
                ("stream.event-shapes", None),
                ("task.shape", Some("stream.event-shapes")),
            ],
        );
    }

    #[test]
    fn of_clients_silence_alone_is_one_cause() {
        let silent = ("the client", "x", SILENCE);
        let mut elsewhere = result("client.sends-version", Level::Must, &[silent]);
        elsewhere.dialect = Some("0.3".to_owned());
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
