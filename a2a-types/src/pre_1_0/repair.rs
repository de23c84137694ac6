//! Checks and repairs of members that the versions have in common.

use serde_json::Value;

use crate::reading::{JsonPath, Normalizer, Quirk, Violation, absent, spelled};
use crate::{Object, Timestamp};

/// Checks the parts of a message for at least one: required of a caller's message, not of an agent's.
pub(crate) fn check_has_parts<T>(parts: &[T], at: &JsonPath<'_>) -> Result<(), Violation> {
    match parts {
        [] => Err(at.violation("a message needs at least one part")),
        _ => Ok(()),
    }
}

/// Repairs the `status` of a task or event: a time without zone, an unknown state.
pub(crate) fn normalize_status(
    status: &mut Object,
    normalizer: &mut Normalizer<'_>,
    zone_required: bool,
    states: &[&str],
    normalize_message: impl FnOnce(&mut Object, &mut Normalizer<'_>),
) {
    if zone_required {
        normalize_time(status, normalizer);
    }
    normalizer.change(status, "state", Quirk::UnknownWord, |state| {
        let word = state.as_str()?;
        let plain = word
            .strip_prefix("TASK_STATE_")
            .unwrap_or(word)
            .to_ascii_lowercase()
            .replace('_', "-");
        let known = match plain.as_str() {
            "cancelled" => "canceled",
            plain => states
                .iter()
                .copied()
                .find(|state| *state == plain)
                .unwrap_or("unknown"),
        };
        (known != word).then(|| known.into())
    });
    normalizer.member(status, "message", normalize_message);
}

/// Repairs the sender of a message: an agent's that is missing, or a word that the protocol version
/// does not have. A caller has to name its role.
pub(crate) fn normalize_role(message: &mut Object, normalizer: &mut Normalizer<'_>, role: &str) {
    if role == "agent" {
        normalizer.supply(message, "role", role, Quirk::NoRole);
    }
    normalizer.change(message, "role", Quirk::UnknownWord, |value| {
        let word = value.as_str()?;
        let plain = word.strip_prefix("ROLE_").unwrap_or(word);
        let known = ["user", "agent"]
            .into_iter()
            .find(|known| plain.eq_ignore_ascii_case(known));
        let known = known.or((role == "agent").then_some(role))?;
        (known != word).then(|| known.into())
    });
}

/// Repairs a time without zone.
pub(crate) fn normalize_time(status: &mut Object, normalizer: &mut Normalizer<'_>) {
    normalizer.change(status, "timestamp", Quirk::NoTimeZone, |time| {
        let text = time.as_str()?;
        let unreadable = text.parse::<Timestamp>().is_err();
        let read = Timestamp::parse_zone_optional(text).ok()?;
        unreadable.then(|| read.to_exact_string().into())
    });
}

/// Repairs an id that was sent as a number: in an answer it becomes the requested task's.
pub(crate) fn normalize_task_id(object: &mut Object, normalizer: &mut Normalizer<'_>, name: &str) {
    let task = normalizer.task().cloned();
    normalizer.change(object, name, Quirk::NumericId, |id| {
        let number = id.as_number()?;
        Some(task.map_or_else(|| number.to_string(), String::from).into())
    });
}

/// Moves a `messageId` that is next to the member `message` into it. `ids` are the spellings of an id.
pub(crate) fn normalize_message_id(
    params: &mut Object,
    normalizer: &mut Normalizer<'_>,
    message: &str,
    ids: &[&str],
) {
    if params.get("messageId").is_some_and(Value::is_string)
        && let Some(Value::Object(inside)) = params.get(message)
        && absent(inside, spelled(inside, ids))
        && let Some(id) = params.remove("messageId")
    {
        normalizer.note(Quirk::MessageIdOutside, "messageId");
        normalizer.member(params, message, |message, _| {
            message.retain(|name, _| !ids.contains(&name.as_str()));
            message.insert("messageId".to_owned(), id);
        });
    }
}

/// Makes an event append its artifact to the one before, if that has no id: replacing it could only lose
/// text. `ids` are the spellings of an id.
pub(crate) fn normalize_append(event: &mut Object, ids: &[&str]) {
    let is_anonymous = |artifact: &Value| {
        let id = ids.iter().find_map(|id| artifact.get(*id));
        id.and_then(Value::as_str).is_none_or(str::is_empty)
    };
    if event.get("artifact").is_some_and(is_anonymous) {
        event.insert("append".to_owned(), true.into());
    }
}

/// Repairs a single scheme that should be a list.
pub(crate) fn normalize_schemes(authentication: &mut Object, normalizer: &mut Normalizer<'_>) {
    normalizer.change(authentication, "schemes", Quirk::SchemesString, |schemes| {
        schemes.is_string().then(|| vec![schemes.clone()].into())
    });
}
