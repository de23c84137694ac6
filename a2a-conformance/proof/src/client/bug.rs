//! The bugs of clients.

bugs! {
    "A bug of a client."
    AnyStatus = "C01";
    ErrorIsSuccess = "C02";
    AnyResponseId = "C03";
    NumberedOnly = "C04";
    SplitText = "C05";
    NoComments = "C06";
    NeverDone = "C07";
    Unending = "C08";
    ReconnectStorm = "C09";
    WrongTask = "C10";
    FollowRedirects = "C11";
    ForeignOrigin = "C12";
    AnyHeader = "C13";
    Downgrade = "C14";
    BadSignature = "C15";
    AnyAlgorithm = "C16";
    AnyKeyUrl = "C17";
    UnboundedLine = "C18";
    UnboundedBody = "C19";
    KnownStatesOnly = "C20";
    AnyToken = "C21";
    EveryDelivery = "C22";
    AlwaysOk = "C23";
    NoVersion = "C24";
    AlwaysStreams = "C25";
    Resends = "C26";
    FirstAnswer = "C27";
    LeavesAuth = "C28";
    SnakeQuery = "C29";
    OneToken = "C30";
    PublicCard = "C31";
    AnyTask = "C32";
    NewNamesOnly = "C33";
    DataIsText = "C34";
    NoMediaType = "C35";
    Replaces = "C36";
    Repeats = "C37";
    AsciiOnly = "C38";
    NoConfiguration = "C39";
    NoMetadata = "C40";
    NoQuery = "C41";
    OldCard = "C42";
    AnyVersion = "C43";
    AnyExtension = "C44";
    FirstSignature = "C45";
    TokenPrefix = "C46";
    TakesGarbage = "C47";
    ReasonsOnly = "C48";
    OneRefusal = "C49";
    OldErrors = "C50";
    NoMessage = "C51";
    StillWorking = "C52";
    StreamsAtAnyStatus = "C53";
    EventsOnly = "C54";
    WaitingIsCut = "C55";
    OldPlace = "C56";
    BearsPassword = "C57";
    WrongPath = "C58";
    PollStorm = "C59";
    NoContentType = "C60";
    JsonOnly = "C61";
    CardAnywhere = "C62";
    AnyHost = "C63";
    AnyTime = "C64";
    TwoSlashes = "C65";
    PastEnd = "C66";
    FirstOfMany = "C67";
    OneId = "C68";
    CountsTokens = "C69";
    NoReferences = "C70";
    NoTask = "C71";
    CodesOnly = "C72";
    NoStatus = "C73";
}

impl Bug {
    /// Returns whether the bug is applied to the bytes on the wire, and not by the client itself.
    pub(crate) fn is_on_the_wire(self) -> bool {
        matches!(
            self,
            Self::AnyStatus
                | Self::NumberedOnly
                | Self::SplitText
                | Self::NoComments
                | Self::NeverDone
                | Self::FollowRedirects
                | Self::NoVersion
                | Self::AlwaysStreams
                | Self::NoContentType
                | Self::JsonOnly
                | Self::CardAnywhere
                | Self::SnakeQuery
                | Self::NoQuery
                | Self::ReasonsOnly
                | Self::NewNamesOnly
                | Self::StreamsAtAnyStatus
                | Self::EventsOnly
                | Self::OldPlace
                | Self::WrongPath
                | Self::TwoSlashes
                | Self::PastEnd
                | Self::FirstOfMany
                | Self::OneId
                | Self::CodesOnly
                | Self::NoStatus
        )
    }
}
