//! Names of resources, 0.3 §6.10 as in the proto: `tasks/{task}/pushNotificationConfigs/{config}`.

use crate::reading::{JsonPath, Violation};
use crate::{ConfigId, TaskId};

/// Returns the resource name of a webhook, or of its task alone if the webhook has no id.
pub(super) fn resource(task: &str, config: &str) -> String {
    match config {
        "" => format!("tasks/{task}"),
        config => format!("tasks/{task}{BELOW}{config}"),
    }
}

/// Returns the webhook id in a resource name. Peers in Python write `None` for a webhook without
/// id, peers in JavaScript `undefined`.
pub(super) fn config_of(name: &str) -> Option<ConfigId> {
    let (_, id) = name.rsplit_once(BELOW)?;
    (!matches!(id, "" | "None" | "undefined")).then(|| id.into())
}

/// Returns the task of a resource name, `tasks/{task}` or below.
pub(super) fn task_of(name: &str) -> Option<TaskId> {
    let rest = name.strip_prefix("tasks/")?;
    let task = rest.rsplit_once(BELOW).map_or(rest, |(task, _)| task);
    (!task.is_empty()).then(|| task.into())
}

/// Keeps the task that a member names, if it does. Errors: another one is known already.
pub(super) fn agree(
    known: &mut Option<TaskId>,
    named: Option<TaskId>,
    at: &JsonPath<'_>,
) -> Result<(), Violation> {
    let named = named.filter(|id| !id.is_empty());
    match (&*known, &named) {
        (Some(known), Some(named)) if known != named => Err(at.violation(format!(
            "names the task `{named}`, the request is about `{known}`"
        ))),
        _ => {
            *known = named.or(known.take());
            Ok(())
        }
    }
}

/// Keeps the task of a resource name, if there is one. Errors: also a name of another form.
pub(super) fn agree_on_name(
    known: &mut Option<TaskId>,
    name: Option<&str>,
    expected: &str,
    at: &JsonPath<'_>,
) -> Result<(), Violation> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    let named = task_of(name).ok_or_else(|| at.violation(expected))?;
    agree(known, Some(named), at)
}

/// Separator of task and webhook in a resource name.
const BELOW: &str = "/pushNotificationConfigs/";
