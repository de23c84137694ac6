//! The ProtoJSON of version 0.3: round trips, normalization and refusals.

mod normalized;
mod refused;
mod round_trips;
mod webhooks;

use std::fmt::Debug;

use a2a_types::TaskId;
use a2a_types::reading::{Hints, Violation, WithRepairs};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns the hints of an answer or request about this task.
pub(crate) fn hints(task: Option<&TaskId>) -> Hints<'_> {
    Hints {
        task,
        ..Hints::at("$")
    }
}

pub(crate) fn value<T: DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).unwrap()
}

pub(crate) fn text(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[track_caller]
pub(crate) fn unrepaired<T: Debug>(read: Result<WithRepairs<T>, Violation>) -> T {
    let read = read.unwrap();
    assert_eq!(read.repairs, []);
    read.value
}
