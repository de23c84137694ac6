//! The bugs.

bugs! {
    "A bug of an agent."
    ResponseIdAsText = "S01";
    NoJsonrpcMember = "S02";
    ResultAndError = "S03";
    NoParseError = "S04";
    AnswersNotifications = "S05";
    HtmlForUnknownMethod = "S06";
    AcceptsAfterEnd = "S07";
    CancelsEnded = "S08";
    UnknownIsInvalidParams = "S09";
    EndedWorksAgain = "S10";
    StreamWithoutTask = "S11";
    StreamOpenAfterFailure = "S12";
    EventAfterEnd = "S13";
    SubscriptionMissesEvent = "S14";
    StreamsEndTogether = "S15";
    DisconnectCancels = "S16";
    EventsWithoutEnvelope = "S17";
    SubscriptionIsPlainText = "S18";
    ListSpellsOldStates = "S19";
    RefusesUnknownMember = "S20";
    UnrequestedHistory = "S21";
    ListedOldestFirst = "S22";
    LastPageWithoutToken = "S23";
    ListedWithArtifacts = "S24";
    PageTokenOfOthers = "S25";
    OthersReadTask = "S26";
    OthersFollowTask = "S27";
    OthersReadWebhooks = "S28";
    CallsPrivateWebhooks = "S29";
    FollowsWebhookRedirects = "S30";
    WebhooksWithoutCredentials = "S31";
    TokenMakesHeaders = "S32";
    NoDeliveryRetry = "S33";
    RetryHasOtherBody = "S34";
    AcceptsAnySize = "S35";
    CrashesOnDeepJson = "S36";
    ErrorsRevealSource = "S37";
    LosesConcurrentMessage = "S38";
    PromisesMissingStreams = "S39";
    SignsSignatures = "S40";
    WebhooksSpellOldStates = "S41";
    FetchesFiles = "S42";
    ImpatientWebhooks = "S43";
    StatusUnknown = "S44";
    ServesWithoutJsonrpc = "S45";
    ServesIncompleteMessage = "S46";
    WebhookHasOtherUrl = "S47";
    LosesArtifacts = "S48";
    CancelsFailed = "S49";
    RefusesEmptyVersion = "S50";
    ResumedStreamMissesEvent = "S51";
    ResumedStreamRepeatsEvent = "S52";
    SubscriptionRepeatsChunk = "S53";
    EventOfOtherTask = "S54";
    OldSubscriptionMissesEvent = "S55";
    SpellsOldRoles = "S56";
    AdmitsOtherScheme = "S57";
    AdmitsUnsignedTokens = "S58";
    AdmitsHmacByPublicKey = "S59";
    AdmitsOtherAudience = "S60";
    AdmitsExpiredTokens = "S61";
    AdmitsWithoutScope = "S62";
    RepeatsSecrets = "S63";
    NoChallenge = "S64";
    UnpublishedSigningKey = "S65";
    WebhooksWithoutAuthentication = "S66";
    AcceptsOldTls = "S67";
    NoStrictTransportSecurity = "S68";
    CodeDiffersFromReason = "S69";
    ConnectionOpenAfterFinal = "S70";
    StreamedRefusal = "S71";
    WebhookIdIsTaskId = "S72";
    SchemeIsCaseSensitive = "S73";
    RefusesMediaTypeParameter = "S74";
    RestRefusesMediaTypeParameter = "S75";
    JsonrpcIsNumber = "S76";
    GrpcErrorIsPlainText = "S77";
    GrpcWithoutStatus = "S78";
    GrpcMessageTwice = "S79";
    GrpcDetailsDiffer = "S80";
    GrpcErrorIsUnknown = "S81";
    GrpcServesUnknownMethod = "S82";
    GrpcAcceptsMalformed = "S83";
    GrpcRefusesUnknownField = "S84";
    GrpcRenamesArtifacts = "S85";
    GrpcAdmitsWrongCredentials = "S86";
}

impl Bug {
    /// Returns whether the bug is in what is admitted, so that callers need tokens of an issuer.
    pub(super) fn is_about_tokens(self) -> bool {
        (Self::AdmitsOtherScheme..=Self::AdmitsWithoutScope).contains(&self)
            || self == Self::SchemeIsCaseSensitive
    }

    /// Returns whether the bug is in TLS, so that the agent is behind it.
    pub(super) fn is_about_tls(self) -> bool {
        matches!(self, Self::AcceptsOldTls | Self::NoStrictTransportSecurity)
    }

    /// Returns whether the bug is in what webhooks receive.
    pub(super) fn is_about_webhooks(self) -> bool {
        matches!(
            self,
            Self::CallsPrivateWebhooks
                | Self::FollowsWebhookRedirects
                | Self::WebhooksWithoutCredentials
                | Self::TokenMakesHeaders
                | Self::NoDeliveryRetry
                | Self::RetryHasOtherBody
                | Self::WebhooksSpellOldStates
                | Self::ImpatientWebhooks
        )
    }
}
