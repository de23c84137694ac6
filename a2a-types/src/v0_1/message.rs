//! Messages and their parts, 0.1 §6.4–6.6.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::pre_1_0::constants;
use crate::pre_1_0::{self, Cut};
use crate::reading::{At, Mender, Quirk, Violation, Wire};
use crate::{Base64, Object};

/// One message, 0.1 §6.4.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// Sender of the message.
    pub role: Role,
    /// The content, at least one part.
    pub parts: Vec<Part>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// Sender of a message.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum Role {
    /// The calling side.
    #[serde(rename = "user")]
    User,
    /// The serving side.
    #[serde(rename = "agent")]
    Agent,
}

/// A piece of content, distinguished by `type`, 0.1 §6.5.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(untagged, try_from = "PartMembers")]
pub enum Part {
    /// Text.
    Text(TextPart),
    /// A file.
    File(FilePart),
    /// Structured data.
    Data(DataPart),
}

constants! {
    /// `"type": "text"`.
    TextType = "text";
    /// `"type": "file"`.
    FileType = "file";
    /// `"type": "data"`.
    DataType = "data";
}

/// Text, 0.1 §6.5.1.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextPart {
    /// Always `text`.
    #[serde(rename = "type")]
    pub kind: TextType,
    /// The text.
    pub text: String,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// A file, 0.1 §6.5.2.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePart {
    /// Always `file`.
    #[serde(rename = "type")]
    pub kind: FileType,
    /// The file.
    pub file: FileContent,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// Bytes of a file or their URI; exactly one of the two, 0.1 §6.6.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileContent {
    /// Name of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Media type of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Base64>,
    /// URI of the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

/// Structured data, 0.1 §6.5.3.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataPart {
    /// Always `data`.
    #[serde(rename = "type")]
    pub kind: DataType,
    /// The data.
    pub data: Object,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// The members of a part before its kind is known: read one by one, so that an error inside
/// names its own path.
#[derive(Deserialize)]
struct PartMembers {
    #[serde(rename = "type")]
    kind: PartKind,
    text: Option<String>,
    file: Option<FileContent>,
    data: Option<Object>,
    metadata: Option<Object>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PartKind {
    Text,
    File,
    Data,
}

impl TryFrom<PartMembers> for Part {
    type Error = &'static str;

    fn try_from(members: PartMembers) -> Result<Self, &'static str> {
        let metadata = members.metadata;
        match (members.kind, members.text, members.file, members.data) {
            (PartKind::Text, Some(text), ..) => Ok(Self::Text(TextPart {
                kind: TextType::Value,
                text,
                metadata,
            })),
            (PartKind::File, _, Some(file), _) => Ok(Self::File(FilePart {
                kind: FileType::Value,
                file,
                metadata,
            })),
            (PartKind::Data, .., Some(data)) => Ok(Self::Data(DataPart {
                kind: DataType::Value,
                data,
                metadata,
            })),
            (PartKind::Text, ..) => Err("a part of type `text` needs the member `text`"),
            (PartKind::File, ..) => Err("a part of type `file` needs the member `file`"),
            (PartKind::Data, ..) => Err("a part of type `data` needs the member `data`"),
        }
    }
}

impl Message {
    /// Checks for at least one part: required of a caller's message, not of an agent's.
    pub(super) fn check_said(&self, at: &At<'_>) -> Result<(), Violation> {
        match self.parts.is_empty() {
            true => Err(at
                .member("parts")
                .violation("a message needs at least one part")),
            false => Ok(()),
        }
    }
}

impl Wire for Message {
    fn check(&self, at: &At<'_>) -> Result<(), Violation> {
        self.check_said(at)?;
        check_parts(&self.parts, &at.member("parts"))
    }

    fn mend(message: &mut Map<String, Value>, mender: &mut Mender<'_>) {
        mend_message(message, mender, "user");
    }
}

pub(super) fn check_parts(parts: &[Part], at: &At<'_>) -> Result<(), Violation> {
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
pub(super) fn mend_message(message: &mut Map<String, Value>, mender: &mut Mender<'_>, role: &str) {
    pre_1_0::mend_role(message, mender, role);
    if message.get("data").is_some_and(Value::is_array) {
        mender.rename(message, "data", "parts", Quirk::DataForParts);
    }
    mend_parts(message, mender);
}

pub(super) fn mend_parts(object: &mut Map<String, Value>, mender: &mut Mender<'_>) {
    mender.items(object, "parts", |part, mender| {
        pre_1_0::mend_part(part, mender, "type", "kind")
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

impl From<Role> for crate::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Agent => Self::Agent,
        }
    }
}

impl From<crate::Role> for Role {
    fn from(role: crate::Role) -> Self {
        match role {
            crate::Role::User => Self::User,
            crate::Role::Agent | crate::Role::Unspecified => Self::Agent,
        }
    }
}

impl From<Part> for crate::Part {
    fn from(part: Part) -> Self {
        match part {
            Part::Text(TextPart { text, metadata, .. }) => pre_1_0::join(Cut::Text(text), metadata),
            Part::Data(DataPart { data, metadata, .. }) => pre_1_0::join(Cut::Data(data), metadata),
            Part::File(FilePart { file, metadata, .. }) => {
                let content = match (file.bytes, file.uri) {
                    (Some(bytes), _) => pre_1_0::FileContent::Bytes(bytes),
                    (None, Some(uri)) => pre_1_0::FileContent::Uri(uri),
                    (None, None) => pre_1_0::FileContent::Nothing,
                };
                let cut = Cut::File {
                    name: file.name,
                    mime_type: file.mime_type,
                    content,
                };
                pre_1_0::join(cut, metadata)
            }
        }
    }
}

impl From<crate::Part> for Part {
    fn from(part: crate::Part) -> Self {
        match pre_1_0::cut(part) {
            (Cut::Text(text), metadata) => Self::Text(TextPart {
                kind: TextType::Value,
                text,
                metadata,
            }),
            (Cut::Data(data), metadata) => Self::Data(DataPart {
                kind: DataType::Value,
                data,
                metadata,
            }),
            (
                Cut::File {
                    name,
                    mime_type,
                    content,
                },
                metadata,
            ) => {
                let mut file = FileContent {
                    name,
                    mime_type,
                    ..FileContent::default()
                };
                match content {
                    pre_1_0::FileContent::Bytes(bytes) => file.bytes = Some(bytes),
                    pre_1_0::FileContent::Uri(uri) => file.uri = Some(uri),
                    pre_1_0::FileContent::Nothing => {}
                }
                Self::File(FilePart {
                    kind: FileType::Value,
                    file,
                    metadata,
                })
            }
        }
    }
}
