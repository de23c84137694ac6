//! `cargo xtask schema`: the JSON Schemas as files, so that a change of the wire shows in a diff.

use std::fs;
use std::path::PathBuf;

use a2a_types::ProtocolVersion;
use a2a_types::schema::bundle;
use serde_json::Value;

use crate::workspace::{self, Failure};

/// Returns the directory of the schemas.
pub(crate) fn directory() -> PathBuf {
    workspace::root().join("a2a-types/schemas")
}

/// Writes the schema of every protocol version.
pub(crate) fn write() -> Result<(), Failure> {
    fs::create_dir_all(directory()).map_err(|error| format!("a2a-types/schemas: {error}"))?;
    for (name, bundle) in bundles() {
        let path = directory().join(&name);
        fs::write(&path, text(&bundle)).map_err(|error| format!("{name}: {error}"))?;
        println!("a2a-types/schemas/{name}");
    }
    Ok(())
}

/// Fails if a file is not what would be written.
pub(crate) fn check() -> Result<(), Failure> {
    for (name, bundle) in bundles() {
        let file = format!("a2a-types/schemas/{name}");
        let found = fs::read_to_string(directory().join(&name))
            .map_err(|error| format!("{file}: {error}"))?;
        if found == text(&bundle) {
            continue;
        }
        let found: Value =
            serde_json::from_str(&found).map_err(|error| format!("{file}: {error}"))?;
        let place = match first_difference("$", &found, &bundle) {
            Some(path) => format!("differs at {path}"),
            None => "is formatted differently".to_owned(),
        };
        return Err(format!("{file} {place}; run `cargo xtask schema`"));
    }
    Ok(())
}

fn bundles() -> impl Iterator<Item = (String, Value)> {
    let file = |protocol_version: &ProtocolVersion| {
        (
            format!("v{protocol_version}.json"),
            bundle(*protocol_version),
        )
    };
    ProtocolVersion::ALL.iter().map(file)
}

fn text(bundle: &Value) -> String {
    format!("{bundle:#}\n")
}

/// The JSON path of the first value that differs, in the order of the keys.
fn first_difference(path: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys: Vec<_> = one.keys().chain(other.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let path = format!("{path}.{key}");
                let (Some(one), Some(other)) = (one.get(key), other.get(key)) else {
                    return Some(path);
                };
                first_difference(&path, one, other)
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let items = one.iter().zip(other).enumerate();
            items
                .map(|(index, (one, other))| {
                    first_difference(&format!("{path}[{index}]"), one, other)
                })
                .find_map(|difference| difference)
        }
        _ => (one != other).then(|| path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_files_are_what_the_types_say() {
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn the_first_difference_is_named() {
        let one = json!({"a": [1, {"b": 2}], "c": 3});
        let check = |other: Value, path: Option<&str>| {
            assert_eq!(
                first_difference("$", &one, &other).as_deref(),
                path,
                "{other}"
            );
        };
        check(one.clone(), None);
        check(json!({"a": [1, {"b": 4}], "c": 4}), Some("$.a[1].b"));
        check(json!({"a": [1], "c": 3}), Some("$.a"));
        check(json!({"a": [1, {"b": 2}]}), Some("$.c"));
        check(json!([]), Some("$"));
    }
}
