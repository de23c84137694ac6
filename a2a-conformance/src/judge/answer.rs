//! Checks of a result against its request and against earlier reports on the same task.

use a2a_types::{Operation, ProtocolVersion};
use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::invariants::{Finding, Findings, unless};
use super::{Judge, tasks};
use crate::wire::exchange::{items, task_of};

/// A result together with the request that it answers.
pub(super) struct Answer<'a> {
    pub(super) operation: Operation,
    /// Params of the request in protocol 1.0; null if the case altered them.
    pub(super) params: &'a Value,
    /// The result, in protocol 1.0.
    pub(super) result: &'a Value,
    /// The result as it came.
    pub(super) json: &'a Value,
    /// Time of the answer by the agent's clock: the header `Date`.
    pub(super) date: Option<&'a str>,
}

/// Checks a result against its request, and against what is known of its task.
pub(super) fn check(judge: &Judge, answer: &Answer<'_>) -> Findings {
    let Answer {
        operation,
        params,
        result,
        ..
    } = answer;
    let mut findings = tasks::report(judge, *operation, params, result);
    let listed = items(&result["tasks"]).iter();
    for task in listed.chain(task_of(result)) {
        findings.extend(tasks::history(judge, task));
    }
    if params.is_null() {
        return findings;
    }
    for (place, wanted, found) in echoed_members(judge.protocol_version, *operation, params, result)
    {
        let same = unless(found == wanted, place, wanted.to_string(), found);
        findings.push(("task.asked-for", same));
    }
    match operation {
        Operation::ListTasks => findings.extend(list(judge, answer)),
        Operation::SendMessage => {
            let length = params["configuration"].get("historyLength");
            let task = &result["task"];
            let check = "send.history-length";
            findings.extend(history_length(judge, check, length, task, "$.task"));
            findings.extend(clock(answer));
        }
        Operation::GetTask => {
            let length = params.get("historyLength");
            findings.extend(history_length(judge, "task.history", length, result, "$"));
        }
        _ => {}
    }
    findings
}

/// Checks that a task has no more history than was asked for.
pub(super) fn history_length(
    judge: &Judge,
    check: &'static str,
    length: Option<&Value>,
    task: &Value,
    place: &str,
) -> Option<Finding> {
    let most = length.and_then(Value::as_u64)?;
    // The texts of 0.3 contradict each other about 0, and 0.1 lets the agent include messages all the same.
    if most == 0
        && matches!(
            judge.protocol_version,
            ProtocolVersion::V0_1 | ProtocolVersion::V0_3
        )
    {
        return None;
    }
    let history = items(&task["history"]).len() as u64;
    let place = format!("{place}.history");
    let expected = format!("at most {most} messages");
    let found = unless(history <= most, &place, expected, history);
    Some((check, found))
}

/// Checks that a page of a list has what was asked for, and no more.
fn list(judge: &Judge, answer: &Answer<'_>) -> Findings {
    let params = answer.params;
    let mut findings = Findings::new();
    let most = params["pageSize"].as_u64().unwrap_or(50);
    let count = items(&answer.result["tasks"]).len() as u64;
    let expected = format!("at most {most} tasks");
    findings.push((
        "list.page-size",
        unless(count <= most, "$.tasks", expected, count),
    ));
    let [mut page, mut written] = [answer.result.clone(), answer.json.clone()];
    judge.own.retain(&mut page);
    judge.own.retain(&mut written);
    let tasks = items(&page["tasks"]);
    let since = time(&params["statusTimestampAfter"]);
    let mut before = None;
    for (index, task) in tasks.iter().enumerate() {
        let place = format!("$.tasks[{index}]");
        let fits = |name: &str, found: &Value| {
            let expected = params.get(name);
            expected.is_none_or(|expected| expected == found)
        };
        let at = time(&task["status"]["timestamp"]);
        let holds = fits("contextId", &task["contextId"])
            && fits("status", &task["status"]["state"])
            && since.is_none_or(|since| at.is_some_and(|at| at >= since));
        findings.push((
            "list.filters",
            unless(holds, &place, params.to_string(), task),
        ));
        if let (Some(before), Some(at)) = (before, at) {
            let expected = format!("a status of {before} or before");
            findings.push(("list.sorted", unless(at <= before, &place, expected, at)));
        }
        before = at.or(before);
        let length = params.get("historyLength");
        let check = "list.history-length";
        findings.extend(history_length(judge, check, length, task, &place));
    }
    if params["includeArtifacts"] != true {
        let with = |task: &&Value| task.get("artifacts").is_some();
        let found = items(&written["tasks"]).iter().find(with);
        let text = found.map_or_else(String::new, Value::to_string);
        findings.push((
            "list.artifacts",
            unless(found.is_none(), "$.tasks", "no `artifacts`", text),
        ));
    }
    findings
}

/// Checks that the status time of a task is close to the header `Date`, the agent's own clock.
fn clock(answer: &Answer<'_>) -> Option<Finding> {
    let written = task_of(answer.json).and_then(|task| task["status"]["timestamp"].as_str());
    // Before 1.0 the zone of a time that names none is not defined (0.1: UTC is only recommended).
    if written.is_some_and(is_without_zone) {
        return None;
    }
    let at = time(&task_of(answer.result)?["status"]["timestamp"])?;
    let date = jiff::fmt::rfc2822::parse(answer.date?).ok()?.timestamp();
    let near = at.duration_since(date).abs() < FAR;
    let expected = format!("about {date}, as the header `Date` says");
    let found = unless(near, "$.task.status.timestamp", expected, at);
    Some(("task.timestamps", found))
}

/// Returns the members of a result that must be as in the request: path, expected value, found value.
fn echoed_members<'a>(
    protocol_version: ProtocolVersion,
    operation: Operation,
    params: &'a Value,
    result: &'a Value,
) -> Vec<(&'static str, &'a Value, &'a Value)> {
    let pairs: Vec<(&'static str, &Value, &Value)> = match operation {
        Operation::GetTask | Operation::CancelTask => vec![("$.id", &params["id"], &result["id"])],
        Operation::SendMessage => {
            let (message, task, reply) = (&params["message"], &result["task"], &result["message"]);
            let context = kept_context(protocol_version, message).unwrap_or(&Value::Null);
            vec![
                ("$.task.id", &message["taskId"], &task["id"]),
                ("$.task.contextId", context, &task["contextId"]),
                ("$.message.taskId", &message["taskId"], &reply["taskId"]),
                ("$.message.contextId", context, &reply["contextId"]),
            ]
        }
        Operation::CreateTaskPushNotificationConfig => {
            vec![
                ("$.taskId", &params["taskId"], &result["taskId"]),
                ("$.url", &params["url"], &result["url"]),
            ]
        }
        Operation::GetTaskPushNotificationConfig => {
            vec![
                ("$.taskId", &params["taskId"], &result["taskId"]),
                ("$.id", &params["id"], &result["id"]),
            ]
        }
        Operation::ListTaskPushNotificationConfigs => {
            let configs = items(&result["configs"]).iter();
            let of_task =
                |config: &'a Value| ("$.configs[*].taskId", &params["taskId"], &config["taskId"]);
            configs.map(of_task).collect()
        }
        _ => Vec::new(),
    };
    // Only what the request names and the result has is compared.
    let is_said = |(_, wanted, found): &(&str, &Value, &Value)| {
        wanted.is_string() && *wanted != "" && !found.is_null()
    };
    pairs.into_iter().filter(is_said).collect()
}

/// Returns the `contextId` of a message if the agent has to keep it: in 0.2 and 0.3 it may replace one that comes without a
/// `taskId`.
pub(super) fn kept_context(protocol_version: ProtocolVersion, message: &Value) -> Option<&Value> {
    let may_replace = matches!(
        protocol_version,
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3
    );
    message
        .get("contextId")
        .filter(|_| !may_replace || message.get("taskId").is_some())
}

/// Returns the time that a text names.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Returns whether a text is a date and time without a time zone.
pub(super) fn is_without_zone(text: &str) -> bool {
    let is_time = text.contains('T') && text.parse::<DateTime>().is_ok();
    is_time && text.parse::<Timestamp>().is_err()
}

/// Least difference that two clocks of one agent cannot have.
const FAR: SignedDuration = SignedDuration::from_mins(10);
