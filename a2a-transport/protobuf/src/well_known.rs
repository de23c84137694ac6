//! Types of `google.protobuf` that have a JSON of their own.

use crate::schema::{Field, Kind, MessageType, Rule};
use crate::tables::ANY_TYPES;

/// An Any of an unknown type: its type, and the bytes of its message.
pub(crate) static ANY: MessageType = MessageType {
    name: "google.protobuf.Any",
    fields: &[
        Field {
            number: 1,
            name: "@type",
            proto_name: "@type",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "value",
            proto_name: "value",
            kind: Kind::Bytes,
            rule: Rule::Implicit,
        },
    ],
};

/// Returns the type that the URL of an Any names, like `type.googleapis.com/google.rpc.ErrorInfo`.
pub(crate) fn any_type(url: &str) -> Option<&'static MessageType> {
    let (_, name) = url.rsplit_once('/')?;
    ANY_TYPES.iter().find(|it| it.name == name).copied()
}

/// Highest number of seconds of a Duration, about 10,000 years.
pub(crate) const MAX_SECONDS: u64 = 315_576_000_000;
