//! Identifiers. Each kind has its own type, so that they cannot be confused.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transparent))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns a new, unguessable identifier (UUID version 4).
            pub fn random() -> Self {
                let mut room = Uuid::encode_buffer();
                let text = Uuid::new_v4().hyphenated().encode_lower(&mut room);
                Self((&*text).into())
            }

            /// Returns the identifier as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns whether the identifier is the empty string, which names nothing.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Returns the text as it is shared with the copies of the identifier.
            pub(crate) fn shared(&self) -> &Arc<str> {
                &self.0
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

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(IdVisitor).map(Self)
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
    )*};
}

ids! {
    /// Identifier of a task. Chosen by the server since 0.2, by the caller in 0.1. Specification 1.0 §3.4.2.
    TaskId;
    /// Identifier of a conversation of tasks and messages; `sessionId` in 0.1. Specification 1.0 §3.4.1.
    ContextId;
    /// Identifier of a message, chosen by its sender. Specification 1.0 §4.1.4.
    MessageId;
    /// Identifier of an artifact within its task. Specification 1.0 §4.1.7.
    ArtifactId;
    /// Identifier of one of a task's push notification configs. Specification 1.0 §4.3.1.
    ConfigId;
}

/// Reads an identifier without a copy in between.
struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, id: &str) -> Result<Arc<str>, E> {
        Ok(id.into())
    }
}

impl MessageId {
    /// Returns the identifier for a message of a task that was read from a version without `messageId`:
    /// the same place in the same task always yields the same identifier.
    pub fn derived(task: &TaskId, ordinal: usize) -> Self {
        let place = format!("{task}/{ordinal}");
        let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, place.as_bytes());
        Self(id.to_string().into())
    }
}

impl ConfigId {
    /// Returns the id of a task's webhook in versions that allow only one.
    pub fn only() -> Self {
        Self("default".into())
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
