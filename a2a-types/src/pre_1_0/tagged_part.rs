//! Parts that declare their kind in a member, as in 0.1, 0.2 and the JSON of 0.3; and senders of messages.

use serde::{Deserialize, Serialize};

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

/// The value of the member that declares the kind of a part.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PartKind {
    Text,
    File,
    Data,
}

/// Defines the parts of a version, which declare their kind in the member `$tag`, and converts them. The
/// type of files converts from and to the shared one.
macro_rules! tagged_parts {
    (
        tag $tag:literal;
        $(#[$part_doc:meta])* $part:ident;
        $(#[$text_doc:meta])* $text:ident($text_kind:ident);
        $(#[$file_doc:meta])* $file:ident($file_kind:ident) of $file_type:ty;
        $(#[$data_doc:meta])* $data:ident($data_kind:ident);
    ) => {
        $(#[$part_doc])*
        #[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
        #[serde(untagged, try_from = "PartMembers")]
        pub enum $part {
            /// Text.
            Text($text),
            /// A file.
            File($file),
            /// Structured data.
            Data($data),
        }

        $crate::pre_1_0::constants! {
            #[doc = concat!("`\"", $tag, "\": \"text\"`.")]
            $text_kind = "text";
            #[doc = concat!("`\"", $tag, "\": \"file\"`.")]
            $file_kind = "file";
            #[doc = concat!("`\"", $tag, "\": \"data\"`.")]
            $data_kind = "data";
        }

        $(#[$text_doc])*
        #[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $text {
            /// Always `text`.
            #[serde(rename = $tag)]
            pub kind: $text_kind,
            /// The text.
            pub text: String,
            /// Custom key-value metadata.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub metadata: Option<Object>,
        }

        $(#[$file_doc])*
        #[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $file {
            /// Always `file`.
            #[serde(rename = $tag)]
            pub kind: $file_kind,
            /// The file.
            pub file: $file_type,
            /// Custom key-value metadata.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub metadata: Option<Object>,
        }

        $(#[$data_doc])*
        #[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $data {
            /// Always `data`.
            #[serde(rename = $tag)]
            pub kind: $data_kind,
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
            #[serde(rename = $tag)]
            kind: $crate::pre_1_0::PartKind,
            text: Option<String>,
            file: Option<$file_type>,
            data: Option<Object>,
            metadata: Option<Object>,
        }

        impl TryFrom<PartMembers> for $part {
            type Error = &'static str;

            fn try_from(members: PartMembers) -> Result<Self, &'static str> {
                use $crate::pre_1_0::PartKind;
                let metadata = members.metadata;
                match (members.kind, members.text, members.file, members.data) {
                    (PartKind::Text, Some(text), ..) => {
                        Ok(Self::Text($text { kind: $text_kind::Value, text, metadata }))
                    }
                    (PartKind::File, _, Some(file), _) => {
                        Ok(Self::File($file { kind: $file_kind::Value, file, metadata }))
                    }
                    (PartKind::Data, .., Some(data)) => {
                        Ok(Self::Data($data { kind: $data_kind::Value, data, metadata }))
                    }
                    (PartKind::Text, ..) => {
                        Err(concat!("a part of ", $tag, " `text` needs the member `text`"))
                    }
                    (PartKind::File, ..) => {
                        Err(concat!("a part of ", $tag, " `file` needs the member `file`"))
                    }
                    (PartKind::Data, ..) => {
                        Err(concat!("a part of ", $tag, " `data` needs the member `data`"))
                    }
                }
            }
        }

        impl From<$part> for crate::Part {
            fn from(part: $part) -> Self {
                use $crate::pre_1_0::{TaggedContent, from_tagged};
                match part {
                    $part::Text($text { text, metadata, .. }) => from_tagged(TaggedContent::Text(text), metadata),
                    $part::File($file { file, metadata, .. }) => from_tagged(TaggedContent::File(file.into()), metadata),
                    $part::Data($data { data, metadata, .. }) => from_tagged(TaggedContent::Data(data), metadata),
                }
            }
        }

        impl From<crate::Part> for $part {
            fn from(part: crate::Part) -> Self {
                use $crate::pre_1_0::{TaggedContent, to_tagged};
                match to_tagged(part) {
                    (TaggedContent::Text(text), metadata) => {
                        Self::Text($text { kind: $text_kind::Value, text, metadata })
                    }
                    (TaggedContent::File(file), metadata) => {
                        let file = file.into();
                        Self::File($file { kind: $file_kind::Value, file, metadata })
                    }
                    (TaggedContent::Data(data), metadata) => {
                        Self::Data($data { kind: $data_kind::Value, data, metadata })
                    }
                }
            }
        }
    };
}
pub(crate) use tagged_parts;
