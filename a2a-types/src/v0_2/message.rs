//! Messages and their parts, 0.2 §6.4–6.6.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::pre_1_0::Role;
use crate::pre_1_0::{self, FileFields, both_ways, constants, tagged_parts, wire_types};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire};
use crate::{Base64, ContextId, MessageId, Object, TaskId};

constants! {
    /// `"kind": "message"`.
    MessageKind = "message";
}

wire_types! {
    /// One message, 0.2 §6.4.
    pub struct Message: Debug {
        /// Always `message`.
        pub kind: MessageKind,
        /// Identifier of the message, chosen by the sender.
        pub message_id: MessageId,
        /// The task that the message continues, or was sent in.
        pub task_id: Option<TaskId> = optional,
        /// Identifier of the conversation.
        pub context_id: Option<ContextId> = optional,
        /// Sender of the message.
        pub role: Role,
        /// The content, at least one part.
        pub parts: Vec<Part>,
        /// Earlier tasks that the message refers to (0.2.1).
        pub reference_task_ids: Option<Vec<TaskId>> = optional,
        /// URIs of the extensions that contributed to the message (0.2.2).
        pub extensions: Option<Vec<String>> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

tagged_parts! {
    tag "kind";
    /// A piece of content, distinguished by `kind`, 0.2 §6.5.
    Part;
    /// Text, 0.2 §6.5.1.
    TextPart(TextKind);
    /// A file, 0.2 §6.5.2.
    FilePart(FileKind) of File;
    /// Structured data, 0.2 §6.5.3.
    DataPart(DataKind);
}

/// Bytes of a file, or their URI.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from, inline))]
#[serde(untagged, try_from = "FileMembers")]
pub enum File {
    /// The bytes.
    Bytes(FileWithBytes),
    /// URI of the bytes.
    Uri(FileWithUri),
}

wire_types! {
    /// A file with its bytes, 0.2 §6.6.1.
    pub struct FileWithBytes: Debug {
        /// Name of the file.
        pub name: Option<String> = optional,
        /// Media type of the file.
        pub mime_type: Option<String> = optional,
        /// The bytes.
        pub bytes: Base64,
    }

    /// A file that is to be fetched, 0.2 §6.6.2.
    pub struct FileWithUri: Debug {
        /// Name of the file.
        pub name: Option<String> = optional,
        /// Media type of the file.
        pub mime_type: Option<String> = optional,
        /// URI of the file.
        pub uri: String,
    }
}

/// The members of a file before it is known to have bytes or a URI.
#[derive(Deserialize)]
struct FileMembers(FileFields);

impl TryFrom<FileMembers> for File {
    type Error = &'static str;

    fn try_from(FileMembers(file): FileMembers) -> Result<Self, &'static str> {
        match file.bytes.is_some() != file.uri.is_some() {
            true => Ok(file.into()),
            false => Err("a file needs exactly one of `bytes` and `uri`"),
        }
    }
}

impl Wire for Message {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("messageId", self.message_id.as_str())?;
        if let Some(id) = &self.task_id {
            at.names("taskId", id.as_str())?;
        }
        if let Some(id) = &self.context_id {
            at.names("contextId", id.as_str())?;
        }
        pre_1_0::check_has_parts(&self.parts, &at.member("parts"))
    }

    fn normalize(message: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_message(message, normalizer, "agent");
    }
}

/// Repairs a message of `role`. Only an agent may omit the role and the id.
pub(super) fn normalize_message(message: &mut Object, normalizer: &mut Normalizer<'_>, role: &str) {
    normalizer.supply(message, "kind", "message", Quirk::NoKind);
    pre_1_0::normalize_role(message, normalizer, role);
    for id in ["messageId", "taskId", "contextId"] {
        normalizer.drop_empty_id(message, id);
    }
    if role == "agent" {
        let random = MessageId::random();
        normalizer.supply(message, "messageId", random.as_str(), Quirk::NoMessageId);
    }
    if message.get("data").is_some_and(Value::is_array) {
        normalizer.rename(message, "data", "parts", Quirk::DataForParts);
    }
    normalizer.rename(message, "content", "parts", Quirk::DataForParts);
    normalize_parts(message, normalizer);
}

pub(super) fn normalize_parts(object: &mut Object, normalizer: &mut Normalizer<'_>) {
    normalizer.items(object, "parts", |part, normalizer| {
        pre_1_0::normalize_part(part, normalizer, "kind", "type")
    });
}

both_ways! {
    Message = crate::Message {
        message_id, task_id, context_id, role, parts as list,
        reference_task_ids as unless_empty, extensions as unless_empty, metadata,
    } wire only { kind };
}

impl From<File> for FileFields {
    fn from(file: File) -> Self {
        let (name, mime_type, bytes, uri) = match file {
            File::Bytes(file) => (file.name, file.mime_type, Some(file.bytes), None),
            File::Uri(file) => (file.name, file.mime_type, None, Some(file.uri)),
        };
        Self {
            name,
            mime_type,
            bytes,
            uri,
        }
    }
}

impl From<FileFields> for File {
    fn from(file: FileFields) -> Self {
        let (name, mime_type) = (file.name, file.mime_type);
        match file.bytes {
            Some(bytes) => Self::Bytes(FileWithBytes {
                name,
                mime_type,
                bytes,
            }),
            None => Self::Uri(FileWithUri {
                name,
                mime_type,
                uri: file.uri.unwrap_or_default(),
            }),
        }
    }
}
