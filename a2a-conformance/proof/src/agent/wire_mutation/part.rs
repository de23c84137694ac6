//! Wire mutations of parts: text, data, files.

use serde_json::{Value, json};

use super::MutatorState;
use super::json_document::{each, list_of, without};
use crate::agent::interceptor::InterceptedRequest;

pub(super) fn part_kinds(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    // HTTP+JSON of 0.3 has two forms of JSON: one with `kind`, and one without.
    if request.rpc_method().is_none() && request.version.as_deref() != Some("1.0") {
        return;
    }
    each(json, &mut |thing| {
        for name in ["parts", "content"] {
            let parts = thing.get_mut(name).and_then(Value::as_array_mut);
            for part in parts.into_iter().flatten().filter_map(Value::as_object_mut) {
                if part.remove("kind").is_none() {
                    part.insert("kind".to_owned(), json!("text"));
                }
            }
        }
    });
}

pub(super) fn text(json: &mut Value, change: &dyn Fn(&str) -> String) {
    each(json, &mut |thing| {
        if let Some(Value::String(text)) = thing.get_mut("text") {
            *text = change(text);
        }
    });
}

pub(super) fn text_trimmed(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    text(json, &|text| text.trim().to_owned());
}

pub(super) fn text_ascii(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    text(json, &|text| {
        text.replace(|letter: char| !letter.is_ascii(), "?")
    });
}

pub(super) fn text_escaped(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    text(json, &|text| {
        text.replace('&', "&amp;").replace('<', "&lt;")
    });
}

pub(super) fn data_as_text(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if let Some(data) = thing.get_mut("data")
            && data.is_object()
        {
            *data = json!(data.to_string());
        }
    });
}

pub(super) fn bytes(json: &mut Value, change: &dyn Fn(&str) -> String) {
    each(json, &mut |thing| {
        for name in ["raw", "bytes", "fileWithBytes"] {
            if let Some(Value::String(text)) = thing.get_mut(name) {
                *text = change(text);
            }
        }
    });
}

pub(super) fn bytes_url_safe(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    bytes(json, &|text| text.replace('+', "-").replace('/', "_"));
}

pub(super) fn bytes_unpadded(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    bytes(json, &|text| text.trim_end_matches('=').to_owned());
}

pub(super) fn media_type_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    without(json, "mediaType", &|_| true);
    without(json, "mimeType", &|_| true);
}

pub(super) fn file_name_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    without(json, "filename", &|_| true);
    let is_file = |thing: &serde_json::Map<String, Value>| {
        ["bytes", "uri", "fileWithBytes", "fileWithUri"]
            .iter()
            .any(|name| thing.contains_key(*name))
    };
    without(json, "name", &is_file);
}

pub(super) fn part_metadata_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "parts", &mut |parts| {
        for part in parts {
            if let Some(part) = part.as_object_mut() {
                part.remove("metadata");
            }
        }
    });
}

pub(super) fn extension_names(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("parts") {
            thing.insert("extensions".to_owned(), json!(["mood"]));
        }
    });
}
