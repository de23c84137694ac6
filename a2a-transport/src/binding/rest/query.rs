//! Parameters in the query of a URL. Specification 1.0 §11.5.

use std::borrow::Cow;

use a2a_types::reading::Violation;
use a2a_types::{TaskState, Timestamp};
use form_urlencoded::Serializer;
use serde_json::{Map, Value};

/// The JSON path of parameters in errors.
pub(super) const ROOT: &str = "query";

/// The parameters that have another type than text, which ProtoJSON takes numbers for as well.
const FLAGS: [&str; 2] = ["includeArtifacts", "include_artifacts"];

/// Parameters as an object: true and false by name, everything else as text.
pub(super) fn read(query: Option<&str>) -> Result<Map<String, Value>, Violation> {
    let mut object = Map::new();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let value = match value.as_ref() {
            "true" if FLAGS.contains(&name.as_ref()) => Value::Bool(true),
            "false" if FLAGS.contains(&name.as_ref()) => Value::Bool(false),
            // A plus sign that the caller did not encode: `2026-01-01T00:00:00+00:00`.
            text if is_time(&name) => Value::String(text.replace(' ', "+")),
            text => match text.parse::<i64>() {
                // Enums go by name, and may go by number.
                Ok(number) if name == "status" => number.into(),
                _ => Value::String(text.to_owned()),
            },
        };
        if object.insert(name.clone().into_owned(), value).is_some() {
            return Err(Violation {
                path: format!("{ROOT}.{}", crate::error::clip(&name)),
                problem: "given twice, expected once".to_owned(),
            });
        }
    }
    Ok(object)
}

fn is_time(name: &str) -> bool {
    matches!(name, "statusTimestampAfter" | "status_timestamp_after")
}

/// Gives parameters of 0.3 the names and values of 1.0. Its proto cannot distinguish a history
/// length of 0 from an absent one.
pub(super) fn modernize(members: &mut Map<String, Value>) {
    for name in ["historyLength", "history_length"] {
        if members.get(name).is_some_and(|length| length == "0") {
            members.remove(name);
        }
    }
    if let Some(Value::String(state)) = members.get_mut("status")
        && !state.starts_with(STATE)
    {
        *state = match state.to_ascii_uppercase().replace('-', "_").as_str() {
            "UNKNOWN" => format!("{STATE}UNSPECIFIED"),
            word => format!("{STATE}{word}"),
        };
    }
    for name in ["lastUpdatedTime", "last_updated_time", "lastUpdatedAfter"] {
        if let Some(Value::String(time)) = members.remove(name) {
            let time = time.replace(' ', "+");
            let millis = time.parse().ok().and_then(Timestamp::from_millis);
            let time = millis.map_or(time, |time| time.to_string());
            members.insert("statusTimestampAfter".to_owned(), time.into());
        }
    }
}

/// Reverses [`modernize`].
pub(super) fn antiquate(members: &mut Map<String, Value>) {
    if let Some(time) = members.remove("statusTimestampAfter") {
        members.insert("lastUpdatedTime".to_owned(), time);
    }
    if let Some(Value::String(state)) = members.get_mut("status")
        && state == TaskState::Canceled.as_str()
    {
        *state = a2a_types::v0_3::TaskState::Cancelled.as_str().to_owned();
    }
}

/// Prefix of the names of task states.
const STATE: &str = "TASK_STATE_";

/// Returns parameters as a query with its question mark, or an empty string if there are none.
pub(super) fn write<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in members {
        let text = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        query.append_pair(name, &text);
    }
    match query.finish() {
        query if query.is_empty() => query,
        query => format!("?{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn written_query_is_read_back() {
        let members = json!({"pageSize": 5, "contextId": "a&b c+", "includeArtifacts": true});
        let query = write(members.as_object().unwrap().iter());
        let read = read(query.strip_prefix('?')).unwrap();
        let texts = json!({"pageSize": "5", "contextId": "a&b c+", "includeArtifacts": true});
        assert_eq!(Value::Object(read), texts);
        assert_eq!(write([].into_iter()), "");
    }

    #[test]
    fn states_are_converted_from_and_to_0_3() {
        for (old, new) in [
            ("unknown", "TASK_STATE_UNSPECIFIED"),
            ("input-required", "TASK_STATE_INPUT_REQUIRED"),
            ("TASK_STATE_CANCELLED", "TASK_STATE_CANCELLED"),
        ] {
            let mut members = read(Some(&format!("status={old}"))).unwrap();
            modernize(&mut members);
            assert_eq!(members["status"], new);
        }
        for (new, old) in [
            ("TASK_STATE_CANCELED", "TASK_STATE_CANCELLED"),
            ("TASK_STATE_WORKING", "TASK_STATE_WORKING"),
        ] {
            let mut members = read(Some(&format!("status={new}"))).unwrap();
            antiquate(&mut members);
            assert_eq!(members["status"], old);
        }
    }

    #[test]
    fn unencoded_plus_is_read_and_repeated_parameter_is_refused() {
        let time = "statusTimestampAfter=2026-01-01T00:00:00+00:00";
        assert_eq!(
            read(Some(time)).unwrap()["statusTimestampAfter"],
            "2026-01-01T00:00:00+00:00"
        );
        let twice = read(Some("pageSize=1&pageSize=2")).unwrap_err();
        assert_eq!(twice.path, "query.pageSize");
        assert_eq!(read(None).unwrap(), Map::new());
    }
}
