//! Checks of reports on a task against earlier reports.

use std::sync::PoisonError;

use a2a_transport::Binding;
use a2a_types::{Operation, ProtocolVersion, TaskState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Judge;
use super::invariants::{Findings, unless};
use crate::case::{equivalent, pattern};
use crate::record::Mismatch;
use crate::wire::exchange::{items, task_of};

/// Checks the history of a task against the messages that were sent.
pub(super) fn history(judge: &Judge, task: &Value) -> Findings {
    let mut findings = Findings::new();
    let sent = judge.task_records.sent.lock();
    let sent = sent.unwrap_or_else(PoisonError::into_inner);
    for (index, message) in items(&task["history"]).iter().enumerate() {
        let id = message["messageId"].as_str().unwrap_or_default();
        let Some(before) = sent.get(id) else { continue };
        let mut before = before.clone();
        if judge.binding != Binding::JsonRpc && judge.protocol_version == ProtocolVersion::V0_3 {
            without_part_members(&mut before);
        }
        let same = ["role", "parts"].iter().all(|name| {
            let before = before.get(name);
            before.is_none_or(|before| pattern::is_like(before, message.get(name)))
        });
        let place = format!("$.history[{index}]");
        let found = unless(same, &place, format!("{before}, as it was said"), message);
        findings.push(("task.messages-kept", found));
    }
    findings
}

/// Checks the task of an answer against earlier reports of it, and records it.
pub(super) fn report(
    judge: &Judge,
    operation: Operation,
    params: &Value,
    result: &Value,
) -> Findings {
    let mut findings = Findings::new();
    // A listed task may have changed while the list was on its way.
    let is_current = matches!(
        operation,
        Operation::SendMessage | Operation::GetTask | Operation::CancelTask
    );
    let Some(task) = task_of(result).filter(|_| is_current) else {
        return findings;
    };
    let Some(id) = task["id"].as_str() else {
        return findings;
    };
    judge.own.add(id);
    let tasks = judge.task_records.tasks.lock();
    let mut tasks = tasks.unwrap_or_else(PoisonError::into_inner);
    let record = tasks.entry(id.to_owned()).or_default();
    let message = &params["message"];
    let is_send = operation == Operation::SendMessage;
    if judge.protocol_version == ProtocolVersion::V0_1 {
        if is_send {
            // In 0.1 a message may restart a task.
            record.ended = None;
        }
    } else if is_send && params.is_object() && message.get("taskId").is_none() {
        let new = message.get("contextId").is_none();
        let made_for = message["messageId"].as_str().map(str::to_owned);
        let first = record
            .made_for
            .get_or_insert(made_for.clone().unwrap_or_default());
        if new && let Some(made_for) = made_for {
            let expected = "an id that no other task has";
            let found = unless(*first == made_for, "$.task.id", expected, id);
            findings.push(("send.names-new-task", found));
        }
    }
    if let Some(context) = task.get("contextId") {
        let before = record.context.get_or_insert_with(|| context.clone());
        let expected = format!("{before}, as before");
        let found = unless(before == context, "contextId", expected, context);
        findings.push(("task.identities", found));
    }
    match &record.ended {
        Some(ended) => findings.push(("task.ended-stays", changed(operation, ended, task))),
        // The answer to a cancellation may be a part of the task, so that only its state counts.
        None if has_ended(task) && operation == Operation::CancelTask => {
            let state = &task["status"]["state"];
            record.ended = Some(json!({"status": {"state": state}, "isPart": true}));
        }
        None if has_ended(task) => record.ended = Some(task.clone()),
        None => {}
    }
    findings
}

/// Removes what the ProtoJSON of 0.3 has no members for: names of files and metadata of parts.
fn without_part_members(message: &mut Value) {
    for part in message["parts"].as_array_mut().into_iter().flatten() {
        if let Some(part) = part.as_object_mut() {
            part.retain(|name, _| name != "filename" && name != "metadata");
        }
    }
}

fn has_ended(task: &Value) -> bool {
    let state = TaskState::deserialize(&task["status"]["state"]);
    state.is_ok_and(TaskState::is_terminal)
}

/// Returns the first difference between a task that has ended and a later report of it.
fn changed(operation: Operation, before: &Value, now: &Value) -> Option<Mismatch> {
    let (status, status_now) = (&before["status"], &now["status"]);
    let mut places = vec![("status.state", &status["state"], &status_now["state"])];
    if operation != Operation::CancelTask && before["isPart"] != true {
        let time = (&status["timestamp"], &status_now["timestamp"]);
        places.push(("status.timestamp", time.0, time.1));
        places.push(("artifacts", &before["artifacts"], &now["artifacts"]));
    }
    places.into_iter().find_map(|(place, before, now)| {
        let expected = format!("{before}, as it ended");
        unless(equivalent(before, now), place, expected, now)
    })
}
