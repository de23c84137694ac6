//! Detection of the kind of JSON, plain or ProtoJSON, of a 0.3 text.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The two kinds of JSON in bodies of 0.3's HTTP+JSON binding (0.3 §3.2.2 has one, §3.2.3 the
/// other).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Flavour {
    /// JSON of the JSON-RPC binding: `kind`, `user`, `input-required`. Its types are those of
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
        let mut search = Search { places: MAX_PLACES };
        search.look(json, MAX_DEPTH)
    }
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

struct Search {
    places: usize,
}

impl Search {
    fn look(&mut self, json: &str, depth: usize) -> Option<Flavour> {
        if self.places == 0 || depth == 0 {
            return None;
        }
        self.places -= 1;
        if json.trim_start().starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            let mut first = items.into_iter().take(MAX_ITEMS);
            return first.find_map(|item| self.look(item.get(), depth - 1));
        }
        let members: Members<'_> = serde_json::from_str(json).ok()?;
        flavour_of_words(&members)
            .or_else(|| flavour_of_members(&members))
            .or_else(|| flavour_of_security(&members))
            .or_else(|| {
                let mut inner = INNER.iter().filter_map(|name| members.get(*name));
                inner.find_map(|value| self.look(value.get(), depth - 1))
            })
    }
}

fn flavour_of_words(members: &Members<'_>) -> Option<Flavour> {
    let scalar = |name: &str| -> Option<Value> {
        let text = members.get(name)?.get();
        match text.starts_with(['{', '[']) {
            true => None,
            false => serde_json::from_str(text).ok(),
        }
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
    let is_plain = PLAIN.iter().any(|each| each.iter().all(|names| has(names)));
    is_plain.then_some(Flavour::Plain)
}

/// Returns the flavour of a card, by the only members in which cards differ.
fn flavour_of_security(members: &Members<'_>) -> Option<Flavour> {
    let schemes: Option<Members<'_>> = members
        .get("securitySchemes")
        .and_then(|schemes| serde_json::from_str(schemes.get()).ok());
    let scheme = schemes.iter().flat_map(BTreeMap::values).next();
    let scheme = scheme.and_then(|scheme| serde_json::from_str::<Members<'_>>(scheme.get()).ok());
    if let Some(scheme) = scheme {
        return Some(match scheme.contains_key("type") {
            true => Flavour::Plain,
            false => Flavour::Proto,
        });
    }
    let security: Vec<Members<'_>> = serde_json::from_str(members.get("security")?.get()).ok()?;
    let (name, value) = security.first()?.iter().next()?;
    let is_wrapped = name == "schemes" && value.get().starts_with('{');
    Some(match is_wrapped {
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

/// Members that only the plain JSON has: one of each group is needed.
const PLAIN: &[&[&[&str]]] = &[
    &[&["bytes", "uri"]],
    &[PUSH, &["taskId"]],
    &[PUSH, &["blocking", "acceptedOutputModes", "historyLength"]],
];
const PUSH: &[&str] = &["pushNotificationConfig"];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<Flavour>) {
        assert_eq!(Flavour::of(json), expected, "{json}");
    }

    #[test]
    fn flavours_are_distinguished() {
        let (plain, proto) = (Some(Flavour::Plain), Some(Flavour::Proto));
        for json in [
            r#"{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"a"}]}}"#,
            r#"{"message":{"messageId":"m","role":"user","parts":[{"text":"a"}]}}"#,
            r#"{"message":{"messageId":"m","parts":[{"type":"text","text":"a"}]}}"#,
            r#"{"kind":"task","id":"t","status":{"state":"working"}}"#,
            r#"{"id":"t","status":{"state":"input-required"}}"#,
            r#"{"tasks":[{"id":"t","status":{"state":"working"}}]}"#,
            r#"[{"taskId":"t","pushNotificationConfig":{"url":"u"}}]"#,
            r#"{"kind":"status-update","taskId":"t","status":{}}"#,
            r#"{"artifactId":"a","parts":[{"kind":"text","text":"a"}]}"#,
            r#"{"configuration":{"blocking":true,"pushNotificationConfig":{"url":"u"}},"message":{}}"#,
            r#"{"name":"n","security":[{"key":[]}]}"#,
            r#"{"name":"n","securitySchemes":{"key":{"type":"apiKey","apiKeySecurityScheme":{}}}}"#,
        ] {
            check(json, plain);
        }
        for json in [
            r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"a"}]}}"#,
            r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"kind":"text","text":"a"}]}}"#,
            r#"{"message":{"messageId":"m","role":1,"parts":[]}}"#,
            r#"{"message":{"messageId":"m","parts":[{"text":"a"}]}}"#,
            r#"{"message":{"messageId":"m","parts":[{"file":{"fileWithUri":"u"}}]}}"#,
            r#"{"request":{}}"#,
            r#"{"task":{"id":"t"}}"#,
            r#"{"msg":{}}"#,
            r#"{"statusUpdate":{}}"#,
            r#"{"artifact_update":{}}"#,
            r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#,
            r#"{"id":"t","status":{"state":2}}"#,
            r#"{"tasks":[{"id":"t","status":{}},{"id":"t","status":{"state":"TASK_STATE_WORKING"}}]}"#,
            r#"{"name":"tasks/t"}"#,
            r#"{"configs":[]}"#,
            r#"{"parent":"tasks/t","config":{}}"#,
            r#"{"config":{"name":"tasks/t/pushNotificationConfigs/p"}}"#,
            r#"{"configuration":{"pushNotification":{}},"message":{}}"#,
            r#"{"name":"n","security":[{"schemes":{"key":{"list":[]}}}]}"#,
            r#"{"name":"n","securitySchemes":{"key":{"apiKeySecurityScheme":{}}}}"#,
        ] {
            check(json, proto);
        }
        let deep = |open: &str, close: &str| open.repeat(20_000) + "1" + &close.repeat(20_000);
        for json in [
            "",
            "{",
            "7",
            "null",
            "{}",
            "[]",
            "[[[[]]]]",
            r#"{"url":"https://h/"}"#,
            r#"{"config":{"pushNotificationConfig":{"url":"u"}}}"#,
            r#"{"role":{},"state":[],"kind":null,"type":7,"name":[]}"#,
            r#"{"role":"USER!","state":""}"#,
            r#"{"message":7,"parts":"x","status":null,"securitySchemes":[],"security":{}}"#,
            r#"{"security":[],"securitySchemes":{}}"#,
            r#"{"security":[{}]}"#,
            &deep("[", "]"),
            &deep(r#"{"message":"#, "}"),
            &deep(r#"{"parts":["#, "]}"),
        ] {
            check(json, None);
        }
    }
}
