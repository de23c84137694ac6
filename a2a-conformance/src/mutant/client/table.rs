//! The bugs, one to a row.

/// A client with a bug.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Permanent name.
    pub id: &'static str,
    /// The bug.
    pub bug: Bug,
    /// Description of what it does wrong.
    pub says: &'static str,
    /// The check that must catch it, wherever it applies.
    pub caught_by: &'static str,
    /// Checks that may catch it, too.
    pub collateral: &'static [&'static str],
}

macro_rules! bugs {
    ($($id:literal $bug:ident $says:literal => $check:literal $([$($more:literal),*])?;)*) => {
        /// A bug.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Bug { $(#[doc = $says] $bug,)* }

        impl Bug {
            /// Returns the mutant with this bug.
            pub fn mutant(self) -> Mutant {
                match self {
                    $(Self::$bug => Mutant {
                        id: $id,
                        bug: self,
                        says: $says,
                        caught_by: $check,
                        collateral: &[$($($more),*)?],
                    },)*
                }
            }

            /// All bugs, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$bug,)*];
        }
    };
}

#[rustfmt::skip]
bugs! {
    "C01" AnyStatus "takes every HTTP status for success" => "client.http-status-heeded" ["client.reads-errors", "client.html-is-no-answer", "client.no-silent-downgrade", "client.reads-any-status", "client.stream-refusal-told", "client.error-is-no-answer", "client.stream-status-heeded"];
    "C02" ErrorIsSuccess "takes an error for an answer" => "client.error-is-no-answer" ["client.reads-errors", "client.no-silent-downgrade", "client.reads-later-errors", "client.reads-error-codes", "client.error-message-told"];
    "C03" AnyResponseId "takes any response for the one to its request" => "client.matches-id" ["client.stream-matches-id"];
    "C04" NumberedOnly "passes over events without an `id:` line" => "client.stream-without-ids" ["client.endless-line-refused", "client.stream-mark"];
    "C05" SplitText "decodes each chunk by itself" => "client.reads-stream" ["client.stream-large-event"];
    "C06" NoComments "gives up at a comment or a byte order mark" => "client.stream-comments-and-mark" ["client.stream-mark"];
    "C07" NeverDone "reads on after the task has ended" => "client.stream-ends" ["client.endless-line-refused"];
    "C08" Unending "waits for a silent agent for ever" => "client.silent-stream-given-up" ["client.silent-answer-given-up"];
    "C09" ReconnectStorm "reconnects at once, for ever" => "client.reconnects-with-measure" ["client.silent-stream-given-up"];
    "C10" WrongTask "follows another task after a cut" => "client.resumes-same-task" ["client.subscribes"];
    "C11" FollowRedirects "follows redirects with all it has" => "client.redirect-drops-credentials";
    "C12" ForeignOrigin "shows credentials to any host that the card names" => "client.credentials-only-to-origin";
    "C13" AnyHeader "puts a key into any header that the card names" => "client.key-header-checked";
    "C14" Downgrade "shows credentials without TLS although the URL that it was given has `https`" => "client.https-not-downgraded";
    "C15" BadSignature "takes a card whose signature is wrong" => "client.card-signature";
    "C16" AnyAlgorithm "takes a card that is signed by `none`, or by HMAC with a public key" => "client.card-signature-algorithm" ["client.card-signature-none"];
    "C17" AnyKeyUrl "fetches keys from wherever a signature says" => "client.card-key-url-not-followed";
    "C18" UnboundedLine "keeps a line of any length" => "client.endless-line-refused";
    "C19" UnboundedBody "keeps a body of any length" => "client.endless-body-refused";
    "C20" KnownStatesOnly "refuses a state that it does not know" => "client.unknown-state-read";
    "C21" AnyToken "takes notifications with any token" => "webhook.checks-credentials" ["webhook.token-compared-whole"];
    "C22" EveryDelivery "handles a notification as often as it is delivered" => "webhook.idempotent";
    "C23" AlwaysOk "answers 200 before it has looked" => "webhook.refusal-has-status" ["webhook.checks-credentials", "webhook.missing-token-refused", "webhook.tampered-refused", "webhook.forged-refused", "webhook.replayed-late-refused", "webhook.token-compared-whole", "webhook.garbage-refused"];
    "C24" NoVersion "does not say which version it speaks" => "client.sends-version" ["client.request-valid", "client.history-length-asked", "client.list-request-valid", "client.push-requests-valid", "client.sends-parts", "client.configuration-sent", "client.webhook-in-message", "client.sends-part-details"];
    "C25" AlwaysStreams "requests streams although the card declares none" => "client.checks-capabilities" ["client.polls-to-end"];
    "C26" Resends "sends a message again under another id" => "client.message-not-sent-twice";
    "C27" FirstAnswer "takes the first answer for the last" => "client.polls-to-end" ["client.waits-for-auth"];
    "C28" LeavesAuth "leaves a task alone that waits for an authorization" => "client.waits-for-auth";
    "C29" SnakeQuery "requests artifacts in snake_case" => "client.rest-query";
    "C30" OneToken "has one token for all of its push notification configs" => "client.webhook-config";
    "C31" PublicCard "goes by the public card although it has read the extended one" => "client.extended-replaces";
    "C32" AnyTask "takes notifications about any task" => "webhook.checks-task";
    "C33" NewNamesOnly "drops what is written as 0.3 has it" => "client.reads-old-names";
    "C34" DataIsText "reports data as text" => "client.reads-parts";
    "C35" NoMediaType "sends files without their media type" => "client.sends-parts" ["client.sends-part-details"];
    "C36" Replaces "takes each chunk for the whole artifact" => "client.assembled-artifacts" ["client.resumed-once"];
    "C37" Repeats "adds to an artifact what it had before a cut" => "client.resumed-once";
    "C38" AsciiOnly "sends a question mark for each letter that is not English" => "client.text-sent";
    "C39" NoConfiguration "does not say how it wants to be answered" => "client.configuration-sent" ["client.webhook-in-message"];
    "C40" NoMetadata "drops what goes along with a message" => "client.metadata-sent";
    "C41" NoQuery "calls the URL on the card without its query" => "client.url-query-kept";
    "C42" OldCard "keeps a card for ever" => "client.card-revalidated" ["client.card-renewed"];
    "C43" AnyVersion "speaks whatever version the card offers" => "client.other-version-not-called";
    "C44" AnyExtension "does not look for extensions of a signature" => "client.card-signature-critical";
    "C45" FirstSignature "looks at the first signature only" => "client.card-signature-second";
    "C46" TokenPrefix "takes a token that begins like the right one" => "webhook.token-compared-whole";
    "C47" TakesGarbage "answers 200 to what it cannot read" => "webhook.garbage-refused";
    "C48" ReasonsOnly "knows errors by their details alone" => "client.reads-error-codes";
    "C49" OneRefusal "takes one refusal for another" => "client.reads-every-error";
    "C50" OldErrors "takes an error of 1.0 for one of JSON-RPC" => "client.reads-later-errors";
    "C51" NoMessage "does not report the message of an error" => "client.error-message-told";
    "C52" StillWorking "reports a canceled task as it was before" => "client.cancel-answered";
    "C53" StreamsAtAnyStatus "reads a stream whatever its HTTP status" => "client.stream-status-heeded";
    "C54" EventsOnly "gives up at a block without data" => "client.stream-empty-events";
    "C55" WaitingIsCut "takes a task that waits for its caller for a stream that was cut" => "client.stream-ends-waiting";
    "C56" OldPlace "resumes after an earlier event than the last" => "client.resumes-from-last-event";
    "C57" BearsPassword "shows the password for the name" => "client.shows-password";
    "C58" WrongPath "calls the origin of the agent, whatever the card says" => "client.request-valid" ["client.history-length-asked", "client.configuration-sent", "client.sends-parts", "client.webhook-in-message", "client.list-request-valid", "client.push-requests-valid", "client.sends-part-details"];
    "C59" PollStorm "polls a task without a pause, for ever" => "client.polls-with-measure";
    "C60" NoContentType "does not say that its requests are JSON" => "client.content-type-sent";
    "C61" JsonOnly "accepts only JSON where it requests a stream" => "client.accepts-streams";
    "C62" CardAnywhere "shows credentials to wherever the card is said to be" => "client.card-redirect-drops-credentials";
    "C63" AnyHost "calls an agent that shows the certificate of another host" => "client.tls-name-verified";
    "C64" AnyTime "calls an agent whose certificate has expired" => "client.tls-time-verified";
    "C65" TwoSlashes "adds a slash to a URL that ends with one" => "client.base-url-slash";
    "C66" PastEnd "reports events after the end of a task" => "client.nothing-after-end";
    "C67" FirstOfMany "takes the first of several events that come at once" => "client.stream-events-together" ["client.stream-empty-events"];
    "C68" OneId "gives all requests one id" => "client.request-ids-differ" ["client.ids-unique"];
    "C69" CountsTokens "has tokens for its push notification configs that can be guessed from each other" => "client.webhook-config";
    "C70" NoReferences "drops the tasks to which a message is related" => "client.references-sent";
    "C71" NoTask "creates push notification configs without their task" => "client.push-requests-valid";
}

/// Every client with a bug.
pub fn mutants() -> impl Iterator<Item = Mutant> {
    Bug::ALL.iter().map(|bug| bug.mutant())
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
        )
    }
}
