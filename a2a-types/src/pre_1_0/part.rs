//! Parts of messages and artifacts: text, file or data.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::reading::{Normalizer, Quirk, absent};
use crate::{Base64, Content, Object, Part};

/// Metadata key of a data part whose data had to be wrapped in an object.
const WRAPPED: &str = "a2a-wrapped-value";
/// Metadata key for the media type of a part that is not a file.
const MEDIA_TYPE: &str = "mimeType";
/// Metadata key for the name of a part that is not a file.
const FILENAME: &str = "filename";

/// A part as the versions before 1.0 represent it.
pub(crate) enum TaggedContent {
    Text(String),
    File(FileFields),
    Data(Object),
}

/// A file: its bytes or their URI, and what is known about it. A file without either is only mentioned (0.1.0
/// §6.6).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileFields {
    pub(crate) name: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) bytes: Option<Base64>,
    pub(crate) uri: Option<String>,
}

/// Converts a part: members that only files have go into the metadata, data becomes an object.
pub(crate) fn to_tagged(part: Part) -> (TaggedContent, Option<Object>) {
    let Part {
        content,
        media_type,
        filename,
        mut metadata,
    } = part;
    let mut note = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            metadata
                .get_or_insert_default()
                .insert(key.to_owned(), value);
        }
    };
    let file = |bytes, uri| {
        TaggedContent::File(FileFields {
            name: filename.clone(),
            mime_type: media_type.clone(),
            bytes,
            uri,
        })
    };
    let tagged = match content {
        Content::Raw(raw) => file(Some(raw), None),
        Content::Url(url) => file(None, Some(url)),
        Content::Text(text) => {
            note(MEDIA_TYPE, media_type.map(Value::String));
            note(FILENAME, filename.map(Value::String));
            TaggedContent::Text(text)
        }
        Content::Data(data) => {
            note(MEDIA_TYPE, media_type.map(Value::String));
            note(FILENAME, filename.map(Value::String));
            TaggedContent::Data(match data {
                Value::Object(object) => object,
                other => {
                    note(WRAPPED, Some(Value::Bool(true)));
                    Map::from_iter([("value".to_owned(), other)])
                }
            })
        }
    };
    (tagged, metadata)
}

/// Reverses [`to_tagged`].
pub(crate) fn from_tagged(content: TaggedContent, mut metadata: Option<Object>) -> Part {
    match content {
        TaggedContent::File(file) => Part {
            content: match (file.bytes, file.uri) {
                (Some(raw), _) => Content::Raw(raw),
                (None, Some(url)) => Content::Url(url),
                (None, None) => {
                    let mention = [("name", file.name), ("mimeType", file.mime_type)];
                    let known = mention
                        .into_iter()
                        .filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
                    return Part {
                        metadata,
                        ..Part::data(Value::Object(known.collect()))
                    };
                }
            },
            media_type: file.mime_type,
            filename: file.name,
            metadata,
        },
        TaggedContent::Text(text) => Part {
            content: Content::Text(text),
            media_type: take_text(&mut metadata, MEDIA_TYPE),
            filename: take_text(&mut metadata, FILENAME),
            metadata,
        },
        TaggedContent::Data(mut data) => {
            let is_wrapper = data.len() == 1 && data.contains_key("value");
            let wrapped = |flag: &Value| is_wrapper && *flag == Value::Bool(true);
            let data = match take(&mut metadata, WRAPPED, wrapped) {
                Some(_) => data.remove("value").unwrap_or_default(),
                None => Value::Object(data),
            };
            Part {
                content: Content::Data(data),
                media_type: take_text(&mut metadata, MEDIA_TYPE),
                filename: take_text(&mut metadata, FILENAME),
                metadata,
            }
        }
    }
}

/// Takes a value out of the metadata, which becomes `None` if it held nothing else.
pub(crate) fn take(
    metadata: &mut Option<Object>,
    key: &str,
    wanted: impl FnOnce(&Value) -> bool,
) -> Option<Value> {
    let object = metadata.as_mut()?;
    if !object.get(key).is_some_and(wanted) {
        return None;
    }
    let value = object.remove(key);
    if object.is_empty() {
        *metadata = None;
    }
    value
}

fn take_text(metadata: &mut Option<Object>, key: &str) -> Option<String> {
    match take(metadata, key, Value::is_string) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Repairs a part that should declare its kind in `tag`, and may declare it in `other`.
pub(crate) fn normalize_part(
    part: &mut Object,
    normalizer: &mut Normalizer<'_>,
    tag: &str,
    other: &str,
) {
    normalizer.rename(part, other, tag, Quirk::TypeForKind);
    if let Some(kind) = ["text", "file", "data"]
        .into_iter()
        .find(|kind| !absent(part, kind))
    {
        normalizer.supply(part, tag, kind, Quirk::NoKind);
    }
    normalizer.member(part, "file", |file, normalizer| {
        if absent(file, "uri") {
            normalizer.rename(file, "data", "bytes", Quirk::FileData);
        }
        normalizer.rename(file, "fileWithBytes", "bytes", Quirk::ProtoFile);
        normalizer.rename(file, "fileWithUri", "uri", Quirk::ProtoFile);
    });
    let is_data = part.get(tag).is_some_and(|kind| kind == "data");
    if is_data && part.get("data").is_some_and(|data| !data.is_object()) {
        normalizer.change(part, "data", Quirk::DataNotObject, |data| {
            Some(serde_json::json!({"value": data}))
        });
        mark_wrapped(part);
    }
}

/// Marks a part whose data is the `value` of an object made for it.
pub(crate) fn mark_wrapped(part: &mut Object) {
    let metadata = part.entry("metadata").or_insert(Value::Null);
    if let Value::Object(metadata) = metadata {
        metadata.insert(WRAPPED.to_owned(), true.into());
    } else {
        *metadata = serde_json::json!({ WRAPPED: true });
    }
}
