//! Messages and their parts, 0.3 §6.4–6.6 as in the proto.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::pre_1_0::{self, FileFields, TaggedContent, both_ways, wire_types};
use crate::proto::{exactly_one, unless_empty};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire, spelled};
use crate::{Base64, ContextId, MessageId, Object, Role, TaskId};

wire_types! {
    /// One message, 0.3 §6.4.
    pub struct Message: Debug {
        /// Identifier of the message, chosen by the sender.
        pub message_id: MessageId | "message_id",
        /// Identifier of the conversation.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// The task that the message continues, or was sent in.
        pub task_id: Option<TaskId> = unless_empty | "task_id",
        /// Sender of the message.
        pub role: Role,
        /// The content, at least one part; called `parts` from October 2025 on.
        pub content: Vec<Part> = or_default | "parts",
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
        /// URIs of the extensions that contributed to the message.
        pub extensions: Vec<String> = unless_default,
        /// Earlier tasks that the message refers to: after 0.3.0, so it is read and never written.
        pub reference_task_ids: Vec<TaskId> = unless_default | "reference_task_ids",
    }

    /// Structured data, 0.3 §6.5.3.
    pub struct DataPart: Debug {
        /// The data.
        pub data: Object,
    }
}

/// A piece of content, 0.3 §6.5.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(try_from = "PartMembers")]
pub struct Part {
    /// The content.
    #[serde(flatten)]
    pub content: Content,
    /// Custom key-value metadata; not in the text of 0.3.0, but in what peers send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// Content of a part: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// Text, 0.3 §6.5.1.
    Text(String),
    /// A file, 0.3 §6.5.2.
    File(FilePart),
    /// Structured data, 0.3 §6.5.3.
    Data(DataPart),
}

/// A file, 0.3 §6.6.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(rename_all = "camelCase", try_from = "FileMembers")]
pub struct FilePart {
    /// Bytes of the file, or their URI.
    #[serde(flatten)]
    pub content: FileContent,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Name of the file; not in the text of 0.3.0, but in what peers send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Bytes of a file, or their URI: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "camelCase")]
pub enum FileContent {
    /// URI of the bytes.
    FileWithUri(String),
    /// The bytes.
    FileWithBytes(Base64),
}

exactly_one! {
    PartMembers => Part, "a part needs exactly one of `text`, `file`, `data`" {
        text: String => Content::Text,
        file: FilePart => Content::File,
        data: DataPart => Content::Data,
    } beside {
        metadata: Option<Object>,
    }
}

exactly_one! {
    FileMembers => FilePart, "a file needs exactly one of `fileWithUri`, `fileWithBytes`" {
        #[serde(alias = "file_with_uri")]
        file_with_uri: String => FileContent::FileWithUri,
        #[serde(alias = "file_with_bytes")]
        file_with_bytes: Base64 => FileContent::FileWithBytes,
    } beside {
        #[serde(default, alias = "mime_type", deserialize_with = "unless_empty")]
        mime_type: Option<String>,
        #[serde(default, deserialize_with = "unless_empty")]
        name: Option<String>,
    }
}

impl Wire for Message {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("messageId", self.message_id.as_str())?;
        pre_1_0::check_has_parts(&self.content, &at.member("content"))
    }

    fn normalize(message: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_message(message, normalizer, Role::Agent);
    }
}

/// Repairs a message of `role`. Only an agent may omit the role and the id.
pub(super) fn normalize_message(message: &mut Object, normalizer: &mut Normalizer<'_>, role: Role) {
    let is_said = role == Role::Agent;
    if is_said {
        normalizer.supply(message, "role", role.as_str(), Quirk::NoRole);
    }
    normalizer.change(message, "role", Quirk::UnknownWord, |role| {
        let known = serde_json::from_value::<Role>(role.clone()).is_ok();
        let word = role.is_string() || role.is_number();
        (word && !known).then(|| Role::Unspecified.as_str().into())
    });
    let id = spelled(message, &["messageId", "message_id"]);
    normalizer.drop_empty_id(message, id);
    if is_said {
        let random = MessageId::random();
        normalizer.supply(message, id, random.as_str(), Quirk::NoMessageId);
    }
    if message.get("data").is_some_and(Value::is_array) && !message.contains_key("parts") {
        normalizer.rename(message, "data", "content", Quirk::DataForParts);
    }
    let content = spelled(message, &["content", "parts"]);
    normalize_parts(message, normalizer, content);
}

pub(super) fn normalize_parts(object: &mut Object, normalizer: &mut Normalizer<'_>, name: &str) {
    normalizer.items(object, name, |part, normalizer| {
        normalizer.member(part, "file", |file, normalizer| {
            for (plain, proto) in [("bytes", "fileWithBytes"), ("uri", "fileWithUri")] {
                normalizer.rename(file, plain, proto, Quirk::OtherFlavour);
            }
        });
        normalize_data(part, normalizer);
    });
}

/// Repairs data that is not inside `data`, or is not an object.
fn normalize_data(part: &mut Object, normalizer: &mut Normalizer<'_>) {
    let is_plain = part.contains_key("kind") || part.contains_key("type");
    let value = match part.get("data") {
        None | Some(Value::Null) => return,
        Some(Value::Object(data)) => match data.get("data") {
            Some(Value::Object(_)) => return,
            Some(inner) if !is_plain => inner.clone(),
            _ => {
                return normalizer.change(part, "data", Quirk::OtherFlavour, |data| {
                    Some(json!({"data": data}))
                });
            }
        },
        Some(other) => other.clone(),
    };
    normalizer.change(part, "data", Quirk::DataNotObject, |_| {
        Some(json!({"data": {"value": value}}))
    });
    pre_1_0::mark_wrapped(part);
}

both_ways! {
    // The parsers of 0.3.0 refuse a member that they do not know, like the tasks that a message refers to.
    Message = crate::Message {
        message_id, context_id, task_id, role, metadata, extensions, reference_task_ids as read_only,
    } renamed { content = parts as list };
}

impl From<Part> for crate::Part {
    fn from(part: Part) -> Self {
        let content = match part.content {
            Content::Text(text) => TaggedContent::Text(text),
            Content::File(file) => TaggedContent::File(file.into()),
            Content::Data(data) => TaggedContent::Data(data.data),
        };
        pre_1_0::from_tagged(content, part.metadata)
    }
}

impl From<crate::Part> for Part {
    fn from(part: crate::Part) -> Self {
        let (content, metadata) = pre_1_0::to_tagged(part);
        let content = match content {
            TaggedContent::Text(text) => Content::Text(text),
            TaggedContent::File(file) => Content::File(file.into()),
            TaggedContent::Data(data) => Content::Data(DataPart { data }),
        };
        Self { content, metadata }
    }
}

impl From<FilePart> for FileFields {
    fn from(file: FilePart) -> Self {
        let (bytes, uri) = match file.content {
            FileContent::FileWithBytes(bytes) => (Some(bytes), None),
            FileContent::FileWithUri(uri) => (None, Some(uri)),
        };
        Self {
            name: file.name,
            mime_type: file.mime_type,
            bytes,
            uri,
        }
    }
}

impl From<FileFields> for FilePart {
    fn from(file: FileFields) -> Self {
        let uri = || FileContent::FileWithUri(file.uri.unwrap_or_default());
        Self {
            content: file.bytes.map_or_else(uri, FileContent::FileWithBytes),
            mime_type: file.mime_type,
            name: file.name,
        }
    }
}
