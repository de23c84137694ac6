//! Checks of every result and event: ids, roles, bytes and times.

use std::collections::BTreeSet;

use a2a_types::ProtocolVersion;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Judge;
use super::answer::is_without_zone;
use super::invariants::{Findings, unless};
use crate::lint::is_utc;
use crate::record::Mismatch;
use crate::wire::exchange::items;

/// Checks a result or an event against what holds for all of them.
pub(super) fn check(judge: &Judge, result: &Value) -> Findings {
    let mut findings = Findings::new();
    let mut objects = Vec::new();
    find(result, "$", &mut objects);
    for ResultObject { kind, place, value } in &objects {
        findings.extend(match kind {
            ObjectKind::Task => task(judge, place, value),
            ObjectKind::Message | ObjectKind::Artifact => message_or_artifact(judge, place, value),
            ObjectKind::Other => Findings::new(),
        });
        if value.get("status").is_some_and(Value::is_object) {
            findings.extend(status(judge, place, value));
        }
        for name in ["raw", "bytes", "fileWithBytes"] {
            if let Some(Value::String(text)) = value.get(name) {
                let read = STANDARD.decode(text).is_ok();
                let place = format!("{place}.{name}");
                findings.push(("task.bytes", unless(read, &place, "Base64", text)));
            }
        }
        if judge.protocol_version == ProtocolVersion::V1_0 && value.get("kind").is_some() {
            let found = unless(false, place, "no `kind`, which 1.0 does not have", value);
            findings.push(("task.no-kind", found));
        }
    }
    for (place, message) in [("$", result), ("$.message", &result["message"])] {
        if kind_of(message) == ObjectKind::Message {
            findings.push(("task.speaker", role_mismatch(place, message)));
        }
    }
    findings
}

/// Checks that a task has its ids, no id twice in a list, and no message that names another task.
fn task(judge: &Judge, place: &str, task: &Value) -> Findings {
    let mut findings = Findings::new();
    let context = match judge.protocol_version {
        ProtocolVersion::V0_1 => "sessionId",
        _ => "contextId",
    };
    let has = |name: &str| task[name].as_str().is_some_and(|id| !id.is_empty());
    let optional = matches!(
        judge.protocol_version,
        ProtocolVersion::V0_1 | ProtocolVersion::V1_0
    );
    let holds = has("id") && (optional || has(context));
    let ids = json!({"id": task["id"], "contextId": task["contextId"]});
    let expected = match optional {
        true => "`id`".to_owned(),
        false => format!("`id` and `{context}`"),
    };
    findings.push(("task.shape", unless(holds, place, expected, ids)));
    if judge.protocol_version == ProtocolVersion::V0_1 {
        return findings;
    }
    for (list, id) in [("artifacts", "artifactId"), ("history", "messageId")] {
        let ids = items(&task[list]).iter().map(|item| &item[id]);
        let ids: Vec<_> = ids.filter_map(Value::as_str).collect();
        let distinct: BTreeSet<_> = ids.iter().collect();
        let place = format!("{place}.{list}");
        let expected = format!("no `{id}` twice");
        let found = unless(
            distinct.len() == ids.len(),
            &place,
            expected,
            ids.join(", "),
        );
        findings.push(("task.identities", found));
    }
    let messages = items(&task["history"]).iter().enumerate();
    // Messages of the caller are in the history as it sent them.
    let of_agent = |(_, message): &(usize, &Value)| role_mismatch("", message).is_none();
    for (index, message) in messages.filter(of_agent) {
        let place = format!("{place}.history[{index}]");
        findings.push(("task.identities", id_mismatch(&place, task, message)));
    }
    findings
}

/// Checks that the time of a status can be read, and that its message is by the agent.
fn status(judge: &Judge, place: &str, owner: &Value) -> Findings {
    let mut findings = Findings::new();
    let status = &owner["status"];
    if let Some(time) = status.get("timestamp") {
        let text = time.as_str().unwrap_or_default();
        let zoned = text.rfind(['+', '-']).is_some_and(|at| at > 10);
        let is_1_0 = judge.protocol_version == ProtocolVersion::V1_0;
        let read = text.parse::<jiff::Timestamp>().is_ok();
        // 0.1 reads a time without a zone as UTC, and ISO 8601 allows it as well.
        let is_iso = text.as_bytes().get(10).is_some_and(u8::is_ascii_alphabetic);
        let holds = match is_1_0 {
            true => is_utc(text),
            false => is_iso && (read && (text.ends_with('Z') || zoned) || is_without_zone(text)),
        };
        let place = format!("{place}.status.timestamp");
        let expected = match is_1_0 {
            true => "ISO 8601 in UTC, with `Z`",
            false => "ISO 8601",
        };
        findings.push(("task.timestamps", unless(holds, &place, expected, time)));
    }
    let message = ["message", "update"].map(|name| status.get(name));
    if let Some(message) = message.into_iter().flatten().next() {
        let place = format!("{place}.status.message");
        findings.push(("task.speaker", role_mismatch(&place, message)));
        if judge.protocol_version != ProtocolVersion::V0_1 {
            findings.push(("task.identities", id_mismatch(&place, owner, message)));
        }
    }
    findings
}

/// Checks what messages and artifacts have in common: extensions, id and parts.
fn message_or_artifact(judge: &Judge, place: &str, value: &Value) -> Findings {
    let mut findings = Findings::new();
    if let Some(list) = value.get("extensions") {
        let is_uri = |value: &Value| value.as_str().is_some_and(|text| text.contains(':'));
        let holds = list.as_array().is_some_and(|list| list.iter().all(is_uri));
        let place = format!("{place}.extensions");
        findings.push(("extension.in-metadata", unless(holds, &place, "URIs", list)));
    }
    let full = !items(&value["parts"]).is_empty();
    if judge.protocol_version == ProtocolVersion::V0_1 {
        // §6.4, §6.7.
        findings.push((
            "task.shape",
            unless(full, place, "at least one part", value),
        ));
    }
    if judge.protocol_version == ProtocolVersion::V1_0 {
        let id = value.get("messageId").or_else(|| value.get("artifactId"));
        let named = id.is_some_and(|id| id.as_str().is_some_and(|id| !id.is_empty()));
        let expected = "an id, and at least one part";
        let found = unless(named && full, place, expected, value);
        findings.push(("task.shape", found));
    }
    findings
}

/// Returns a mismatch unless the role of a message is the agent.
fn role_mismatch(place: &str, message: &Value) -> Option<Mismatch> {
    let role = &message["role"];
    let holds = role == "agent" || role == "ROLE_AGENT";
    let place = format!("{place}.role");
    unless(holds, &place, "the agent", role)
}

/// Returns a mismatch if a message names another task or conversation than the one it is in.
fn id_mismatch(place: &str, owner: &Value, message: &Value) -> Option<Mismatch> {
    let own = owner.get("taskId").or_else(|| owner.get("id"));
    let pairs = [("taskId", own), ("contextId", owner.get("contextId"))];
    pairs.into_iter().find_map(|(name, own)| {
        let (own, id) = (own?, message.get(name)?);
        // ProtoJSON may write an absent id as an empty text.
        let holds = id == own || id == "";
        unless(holds, &format!("{place}.{name}"), own.to_string(), id)
    })
}

/// An object in a result, with its path.
struct ResultObject<'a> {
    kind: ObjectKind,
    place: String,
    value: &'a Value,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ObjectKind {
    Task,
    Message,
    Artifact,
    Other,
}

fn kind_of(value: &Value) -> ObjectKind {
    let Some(members) = value.as_object() else {
        return ObjectKind::Other;
    };
    let has = |name: &str| members.contains_key(name);
    let is_task = value["status"]["state"].is_string()
        && !has("taskId")
        && (has("id") || has("contextId"))
        && !has("final");
    let has_parts = has("parts") || has("content");
    match (is_task, has_parts) {
        (true, _) => ObjectKind::Task,
        (false, true) if has("role") || has("messageId") => ObjectKind::Message,
        (false, true) => ObjectKind::Artifact,
        (false, false) => ObjectKind::Other,
    }
}

/// Collects every object of a result, except those in `metadata`, `data` and `params`, which users define.
fn find<'a>(value: &'a Value, place: &str, objects: &mut Vec<ResultObject<'a>>) {
    match value {
        Value::Object(members) => {
            objects.push(ResultObject {
                kind: kind_of(value),
                place: place.to_owned(),
                value,
            });
            let theirs = ["metadata", "data", "params"];
            let members = members.iter();
            for (name, inner) in members.filter(|(name, _)| !theirs.contains(&name.as_str())) {
                find(inner, &format!("{place}.{name}"), objects);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                find(inner, &format!("{place}[{index}]"), objects);
            }
        }
        _ => {}
    }
}
