//! Messages and their parts, 0.1 §6.4–6.6.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::pre_1_0::Role;
use crate::pre_1_0::{self, FileFields, both_ways, tagged_parts, wire_types};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire};
use crate::{Base64, Object};

wire_types! {
    /// One message, 0.1 §6.4.
    pub struct Message: Debug {
        /// Sender of the message.
        pub role: Role,
        /// The content, at least one part.
        pub parts: Vec<Part>,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

tagged_parts! {
    tag "type";
    /// A piece of content, distinguished by `type`, 0.1 §6.5.
    Part;
    /// Text, 0.1 §6.5.1.
    TextPart(TextType);
    /// A file, 0.1 §6.5.2.
    FilePart(FileType) of FileContent;
    /// Structured data, 0.1 §6.5.3.
    DataPart(DataType);
}

wire_types! {
    /// Bytes of a file or their URI; exactly one of the two, 0.1 §6.6.
    pub struct FileContent: Debug, Default {
        /// Name of the file.
        pub name: Option<String> = optional,
        /// Media type of the file.
        pub mime_type: Option<String> = optional,
        /// The bytes.
        pub bytes: Option<Base64> = optional,
        /// URI of the bytes.
        pub uri: Option<String> = optional,
    }
}

impl Wire for Message {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        pre_1_0::check_has_parts(&self.parts, &at.member("parts"))?;
        check_parts(&self.parts, &at.member("parts"))
    }

    fn normalize(message: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_message(message, normalizer, "user");
    }
}

pub(super) fn check_parts(parts: &[Part], at: &JsonPath<'_>) -> Result<(), Violation> {
    for (index, part) in parts.iter().enumerate() {
        if let Part::File(FilePart { file, .. }) = part
            && file.bytes.is_some() == file.uri.is_some()
        {
            let problem = "a file needs exactly one of `bytes` and `uri`";
            return Err(at.item(index).member("file").violation(problem));
        }
    }
    Ok(())
}

/// Repairs a message of `role`. Only an agent may omit the role.
pub(super) fn normalize_message(message: &mut Object, normalizer: &mut Normalizer<'_>, role: &str) {
    pre_1_0::normalize_role(message, normalizer, role);
    if message.get("data").is_some_and(Value::is_array) {
        normalizer.rename(message, "data", "parts", Quirk::DataForParts);
    }
    normalize_parts(message, normalizer);
}

pub(super) fn normalize_parts(object: &mut Object, normalizer: &mut Normalizer<'_>) {
    normalizer.items(object, "parts", |part, normalizer| {
        pre_1_0::normalize_part(part, normalizer, "type", "kind")
    });
}

impl From<Message> for crate::Message {
    /// Creates a `messageId`, which 0.1 does not have.
    fn from(message: Message) -> Self {
        Self {
            metadata: message.metadata,
            ..Self::new(
                message.role.into(),
                message.parts.into_iter().map(Into::into).collect(),
            )
        }
    }
}

impl From<crate::Message> for Message {
    /// Drops ids, references and extensions: 0.1 has no place for them.
    fn from(message: crate::Message) -> Self {
        Self {
            role: message.role.into(),
            parts: message.parts.into_iter().map(Into::into).collect(),
            metadata: message.metadata,
        }
    }
}

both_ways! {
    FileContent = FileFields { name, mime_type, bytes, uri };
}
