//! The bugs.

use a2a_transport::Binding;
use a2a_types::Dialect;

use crate::interface_kind::InterfaceKind;

/// Description of a bug: where it shows, and which checks find it.
#[derive(Clone, Copy, Debug)]
pub struct BugDescription {
    /// Description of what the agent does wrong.
    pub says: &'static str,
    /// Interfaces on which it shows. The whole suite runs on the first of them.
    pub interfaces: &'static [InterfaceKind],
    /// The checks that must fail, on every one of these interfaces on which they run.
    pub kills: &'static [&'static str],
    /// The checks that may fail, too.
    pub allows: &'static [&'static str],
    /// Runs one check at a time, since the bug is about concurrency.
    pub alone: bool,
}

macro_rules! bugs {
    ($($bug:ident: $says:literal, $interfaces:expr, [$($kill:literal),* $(,)?] $(, allows [$($allow:literal),* $(,)?])? $(=> $alone:ident)?;)*) => {
        /// A bug of an agent.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Bug { $(#[doc = $says] $bug,)* }

        impl Bug {
            /// All bugs.
            pub const ALL: &[Self] = &[$(Self::$bug,)*];

            /// Its name, like `S07`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$bug => stringify!($bug),)* }
            }

            /// Returns its description.
            pub fn description(self) -> BugDescription {
                match self {
                    $(Self::$bug => BugDescription {
                        says: $says,
                        interfaces: $interfaces,
                        kills: &[$($kill),*],
                        allows: &[$($($allow),*)?],
                        alone: bugs!(@alone $($alone)?),
                    },)*
                }
            }
        }
    };
    (@alone) => { false };
    (@alone alone) => { true };
}

/// Every version by JSON-RPC.
const RPC: &[InterfaceKind] = &[RPC_1_0, RPC_0_3, RPC_0_2, RPC_0_1];
/// Since the server names tasks.
const SINCE_0_2: &[InterfaceKind] = &[RPC_1_0, REST_1_0, RPC_0_3, REST_0_3, RPC_0_2];
/// The newest version.
const NEWEST: &[InterfaceKind] = &[RPC_1_0, REST_1_0];

const RPC_1_0: InterfaceKind = InterfaceKind::new(Dialect::V1_0, Binding::JsonRpc);
const REST_1_0: InterfaceKind = InterfaceKind::new(Dialect::V1_0, Binding::HttpJson);
const RPC_0_3: InterfaceKind = InterfaceKind::new(Dialect::V0_3, Binding::JsonRpc);
const REST_0_3: InterfaceKind = InterfaceKind::new(Dialect::V0_3, Binding::HttpJson);
const RPC_0_2: InterfaceKind = InterfaceKind::new(Dialect::V0_2, Binding::JsonRpc);
const RPC_0_1: InterfaceKind = InterfaceKind::new(Dialect::V0_1, Binding::JsonRpc);

#[rustfmt::skip]
bugs! {
    S01: "the id of an answer is a text where that of the request is a number",
        RPC, ["rpc.id-echoed"],
        allows [
            "rpc.id-less", "rpc.invalid-params", "rpc.invalid-request", "rpc.parse-error",
            "rpc.version-required",
        ];
    S02: "answers do not say `jsonrpc`",
        &[RPC_0_3, RPC_1_0, RPC_0_2, RPC_0_1], ["rpc.envelope"],
        allows ["task.shape", "card.preferred-transport", "rpc.parse-error"];
    S03: "a result has an error beside it, and an error a result; they are null",
        RPC, ["rpc.envelope"], allows ["error.object", "task.shape"];
    S04: "what is no JSON is answered as an invalid request",
        &[RPC_0_2, RPC_1_0, RPC_0_3, RPC_0_1], ["rpc.parse-error"];
    S05: "a notification is answered",
        RPC, ["rpc.notification-unanswered"];
    S06: "an unknown method is answered by a page of HTML",
        RPC, ["rpc.method-not-found"];
    S07: "a message to a terminal task is accepted",
        SINCE_0_2, ["send.ended-task-refused"],
        allows ["send.every-end-refuses", "stream.ended-task-refused", "task.ended-stays"];
    S08: "canceling a task that has ended succeeds",
        &[REST_1_0, RPC_1_0, RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["cancel.ended-refused"],
        allows ["cancel.failed-refused", "task.ended-stays", "rest.same-as-rpc"];
    S09: "canceling a task that never was is answered as wrong parameters",
        &[RPC_0_3, REST_0_3, RPC_1_0, REST_1_0, RPC_0_2, RPC_0_1], ["cancel.unknown"], allows ["task.foreign-hidden"];
    S10: "a task that has ended is at work again when it is read once more",
        &[RPC_0_2, RPC_1_0, REST_1_0, RPC_0_3, REST_0_3], ["task.ended-stays"],
        allows ["cancel.stops-work", "cancel.twice", "send.every-end-refuses", "stream.tells-all"];
    S11: "a stream begins with the state of the task, without the task",
        NEWEST, ["stream.begins-with-task"], allows ["stream.continues", "stream.same-for-all", "stream.subscribe-begins-with-task"];
    S12: "a stream stays open when the task has failed",
        NEWEST, ["stream.closes"], allows ["stream.crash-told", "stream.tells-all"];
    S13: "an event follows the end of the task",
        InterfaceKind::ALL, ["stream.closes"], allows ["stream.in-order"];
    S14: "a later subscription to a task misses an event",
        NEWEST, ["stream.same-for-all"],
        allows ["stream.independent", "stream.resumed", "stream.subscribe-begins-with-task", "stream.subscribe-goes-on"];
    S15: "when a stream is closed, the other streams of its task end",
        InterfaceKind::ALL, ["stream.independent"];
    S16: "when a stream is closed, its task is canceled",
        InterfaceKind::ALL, ["stream.cut-leaves-task"], allows ["stream.independent"];
    S17: "events come without an envelope",
        &[RPC_0_2, RPC_1_0, RPC_0_3, RPC_0_1], ["stream.envelope"], allows ["stream.event-shapes"];
    S18: "a stream that follows a task says that it is plain text",
        &[RPC_0_1, RPC_1_0, REST_1_0, RPC_0_3, REST_0_3, RPC_0_2], ["stream.media-type"],
        allows ["stream.independent", "stream.subscribe-goes-on", "stream.subscribe-ended-refused"];
    S19: "a list spells states as 0.3 does",
        NEWEST, ["task.shape"], allows ["list.filters", "list.same-as-read"];
    S20: "a request with an unknown member is refused",
        RPC, ["send.unknown-members-ignored"], allows ["task.enum-numbers"];
    S21: "history is returned although none was requested",
        &[RPC_1_0, REST_1_0, RPC_0_2], ["task.history"], allows ["task.history-omitted"];
    S22: "tasks are listed with the oldest first",
        NEWEST, ["list.sorted"], allows ["list.cursor", "list.filters", "list.pages", "list.same-as-read"];
    S23: "the last page has no `nextPageToken`",
        &[REST_1_0, RPC_1_0], ["list.shape"], allows ["task.shape"];
    S24: "tasks are listed with artifacts that were not requested",
        NEWEST, ["list.artifacts"];
    S25: "a page token shows one tenant the tasks of another",
        NEWEST, ["list.own-only"];
    S26: "other callers read a task",
        InterfaceKind::ALL, ["task.foreign-hidden"];
    S27: "other callers follow and cancel a task",
        &[REST_1_0, RPC_1_0, RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["task.foreign-hidden", "task.foreign-stream-hidden"];
    S28: "other callers read the webhooks of a task",
        SINCE_0_2, ["task.foreign-push-hidden"];
    S29: "webhooks at addresses of the agent's own network are called",
        InterfaceKind::ALL, ["push.private-refused"], allows ["push.bad-url-refused"];
    S30: "a webhook that points elsewhere is followed there",
        InterfaceKind::ALL, ["push.redirect-not-followed"];
    S31: "push notifications have neither credentials nor a token",
        InterfaceKind::ALL, ["push.credentials", "push.token"], allows ["push.set-told"];
    S32: "line breaks of a token make headers",
        InterfaceKind::ALL, ["push.bad-token-refused"];
    S33: "a delivery that fails is not retried",
        InterfaceKind::ALL, ["push.retried"];
    S34: "the retry of a delivery has another body",
        NEWEST, ["push.retried"];
    S35: "a message of any size is accepted",
        RPC, ["send.size-limited"] => alone;
    S36: "deep JSON ends the process",
        RPC, ["send.deep-json"], allows ["send.size-limited", "rpc.content-type"] => alone;
    S37: "errors reveal their place in the source",
        &[REST_1_0, RPC_1_0, RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["error.no-internals"];
    S38: "of two messages at once one is lost",
        InterfaceKind::ALL, ["send.at-once"] => alone;
    S39: "the card promises streams, and the method that follows a task is unknown",
        &[RPC_0_3, RPC_1_0, RPC_0_2, RPC_0_1], ["rpc.streaming-methods"],
        allows [
            "stream.subscribe-goes-on", "stream.subscribe-ended-refused", "stream.subscribe-unknown",
            "stream.independent", "task.foreign-stream-hidden",
        ];
    S40: "the card is signed over its signatures, too",
        NEWEST, ["card.signature-verifies"];
    S41: "push notifications spell states as in another version",
        InterfaceKind::ALL, ["push.body"];
    S42: "files are fetched from wherever they are said to be",
        InterfaceKind::ALL, ["send.private-files-not-fetched"];
    S43: "a webhook that does not answer within a second is given up",
        NEWEST, ["push.slow-webhook-waited"];
    S44: "errors of HTTP+JSON say that their status is UNKNOWN",
        &[REST_1_0], ["error.status-name"];
    S45: "a request without `jsonrpc` is served",
        RPC, ["rpc.version-required"];
    S46: "a message without id or role is served",
        &[RPC_0_3, RPC_0_2], ["send.message-members"];
    S47: "a webhook is read with the address of another",
        &[RPC_1_0, RPC_0_3], ["push.managed"],
        allows ["push.get", "push.delete-own", "task.foreign-push-hidden"];
    S48: "a task that says hello has lost its artifacts when it is read",
        RPC, ["task.get-contents"], allows ["task.ended-stays"];
    S49: "canceling a task that has failed succeeds",
        &[RPC_1_0, REST_1_0, RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["cancel.failed-refused"], allows ["task.ended-stays"];
    S50: "an empty header for the version is refused",
        &[RPC_1_0], ["version.empty-is-0.3"];
    S51: "a stream that resumes after an event lacks the next one",
        NEWEST, ["stream.resumed"];
    S52: "a stream that resumes after an event repeats an earlier one",
        NEWEST, ["stream.resumed"];
    S53: "a later subscription repeats a chunk that the task of the first event has",
        NEWEST, ["stream.same-for-all", "stream.subscribe-goes-on"];
    S54: "a later subscription has an event of another task",
        InterfaceKind::ALL, ["stream.event-shapes"],
        allows ["stream.same-for-all", "stream.subscribe-goes-on", "stream.resumed", "stream.independent"];
    S55: "before 1.0, a later subscription to a task misses an event",
        &[RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["stream.subscribe-goes-on"];
    S56: "roles are spelled as 0.3 does",
        NEWEST, ["task.shape"];
    S57: "credentials of a scheme that is not on the card are admitted",
        InterfaceKind::ALL, ["auth.wrong-refused"];
    S58: "tokens with `alg: none` are admitted",
        &[RPC_0_3, REST_0_3, RPC_1_0, REST_1_0, RPC_0_2, RPC_0_1], ["auth.unsigned-refused"];
    S59: "tokens signed by HMAC with the issuer's public key are admitted",
        &[REST_1_0, RPC_1_0, RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["auth.hmac-by-public-key-refused"];
    S60: "tokens for another agent are admitted",
        &[REST_0_3, RPC_0_3, RPC_1_0, REST_1_0, RPC_0_2, RPC_0_1], ["auth.wrong-audience-refused"];
    S61: "tokens that have expired are admitted",
        InterfaceKind::ALL, ["auth.expired-refused"];
    S62: "tasks are read without the scope for it",
        &[RPC_0_2, RPC_0_1, RPC_0_3, REST_0_3, RPC_1_0, REST_1_0], ["auth.wrong-scope-refused"];
    S63: "errors repeat the credentials that are wrong",
        &[RPC_0_1, RPC_0_2, RPC_0_3, REST_0_3, RPC_1_0, REST_1_0], ["auth.secrets-not-repeated"];
    S64: "401 comes without WWW-Authenticate",
        &[RPC_0_3, REST_0_3, RPC_1_0, REST_1_0, RPC_0_2, RPC_0_1], ["auth.challenge"],
        allows ["card.extended-challenge"];
    S65: "push notifications are signed by a key that is not published",
        &[RPC_1_0, REST_1_0, RPC_0_3, REST_0_3, RPC_0_2], ["push.signed"];
    S66: "webhooks are managed without credentials",
        InterfaceKind::ALL, ["auth.push-required"];
    S67: "handshakes of TLS 1.1 are accepted",
        NEWEST, ["auth.tls"];
    S68: "the card is served by TLS without Strict-Transport-Security",
        NEWEST, ["auth.hsts"];
    S69: "the code of an error is not the one of the reason in its details",
        &[RPC_1_0], ["error.codes"], allows ["rpc.id-echoed", "send.deep-json"];
    S70: "the connection of a stream stays open after its final status",
        &[RPC_0_3, REST_0_3, RPC_0_2, RPC_0_1], ["stream.connection-closed"];
    S71: "by HTTP+JSON a refused stream is a stream with the error as its event",
        &[REST_1_0, REST_0_3], ["error.status"];
    S72: "a webhook without an id gets the id of its task",
        NEWEST, ["push.create-adds"], allows ["push.set"];
    S73: "credentials are refused if their scheme is not written as on the card",
        InterfaceKind::ALL, ["auth.scheme-any-case"];
    S74: "a media type with a parameter is refused",
        &[RPC_1_0, RPC_0_3, RPC_0_2, RPC_0_1], ["rpc.media-type-parameter"];
    S75: "by HTTP+JSON a media type with a parameter is refused",
        &[REST_1_0, REST_0_3], ["rest.media-type-parameter"];
}

impl Bug {
    /// Returns whether the bug is in what is admitted, so that callers need tokens of an issuer.
    pub(super) fn is_about_tokens(self) -> bool {
        (Self::S57..=Self::S62).contains(&self) || self == Self::S73
    }

    /// Returns whether the bug is in TLS, so that the agent is behind it.
    pub(super) fn is_about_tls(self) -> bool {
        matches!(self, Self::S67 | Self::S68)
    }

    /// Returns whether the bug is in what webhooks receive.
    pub(super) fn is_about_webhooks(self) -> bool {
        matches!(
            self,
            Self::S29
                | Self::S30
                | Self::S31
                | Self::S32
                | Self::S33
                | Self::S34
                | Self::S41
                | Self::S43
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::check_ids;

    #[test]
    fn bugs_name_checks_that_there_are() {
        let known = check_ids().unwrap();
        for bug in Bug::ALL {
            let description = bug.description();
            assert!(!description.interfaces.is_empty() && !description.kills.is_empty());
            let is_known = |check: &&&str| known.contains(**check);
            let unknown = description.kills.iter().find(|check| !is_known(check));
            assert_eq!(unknown, None, "{}", bug.name());
            let unknown = description.allows.iter().find(|check| !is_known(check));
            assert_eq!(unknown, None, "{}", bug.name());
        }
    }
}
