//! Types of messages, methods and files, as the tables have them.

use a2a_types::ProtocolVersion;

/// Type of a message.
#[derive(Debug)]
pub struct MessageType {
    /// Full name, like `lf.a2a.v1.Task`.
    pub(crate) name: &'static str,
    /// Fields, the lowest number first.
    pub(crate) fields: &'static [Field],
}

/// Method of a gRPC service of A2A.
#[derive(Debug)]
pub struct Method {
    /// Path of its requests, like `/lf.a2a.v1.A2AService/GetTask`.
    pub(crate) path: &'static str,
    pub(crate) version: ProtocolVersion,
    pub(crate) request: &'static MessageType,
    pub(crate) response: &'static MessageType,
    pub(crate) is_stream: bool,
}

/// File that defines messages and services, as gRPC's reflection sends it.
#[derive(Debug)]
pub struct FileDescriptor {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) bytes: &'static [u8],
    pub(crate) dependencies: &'static [&'static str],
    /// Names without that of the package, in alphabetical order.
    pub(crate) symbols: &'static [&'static str],
}

/// Field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// Name in JSON.
    pub(crate) name: &'static str,
    /// Name in the `.proto` file, which JSON may have, too.
    pub(crate) proto_name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) rule: Rule,
}

/// Type of a field's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Bool,
    Int32,
    Text,
    Bytes,
    /// Names by number.
    Enum(&'static [(i32, &'static str)]),
    Message(&'static MessageType),
    /// `google.protobuf.Any`
    Any,
    /// `google.protobuf.Duration`
    Duration,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Struct`
    Struct,
    /// `google.protobuf.Value`
    Value,
    /// `google.protobuf.ListValue`
    List,
}

/// Number of times that a field occurs, and whether its default value is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rule {
    /// Not written if it has the default value.
    Implicit,
    /// Written whenever it is present.
    Explicit,
    /// The last one of this group counts.
    OneOf(u8),
    Repeated,
    /// Map from text.
    Map,
}
