//! Detection of the kind of JSON, plain or ProtoJSON, of a 0.3 text.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The two kinds of JSON in bodies of 0.3's HTTP+JSON binding (0.3 §3.2.2 has one, §3.2.3 the
/// other).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Flavour {
    /// JSON of the JSON-RPC binding: `kind`, `user`, `input-required`. Its types are in
    /// [`json`](super::json).
    Plain,
    /// ProtoJSON: `content`, `ROLE_USER`, `TASK_STATE_INPUT_REQUIRED`.
    Proto,
}

impl Flavour {
    /// Returns the flavour of a request body, an answer or an event, by the members and words that
    /// only one of the two has; `None` if there are none or the text is not JSON.
    ///
    /// The first sign decides, from the outside in. Only places where the protocol has such signs are
    /// searched, and of each list only the first few items.
    pub fn of(json: &str) -> Option<Self> {
        let mut places = MAX_PLACES;
        search(json, MAX_DEPTH, &mut places)
    }
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Searches a text down to `depth` levels, and looks at no more than `places` values.
fn search(json: &str, depth: usize, places: &mut usize) -> Option<Flavour> {
    if *places == 0 || depth == 0 {
        return None;
    }
    *places -= 1;
    if json.trim_start().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        let mut first = items.into_iter().take(MAX_ITEMS);
        return first.find_map(|item| search(item.get(), depth - 1, places));
    }
    let members: Members<'_> = serde_json::from_str(json).ok()?;
    flavour_of_words(&members)
        .or_else(|| flavour_of_members(&members))
        .or_else(|| flavour_of_security(&members))
        .or_else(|| {
            let mut inner = INNER.iter().filter_map(|name| members.get(*name));
            inner.find_map(|value| search(value.get(), depth - 1, places))
        })
}

fn flavour_of_words(members: &Members<'_>) -> Option<Flavour> {
    let scalar = |name: &str| -> Option<Value> {
        let text = members.get(name)?.get();
        let is_scalar = !text.starts_with(['{', '[']);
        is_scalar.then(|| serde_json::from_str(text).ok())?
    };
    let has_word = |name: &&str| matches!(scalar(name), Some(Value::String(_)));
    if ["kind", "type"].iter().any(has_word) {
        return Some(Flavour::Plain);
    }
    let word = |name: &str, prefix: &str| match scalar(name)? {
        Value::Number(_) => Some(Flavour::Proto),
        Value::String(word) if word.starts_with(prefix) => Some(Flavour::Proto),
        Value::String(word) if !word.is_empty() && word.bytes().all(is_plain) => {
            Some(Flavour::Plain)
        }
        _ => None,
    };
    let named = || match scalar("name")? {
        Value::String(name) if name.starts_with("tasks/") => Some(Flavour::Proto),
        _ => None,
    };
    word("role", "ROLE_")
        .or_else(|| word("state", "TASK_STATE_"))
        .or_else(named)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'-'
}

fn flavour_of_members(members: &Members<'_>) -> Option<Flavour> {
    let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
    // A part without the member that declares its kind.
    let is_part = has(&["text", "file", "data"]) && !has(&["message", "parts", "status"]);
    if has(PROTO) || is_part {
        return Some(Flavour::Proto);
    }
    let is_plain = has(&["bytes", "uri"]) || has(&["pushNotificationConfig"]) && has(BESIDE_PUSH);
    is_plain.then_some(Flavour::Plain)
}

/// Returns the flavour of a card, by the only members in which cards differ.
fn flavour_of_security(members: &Members<'_>) -> Option<Flavour> {
    let schemes: Option<Members<'_>> = members
        .get("securitySchemes")
        .and_then(|schemes| serde_json::from_str(schemes.get()).ok());
    let scheme = schemes.iter().flat_map(BTreeMap::values).next();
    let scheme = scheme.and_then(|scheme| serde_json::from_str::<Members<'_>>(scheme.get()).ok());
    let is_proto = match scheme {
        Some(scheme) => !scheme.contains_key("type"),
        None => {
            let security = members.get("security")?.get();
            let security: Vec<Members<'_>> = serde_json::from_str(security).ok()?;
            let (name, value) = security.first()?.iter().next()?;
            name == "schemes" && value.get().starts_with('{')
        }
    };
    Some(match is_proto {
        true => Flavour::Proto,
        false => Flavour::Plain,
    })
}

/// Limit on the objects and lists searched: the first of a page of tasks decide.
const MAX_PLACES: usize = 32;
/// Limit on the depth: a sign may be in a file of a part of a message of a status of a task in a list.
const MAX_DEPTH: usize = 10;
/// Limit on the items searched of a list.
const MAX_ITEMS: usize = 4;

/// Members that may contain a sign.
#[rustfmt::skip]
const INNER: &[&str] = &[
    "message", "configuration", "status", "update", "artifact", "parts", "file", "history",
    "artifacts", "tasks", "config",
];

/// Members that only ProtoJSON has.
#[rustfmt::skip]
const PROTO: &[&str] = &[
    "task", "msg", "statusUpdate", "status_update", "artifactUpdate", "artifact_update", "request",
    "content", "fileWithUri", "file_with_uri", "fileWithBytes", "file_with_bytes",
    "pushNotification", "push_notification", "configs", "parent", "configId", "config_id",
];

/// Members that only the plain JSON has next to `pushNotificationConfig`.
const BESIDE_PUSH: &[&str] = &["taskId", "blocking", "acceptedOutputModes", "historyLength"];
