//! Known departures from the specification.

use std::fmt;

use serde::Serialize;

/// One departure from the specification, and what was read instead.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deviation {
    /// The kind of departure, whose description is the rule that it breaks.
    #[serde(rename = "code")]
    pub quirk: Quirk,
    /// JSON path of the departure, as the sender wrote it.
    pub path: String,
    /// Description of the value there, without texts, which may be secrets; empty if the kind says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub found: String,
    /// Value that was read instead; empty if the kind says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub read_as: String,
}

impl Deviation {
    /// Creates a deviation whose kind says all.
    pub fn new(quirk: Quirk, path: impl Into<String>) -> Self {
        Self {
            quirk,
            path: path.into(),
            found: String::new(),
            read_as: String::new(),
        }
    }
}

impl fmt::Display for Deviation {
    /// Writes the place, what was found, what was read instead, and the rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        if !self.found.is_empty() {
            write!(f, "found {}, read as {}: ", self.found, self.read_as)?;
        }
        f.write_str(self.quirk.about())
    }
}

impl Serialize for Quirk {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

macro_rules! quirks {
    ($($(#[doc = $doc:literal])* $quirk:ident = $code:literal;)*) => {
        /// A known departure from the specification, in legal JSON.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Quirk { $($(#[doc = $doc])* $quirk,)* }

        impl Quirk {
            /// Returns a short code, for logs and reports.
            pub fn code(self) -> &'static str {
                match self { $(Self::$quirk => $code,)* }
            }

            /// Returns a description of the departure, in a sentence for people.
            pub fn about(self) -> &'static str {
                match self { $(Self::$quirk => concat!($($doc),*).trim_ascii(),)* }
            }
        }
    };
}

quirks! {
    /// A request for a stream without `jsonrpc` and `id`, or without `id` alone.
    NoEnvelope = "NOENV";
    /// A result that stands alone, without the JSON-RPC envelope.
    Bare = "BARE";
    /// The answer to a deletion has no result.
    NoResult = "NORESULT";
    /// The answer to a request without `id` carries one.
    IdOnIdless = "IDLESS";
    /// The answer carries another `id` than the request.
    IdMismatch = "IDMIS";
    /// A task id that is a number.
    NumericId = "NUMID";
    /// `message.data` where `message.parts` belongs.
    DataForParts = "DATA4PARTS";
    /// `file.data` where `file.bytes` belongs.
    FileData = "FILEDATA";
    /// ProtoJSON's `fileWithBytes` or `fileWithUri` inside `file`.
    ProtoFile = "PROTOFILE";
    /// A form of the plain JSON of 0.3 where its ProtoJSON differs.
    OtherFlavour = "FLAVOUR";
    /// One string where a list of authentication schemes belongs.
    SchemesString = "SCHEMES";
    /// A message without `role`.
    NoRole = "NOROLE";
    /// An object without the member that declares its kind.
    NoKind = "NOKIND";
    /// `type` where the version has `kind`, or the other way round.
    TypeForKind = "TYPE4KIND";
    /// `messageId` next to the message instead of inside.
    MessageIdOutside = "MSGIDOUT";
    /// An id that is the empty string, which names nothing.
    EmptyId = "EMPTYID";
    /// A message without `messageId`.
    NoMessageId = "NOMSGID";
    /// A time without a zone, read as UTC.
    NoTimeZone = "NOTZ";
    /// An artifact without `artifactId`.
    NoArtifactId = "NOARTID";
    /// An empty list of parts.
    EmptyParts = "EMPTYPARTS";
    /// A list that is `null`.
    NullList = "NULLLIST";
    /// A state or role that the version does not have.
    UnknownWord = "UNKNOWN";
    /// A required member of a card that is absent.
    NoCardMember = "NOCARD";
    /// Data of a part that is not an object.
    DataNotObject = "DATA";
    /// `kind` in a part of 1.0, which distinguishes parts by their members.
    KindInPart = "KINDIN1.0";
    /// A security scheme that the version does not have; what requires it stays.
    UnknownScheme = "SCHEME";
    /// A required member that is absent.
    Missing = "MISSING";
    /// A value of another JSON type than the specification gives the member.
    OtherType = "TYPE";
    /// A value that cannot be read.
    LeftOut = "LEFTOUT";
    /// An answer that is wrapped, or not wrapped, as another version or an SDK has it.
    Wrapped = "WRAPPED";
    /// A part that the version does not have, kept as data.
    OtherPart = "PART";
    /// Members in snake_case, where JSON has camelCase.
    SnakeCase = "SNAKE";
    /// An event that is none of the version's.
    NoEvent = "NOEVENT";
    /// A URL that is not absolute, read as relative to that of the card.
    RelativeUrl = "RELATIVE";
    /// A media type that the answer does not have.
    OtherMediaType = "MEDIATYPE";
    /// A version number that is written otherwise than the specification's.
    VersionForm = "VERSION";
    /// A word in another case than the specification's.
    OtherCase = "CASE";
}
