//! Checks of a result against its request and against earlier reports on the same task.

use a2a_types::{Dialect, Operation};
use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Judge;
use super::invariants::unless;
use crate::record::Evidence;
use crate::wire::exchange::{items, task_of};

/// A result together with the request that it answers.
pub(crate) struct Answer<'a> {
    pub(crate) operation: Operation,
    /// Params of the request in protocol 1.0; null if the case altered them.
    pub(crate) params: &'a Value,
    /// The result, in protocol 1.0.
    pub(crate) result: &'a Value,
    /// The result as it came.
    pub(crate) json: &'a Value,
    /// Time of the answer by the agent's clock: the header `Date`.
    pub(crate) date: Option<&'a str>,
}

impl Judge {
    /// Checks a result against its request, and against what is known of its task.
    pub(crate) fn judge_answer(&self, answer: &Answer<'_>, evidence: &Evidence) {
        let Answer {
            operation,
            params,
            result,
            ..
        } = answer;
        self.judge_tasks(*operation, params, result, evidence);
        let listed = items(&result["tasks"]).iter();
        for task in listed.chain(task_of(result)) {
            self.judge_history_messages(task, evidence);
        }
        if params.is_null() {
            return;
        }
        for (place, wanted, found) in echoed_members(self.dialect, *operation, params, result) {
            let same = unless(found == wanted, place, wanted.to_string(), found);
            self.observations.record("task.asked-for", same, evidence);
        }
        match operation {
            Operation::ListTasks => self.judge_list(answer, evidence),
            Operation::SendMessage => {
                let length = params["configuration"].get("historyLength");
                let task = &result["task"];
                self.judge_history("send.history-length", length, task, "$.task", evidence);
                self.judge_clock(answer, evidence);
            }
            Operation::GetTask => {
                let length = params.get("historyLength");
                self.judge_history("task.history", length, result, "$", evidence);
            }
            _ => {}
        }
    }

    /// Checks that a task has no more history than was asked for.
    pub(crate) fn judge_history(
        &self,
        check: &'static str,
        length: Option<&Value>,
        task: &Value,
        place: &str,
        evidence: &Evidence,
    ) {
        let Some(most) = length.and_then(Value::as_u64) else {
            return;
        };
        // The texts of 0.3 contradict each other about 0, and 0.1 lets the agent include messages all the same.
        if most == 0 && matches!(self.dialect, Dialect::V0_1 | Dialect::V0_3) {
            return;
        }
        let history = items(&task["history"]).len() as u64;
        let place = format!("{place}.history");
        let expected = format!("at most {most} messages");
        let found = unless(history <= most, &place, expected, history);
        self.observations.record(check, found, evidence);
    }

    /// Checks that a page of a list has what was asked for, and no more.
    fn judge_list(&self, answer: &Answer<'_>, evidence: &Evidence) {
        let params = answer.params;
        let observe = |check, found| self.observations.record(check, found, evidence);
        let most = params["pageSize"].as_u64().unwrap_or(50);
        let count = items(&answer.result["tasks"]).len() as u64;
        let expected = format!("at most {most} tasks");
        observe(
            "list.page-size",
            unless(count <= most, "$.tasks", expected, count),
        );
        let [mut page, mut written] = [answer.result.clone(), answer.json.clone()];
        self.own.retain(&mut page);
        self.own.retain(&mut written);
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
            observe(
                "list.filters",
                unless(holds, &place, params.to_string(), task),
            );
            if let (Some(before), Some(at)) = (before, at) {
                let expected = format!("a status of {before} or before");
                observe("list.sorted", unless(at <= before, &place, expected, at));
            }
            before = at.or(before);
            let length = params.get("historyLength");
            self.judge_history("list.history-length", length, task, &place, evidence);
        }
        if params["includeArtifacts"] != true {
            let with = |task: &&Value| task.get("artifacts").is_some();
            let found = items(&written["tasks"]).iter().find(with);
            let text = found.map_or_else(String::new, Value::to_string);
            observe(
                "list.artifacts",
                unless(found.is_none(), "$.tasks", "no `artifacts`", text),
            );
        }
    }

    /// Checks that the status time of a task is close to the header `Date`, the agent's own clock.
    fn judge_clock(&self, answer: &Answer<'_>, evidence: &Evidence) {
        let written = task_of(answer.json).and_then(|task| task["status"]["timestamp"].as_str());
        // Before 1.0 the zone of a time that names none is not defined (0.1: UTC is only recommended).
        if written.is_some_and(is_without_zone) {
            return;
        }
        let status = task_of(answer.result).map(|task| &task["status"]["timestamp"]);
        let date = answer.date.and_then(|date| {
            let read = jiff::fmt::rfc2822::parse(date).ok()?;
            Some(read.timestamp())
        });
        if let (Some(date), Some(at)) = (date, status.and_then(time)) {
            let near = at.duration_since(date).abs() < FAR;
            let expected = format!("about {date}, as the header `Date` says");
            let found = unless(near, "$.task.status.timestamp", expected, at);
            self.observations.record("task.timestamps", found, evidence);
        }
    }
}

/// Returns the members of a result that must be as in the request: path, expected value, found value.
fn echoed_members<'a>(
    dialect: Dialect,
    operation: Operation,
    params: &'a Value,
    result: &'a Value,
) -> Vec<(&'static str, &'a Value, &'a Value)> {
    let pairs: Vec<(&'static str, &Value, &Value)> = match operation {
        Operation::GetTask | Operation::CancelTask => vec![("$.id", &params["id"], &result["id"])],
        Operation::SendMessage => {
            let (message, task, reply) = (&params["message"], &result["task"], &result["message"]);
            // In 0.2 and 0.3 the agent may replace a `contextId` that comes without a `taskId`.
            let is_made_up =
                matches!(dialect, Dialect::V0_2 | Dialect::V0_3) && message.get("taskId").is_none();
            let context = match is_made_up {
                true => &Value::Null,
                false => &message["contextId"],
            };
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

pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Returns whether a text is a date and time without a time zone.
pub(crate) fn is_without_zone(text: &str) -> bool {
    let is_time = text.contains('T') && text.parse::<DateTime>().is_ok();
    is_time && text.parse::<Timestamp>().is_err()
}

/// Least difference that two clocks of one agent cannot have.
const FAR: SignedDuration = SignedDuration::from_mins(10);
