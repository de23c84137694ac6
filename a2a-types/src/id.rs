//! Identifiers: each kind of thing has its own type, so that none can stand in for another.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transparent))]
        pub struct $name(Arc<str>);

        impl $name {
            /// A new, unguessable identifier (UUID version 4).
            pub fn random() -> Self {
                Self(written(Uuid::new_v4()))
            }

            /// The identifier as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether the identifier is the empty string, which names nothing.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text).map(Self)
            }
        }
    )*};
}

ids! {
    /// Names a task. Chosen by the server since 0.2, by the caller in 0.1. Specification 1.0 §3.4.2.
    TaskId;
    /// Groups tasks and messages of one conversation; `sessionId` in 0.1. Specification 1.0 §3.4.1.
    ContextId;
    /// Names a message, chosen by its sender. Specification 1.0 §4.1.4.
    MessageId;
    /// Names an artifact within its task. Specification 1.0 §4.1.7.
    ArtifactId;
    /// Names one of a task's push notification configs. Specification 1.0 §4.3.1.
    ConfigId;
}

impl MessageId {
    /// The identifier that a message of a generation without `messageId` is given when it is read
    /// from a task: the same place in the same task always yields the same identifier.
    pub fn derived(task: &TaskId, ordinal: usize) -> Self {
        let place = format!("{task}/{ordinal}");
        Self(written(Uuid::new_v5(
            &Uuid::NAMESPACE_OID,
            place.as_bytes(),
        )))
    }
}

impl ConfigId {
    /// The webhook of a task whose caller's generation knows but one.
    pub fn only() -> Self {
        Self("default".into())
    }
}

fn written(id: Uuid) -> Arc<str> {
    let mut text = Uuid::encode_buffer();
    Arc::from(&*id.hyphenated().encode_lower(&mut text))
}

/// Reads a string to where it stays: identifiers are in many places at once, so they are shared.
struct Text;

impl Visitor<'_> for Text {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_repeat_and_differ_by_place() {
        let task = TaskId::from("t");
        assert_eq!(MessageId::derived(&task, 0), MessageId::derived(&task, 0));
        assert_ne!(MessageId::derived(&task, 0), MessageId::derived(&task, 1));
    }
}
