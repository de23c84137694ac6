//! Known departures from the specification.

/// One departure from the specification that was repaired or ignored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repair {
    /// The kind of departure.
    pub quirk: Quirk,
    /// JSON path of the departure, as the sender wrote it.
    pub path: String,
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
    /// `messageId` beside the message instead of inside.
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
    /// Data of a part that is no object.
    DataNotObject = "DATA";
    /// `kind` in a part of 1.0, which distinguishes parts by their members.
    KindInPart = "KINDIN1.0";
    /// A security scheme that the version does not have; what requires it stays.
    UnknownScheme = "SCHEME";
}
