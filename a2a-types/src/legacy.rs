//! Conversions shared by protocol versions 0.1 to 0.3, for data that 1.0 represents differently.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::reading::{At, Mender, Mode, Quirk, Repair, Violation, absent};
use crate::{AgentInterface, Base64, Content, Dialect, Object, Part, Timestamp};

/// Metadata key of a data part whose data had to be wrapped in an object.
const WRAPPED: &str = "a2a-wrapped-value";
/// Metadata key for the media type of a part that is not a file.
const MEDIA_TYPE: &str = "mimeType";
/// Metadata key for the name of a part that is not a file.
const FILENAME: &str = "filename";

/// A part as the versions before 1.0 represent it.
pub(crate) enum Cut {
    Text(String),
    File {
        name: Option<String>,
        mime_type: Option<String>,
        content: FileContent,
    },
    Data(Object),
}

/// Content of a file part.
pub(crate) enum FileContent {
    Bytes(Base64),
    Uri(String),
    /// No content: the file is only mentioned (0.1.0 §6.6).
    Nothing,
}

/// Converts a part: members that only files have go into the metadata, data is made an object.
pub(crate) fn cut(part: Part) -> (Cut, Option<Object>) {
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
    let file = |content| Cut::File {
        name: filename.clone(),
        mime_type: media_type.clone(),
        content,
    };
    let cut = match content {
        Content::Raw(raw) => file(FileContent::Bytes(raw)),
        Content::Url(url) => file(FileContent::Uri(url)),
        Content::Text(text) => {
            note(MEDIA_TYPE, media_type.map(Value::String));
            note(FILENAME, filename.map(Value::String));
            Cut::Text(text)
        }
        Content::Data(data) => {
            note(MEDIA_TYPE, media_type.map(Value::String));
            note(FILENAME, filename.map(Value::String));
            Cut::Data(match data {
                Value::Object(object) => object,
                other => {
                    note(WRAPPED, Some(Value::Bool(true)));
                    Map::from_iter([("value".to_owned(), other)])
                }
            })
        }
    };
    (cut, metadata)
}

/// The inverse of [`cut`].
pub(crate) fn join(cut: Cut, mut metadata: Option<Object>) -> Part {
    match cut {
        Cut::File {
            name,
            mime_type,
            content,
        } => Part {
            content: match content {
                FileContent::Bytes(raw) => Content::Raw(raw),
                FileContent::Uri(url) => Content::Url(url),
                FileContent::Nothing => {
                    let mention = [("name", name), ("mimeType", mime_type)];
                    let known = mention
                        .into_iter()
                        .filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
                    return Part {
                        metadata,
                        ..Part::data(Value::Object(known.collect()))
                    };
                }
            },
            media_type: mime_type,
            filename: name,
            metadata,
        },
        Cut::Text(text) => Part {
            content: Content::Text(text),
            media_type: take_text(&mut metadata, MEDIA_TYPE),
            filename: take_text(&mut metadata, FILENAME),
            metadata,
        },
        Cut::Data(mut data) => {
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
pub(crate) fn mend_part(
    part: &mut Map<String, Value>,
    mender: &mut Mender<'_>,
    tag: &str,
    other: &str,
) {
    mender.rename(part, other, tag, Quirk::TypeForKind);
    if let Some(kind) = ["text", "file", "data"]
        .into_iter()
        .find(|kind| !absent(part, kind))
    {
        mender.supply(part, tag, kind, Quirk::NoKind);
    }
    mender.member(part, "file", |file, mender| {
        if absent(file, "uri") {
            mender.rename(file, "data", "bytes", Quirk::FileData);
        }
        mender.rename(file, "fileWithBytes", "bytes", Quirk::ProtoFile);
        mender.rename(file, "fileWithUri", "uri", Quirk::ProtoFile);
    });
    let is_data = part.get(tag).is_some_and(|kind| kind == "data");
    if is_data && part.get("data").is_some_and(|data| !data.is_object()) {
        mender.change(part, "data", Quirk::DataNotObject, |data| {
            Some(serde_json::json!({"value": data}))
        });
        mark_wrapped(part);
    }
}

/// Marks a part whose data is the `value` of an object made for it.
pub(crate) fn mark_wrapped(part: &mut Map<String, Value>) {
    let metadata = part.entry("metadata").or_insert(Value::Null);
    if let Value::Object(metadata) = metadata {
        metadata.insert(WRAPPED.to_owned(), true.into());
    } else {
        *metadata = serde_json::json!({ WRAPPED: true });
    }
}

/// Repairs the `status` of a task or event: a time without zone, an unknown state.
pub(crate) fn mend_status(
    status: &mut Map<String, Value>,
    mender: &mut Mender<'_>,
    zone_required: bool,
    states: &[&str],
    mend_message: impl FnOnce(&mut Map<String, Value>, &mut Mender<'_>),
) {
    if zone_required {
        mend_time(status, mender);
    }
    mender.change(status, "state", Quirk::UnknownWord, |state| {
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
    mender.member(status, "message", mend_message);
}

/// Looks for words of older versions in the params of a 1.0 message that has been read already: the
/// role must be spelled as in 1.0; a `kind` in a part is ignored (specification 1.0 §5.7) and
/// listed, or refused in strict mode.
pub fn words_in_1_0(params: &str, mode: Mode, root: &str) -> Result<Vec<Repair>, Violation> {
    #[derive(Deserialize)]
    struct Params {
        message: Option<Message>,
    }
    #[derive(Deserialize)]
    struct Message {
        role: Option<Value>,
        #[serde(default)]
        parts: Option<Vec<Part>>,
    }
    #[derive(Deserialize)]
    struct Part {
        kind: Option<IgnoredAny>,
    }
    // Nearly all messages have none of these words, and are not read twice.
    let words = ["\"user\"", "\"agent\"", "\"kind\""];
    if !words.iter().any(|word| params.contains(word)) {
        return Ok(Vec::new());
    }
    let read: Option<Params> = serde_json::from_str(params).ok();
    let Some(message) = read.and_then(|params| params.message) else {
        return Ok(Vec::new());
    };
    let root = At::Root(root);
    let at = root.member("message");
    let role = message.role.as_ref().and_then(Value::as_str);
    if matches!(role, Some("user" | "agent")) {
        let problem = "expected `ROLE_USER` or `ROLE_AGENT`, found the word of an older version";
        return Err(at.member("role").violation(problem));
    }
    let parts = message.parts.into_iter().flatten().enumerate();
    let mut repairs = Vec::new();
    for (index, _) in parts.filter(|(_, part)| part.kind.is_some()) {
        let problem = "expected no `kind`: 1.0 tells parts apart by their members";
        let violation = at
            .member("parts")
            .item(index)
            .member("kind")
            .violation(problem);
        match mode {
            Mode::Strict => return Err(violation),
            Mode::Lenient => repairs.push(Repair {
                quirk: Quirk::KindInPart,
                path: violation.path,
            }),
        }
    }
    Ok(repairs)
}

/// Repairs the sender of a message: an agent's that is missing, or a word that the protocol version
/// does not have. A caller has to name its role.
pub(crate) fn mend_role(message: &mut Map<String, Value>, mender: &mut Mender<'_>, role: &str) {
    if role == "agent" {
        mender.supply(message, "role", role, Quirk::NoRole);
    }
    mender.change(message, "role", Quirk::UnknownWord, |said| {
        let word = said.as_str()?;
        let plain = word.strip_prefix("ROLE_").unwrap_or(word);
        let known = ["user", "agent"]
            .into_iter()
            .find(|known| plain.eq_ignore_ascii_case(known));
        let known = known.or((role == "agent").then_some(role))?;
        (known != word).then(|| known.into())
    });
}

/// Repairs a time without zone.
pub(crate) fn mend_time(status: &mut Map<String, Value>, mender: &mut Mender<'_>) {
    mender.change(status, "timestamp", Quirk::NoTimeZone, |time| {
        let text = time.as_str()?;
        let unreadable = text.parse::<Timestamp>().is_err();
        let read = Timestamp::parse_zone_optional(text).ok()?;
        unreadable.then(|| read.to_exact_string().into())
    });
}

/// Repairs an id that was sent as a number: in an answer it becomes the requested task's.
pub(crate) fn mend_task_id(object: &mut Map<String, Value>, mender: &mut Mender<'_>, name: &str) {
    let task = mender.task().cloned();
    mender.change(object, name, Quirk::NumericId, |id| {
        let number = id.as_number()?;
        Some(task.map_or_else(|| number.to_string(), String::from).into())
    });
}

/// Returns the first scheme of a push notification config that our sender supports, else the first.
pub(crate) fn first_scheme(schemes: Vec<String>) -> String {
    let performable = |scheme: &&String| {
        ["bearer", "basic", "jwt"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    };
    let chosen = schemes.iter().find(performable).or(schemes.first());
    chosen.cloned().unwrap_or_default()
}

/// Returns the schemes of a push notification config: none for an empty name.
pub(crate) fn schemes(scheme: String) -> Vec<String> {
    if scheme.is_empty() {
        Vec::new()
    } else {
        vec![scheme]
    }
}

/// Repairs a single scheme that should be a list.
pub(crate) fn mend_schemes(authentication: &mut Map<String, Value>, mender: &mut Mender<'_>) {
    mender.change(authentication, "schemes", Quirk::SchemesString, |schemes| {
        schemes.is_string().then(|| vec![schemes.clone()].into())
    });
}

/// Returns the interfaces of a card, the preferred one first, without duplicates of URL and binding.
pub(crate) fn interfaces(
    dialect: Dialect,
    preferred: (String, String),
    additional: impl Iterator<Item = (String, String)>,
) -> Vec<AgentInterface> {
    let mut known = BTreeSet::new();
    let all = std::iter::once(preferred).chain(additional);
    all.filter(|interface| known.insert(interface.clone()))
        .map(|(url, protocol_binding)| AgentInterface {
            url,
            protocol_binding,
            tenant: None,
            protocol_version: dialect.version().to_owned(),
        })
        .collect()
}
