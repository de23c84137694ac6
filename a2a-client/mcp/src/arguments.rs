//! Arguments of a tool, and the message to the agent that they make.

use a2a_types::{Base64, Content, Message, Object, Part, Role};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

/// Arguments of a tool whose skill has no schema.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainArguments {
    message: Option<String>,
    #[serde(default)]
    files: Vec<File>,
    data: Option<Value>,
}

/// File among the arguments: its text, its bytes in Base64, or a URL.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    mime_type: Option<String>,
    text: Option<String>,
    bytes: Option<String>,
    url: Option<String>,
}

/// Returns the message that the arguments make. A skill with a schema takes them as data.
///
/// Errors: a sentence for the caller.
pub(crate) fn message(mut arguments: Object, schema: Option<&Object>) -> Result<Message, String> {
    let properties = schema.and_then(|schema| schema.get("properties"));
    let mut take = |name| match properties.and_then(|properties| properties.get(name)) {
        // The skill has an argument of this name itself.
        Some(_) => Ok(None),
        None => take_text(&mut arguments, name),
    };
    let (context_id, task_id) = (take("context_id")?, take("task_id")?);
    let parts = match schema {
        Some(_) => vec![Part::data(Value::Object(arguments))],
        None => plain_parts(arguments)?,
    };
    let mut message = Message::new(Role::User, parts);
    message.context_id = context_id.map(Into::into);
    message.task_id = task_id.map(Into::into);
    Ok(message)
}

fn take_text(arguments: &mut Object, name: &str) -> Result<Option<String>, String> {
    match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{name}: expected a string, found {other}")),
    }
}

fn plain_parts(arguments: Object) -> Result<Vec<Part>, String> {
    let read = serde_json::from_value::<PlainArguments>(Value::Object(arguments));
    let read = read.map_err(|error| {
        format!("the arguments cannot be read: {error}; a call has message, files, data, context_id and task_id")
    })?;
    let mut parts: Vec<_> = read.message.map(Part::text).into_iter().collect();
    for (index, file) in read.files.into_iter().enumerate() {
        parts.push(file.into_part(index)?);
    }
    parts.extend(read.data.map(Part::data));
    match parts.is_empty() {
        true => Err("there is nothing to send: expected message, files or data".to_owned()),
        false => Ok(parts),
    }
}

impl File {
    fn into_part(self, index: usize) -> Result<Part, String> {
        let content = match (self.text, self.bytes, self.url) {
            (Some(text), None, None) => Content::Text(text),
            (None, Some(bytes), None) => {
                let bytes = STANDARD.decode(bytes);
                let bytes = bytes
                    .map_err(|error| format!("files[{index}].bytes: expected Base64: {error}"))?;
                Content::Raw(Base64::encode(bytes))
            }
            (None, None, Some(url)) => Content::Url(url),
            _ => {
                return Err(format!(
                    "files[{index}]: expected exactly one of text, bytes and url"
                ));
            }
        };
        let mut part = Part::from(content);
        part.filename = self.name;
        part.media_type = self.mime_type;
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(arguments: Value, expected: Result<Value, &str>) {
        let Value::Object(arguments) = arguments else {
            panic!("expected an object");
        };
        let parts = message(arguments, None).map(|message| json!(message.parts));
        match expected {
            Ok(expected) => assert_eq!(parts, Ok(expected)),
            Err(problem) => {
                let error = parts.expect_err("expected an error");
                assert!(error.contains(problem), "{error}");
            }
        }
    }

    #[test]
    fn arguments_become_parts() {
        check(
            json!({"message": "hi", "data": {"a": 1}, "files": [
                {"name": "a.txt", "text": "A"},
                {"url": "https://example.com/a", "mime_type": "image/png"},
                {"bytes": "AAE=", "mime_type": "image/png"},
            ]}),
            Ok(json!([
                {"text": "hi"},
                {"text": "A", "filename": "a.txt"},
                {"url": "https://example.com/a", "mediaType": "image/png"},
                {"raw": "AAE=", "mediaType": "image/png"},
                {"data": {"a": 1}},
            ])),
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        check(json!({}), Err("nothing to send"));
        check(json!({"mesage": "hi"}), Err("mesage"));
        check(json!({"message": 1}), Err("expected a string"));
        check(json!({"message": "hi", "task_id": 1}), Err("task_id"));
        check(json!({"files": [{"name": "a"}]}), Err("files[0]"));
        check(json!({"files": [{"bytes": "%"}]}), Err("files[0].bytes"));
    }
}
