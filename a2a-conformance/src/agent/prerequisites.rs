//! Prerequisites of a case, and which of them is missing.

use a2a_transport::Binding;
use a2a_types::{ErrorKind, Operation, ProtocolVersion, Request};
use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;
use uuid::Uuid;

use super::interface::Interface;
use super::options::Options;
use super::target::Target;
use crate::case::{Caller, Case, Prerequisite, Profile};
use crate::record::Verdict;
use crate::wire::exchange::ResponseContent;

/// A missing prerequisite of a case: the verdict, and the reason.
pub(super) type MissingPrerequisite = (Verdict, String);

/// Returns the first prerequisite of a case that neither the card nor the user provides.
pub(super) async fn missing(
    target: &Target,
    case: &Case,
    interface: &Interface,
    options: &Options,
) -> Option<MissingPrerequisite> {
    if case.profile == Profile::Instrumented && options.profile == Profile::BlackBox {
        return not_applicable("only for agents that keep the behaviour contract");
    }
    for need in &case.needs {
        let missing = match need {
            Prerequisite::Webhook => match target.card.capabilities.push_notifications {
                Some(true) => webhook_refusal(target, interface, options).await,
                _ => not_applicable("the card does not declare: webhooks"),
            },
            Prerequisite::IssuerKeys => missing_keys(target, interface).await,
            Prerequisite::Authentication if interface.anonymous_http.is_some() => {
                match admits_handshake(target, interface).await {
                    true => missing_of(target, *need, interface),
                    false => not_applicable(
                        "callers without a certificate are refused by the handshake of TLS",
                    ),
                }
            }
            need => missing_of(target, *need, interface),
        };
        if missing.is_some() {
            return missing;
        }
    }
    None
}

/// Returns whether a step has to be left out.
pub(super) fn lacks(target: &Target, need: Prerequisite, interface: &Interface) -> bool {
    missing_of(target, need, interface).is_some()
}

async fn missing_keys(target: &Target, interface: &Interface) -> Option<MissingPrerequisite> {
    let forged = target.forged.as_ref();
    let made = target.key_signed.get_or_init(|| async {
        let Some(forged) = forged else {
            return Vec::new();
        };
        let making = forged.signed_by_public_key(&interface.http);
        let made = tokio::time::timeout(interface.response_timeout, making).await;
        made.unwrap_or_default()
    });
    match made.await.is_empty() {
        true => not_applicable("no keys of an issuer of tokens can be found from the card"),
        false => None,
    }
}

async fn admits_handshake(target: &Target, interface: &Interface) -> bool {
    let Some(http) = &interface.anonymous_http else {
        return true;
    };
    let trying = || async {
        let request = http::Request::get(&target.place).body(Full::<Bytes>::default());
        match request {
            Ok(request) => http.fetch(request).await.is_ok(),
            Err(_) => false,
        }
    };
    *target.admits_handshake.get_or_init(trying).await
}

fn missing_of(
    target: &Target,
    need: Prerequisite,
    interface: &Interface,
) -> Option<MissingPrerequisite> {
    let card = &target.card;
    let capabilities = &card.capabilities;
    // An empty requirement among the alternatives makes credentials optional.
    let required = &card.security_requirements;
    let has_authentication =
        !required.is_empty() && required.iter().all(|one| !one.schemes.is_empty());
    let extended = capabilities.extended_agent_card == Some(true);
    let required = capabilities.extensions.iter().any(|one| one.required);
    let old = || {
        target
            .all_interfaces()
            .any(|interface| interface.protocol_version < ProtocolVersion::V1_0)
    };
    // A request without a version differs from others only where both versions share a URL.
    let old_there = || {
        let place = |interface: &Interface| interface.url.trim_end_matches('/').to_owned();
        let is_there = |other: &Interface| {
            other.protocol_version == ProtocolVersion::V0_3
                && other.binding == Binding::JsonRpc
                && place(other) == place(interface)
        };
        target.all_interfaces().any(is_there)
    };
    let both = || {
        let bindings = [Binding::JsonRpc, Binding::HttpJson];
        bindings
            .into_iter()
            .all(|binding| target.serves(interface.protocol_version, binding))
    };
    let (has, capability) = match need {
        Prerequisite::Streaming => (capabilities.streaming == Some(true), "streams"),
        Prerequisite::NoStreaming => (capabilities.streaming != Some(true), "no streams"),
        Prerequisite::Push | Prerequisite::Webhook => {
            (capabilities.push_notifications == Some(true), "webhooks")
        }
        Prerequisite::NoPush => (capabilities.push_notifications != Some(true), "no webhooks"),
        Prerequisite::ExtendedCard => (extended, "an extended card"),
        Prerequisite::NoExtendedCard => (!extended, "no extended card"),
        Prerequisite::SecondCaller if interface.callers.second.is_empty() => {
            let missing = "credentials of a second caller were not given (--second-header)";
            return match has_authentication {
                // The card says that the agent distinguishes callers.
                true => Some((Verdict::Untestable, missing.to_owned())),
                false => not_applicable(missing),
            };
        }
        Prerequisite::SecondCaller => (true, ""),
        Prerequisite::ForbiddenCaller if interface.callers.forbidden.is_empty() => {
            let missing = "credentials that may do nothing were not given (--forbidden-header)";
            return not_applicable(missing);
        }
        Prerequisite::ForbiddenCaller => (true, ""),
        Prerequisite::ExpiredToken if interface.callers.expired.is_empty() => {
            return not_applicable("an expired token was not given (--expired)");
        }
        Prerequisite::WrongAudienceToken if interface.callers.wrong_audience.is_empty() => {
            let missing = "a token for another agent was not given (--wrong-audience)";
            return not_applicable(missing);
        }
        Prerequisite::WrongScopeToken if interface.callers.wrong_scope.is_empty() => {
            let missing = "a token that grants nothing here was not given (--wrong-scope)";
            return not_applicable(missing);
        }
        Prerequisite::ExpiredToken
        | Prerequisite::WrongAudienceToken
        | Prerequisite::WrongScopeToken => (true, ""),
        Prerequisite::BearerTokens | Prerequisite::IssuerKeys => {
            (target.forged.is_some(), "bearer tokens")
        }
        Prerequisite::CardKeys if target.card_keys.is_none() => {
            return not_applicable("keys that are trusted were not given (--jwks)");
        }
        Prerequisite::NoCardKeys if target.card_keys.is_some() => {
            return not_applicable("keys that are trusted were given (--jwks)");
        }
        Prerequisite::CardKeys | Prerequisite::NoCardKeys => (true, ""),
        Prerequisite::Authentication => (has_authentication, "authentication"),
        Prerequisite::BothBindings => (both(), "JSON-RPC and HTTP+JSON in this version"),
        Prerequisite::JsonRpc => (
            target.serves(interface.protocol_version, Binding::JsonRpc),
            "JSON-RPC in this version",
        ),
        Prerequisite::OneBinding => (!both(), "only one binding in this version"),
        Prerequisite::Extension => (!capabilities.extensions.is_empty(), "an extension"),
        Prerequisite::RequiredExtension => (required, "a required extension"),
        Prerequisite::NoRequiredExtension => (!required, "no required extension"),
        Prerequisite::Tenant => (interface.tenant.is_some(), "a tenant"),
        Prerequisite::Signatures => (!card.signatures.is_empty(), "signatures"),
        Prerequisite::OldVersion => (old_there(), "0.2 or 0.3 by JSON-RPC at this URL"),
        Prerequisite::NoOldVersion => (!old(), "no version before 1.0"),
        Prerequisite::Here if !target.is_here => {
            return not_applicable("the agent runs elsewhere, where its calls cannot be seen");
        }
        Prerequisite::Here => (true, ""),
        Prerequisite::Https => (target.place.starts_with("https:"), "a place at `https`"),
    };
    match has {
        true => None,
        false => not_applicable(&format!("the card does not declare: {capability}")),
    }
}

/// Returns the reason why webhooks cannot be tested, or `None` if they can. The agent is only asked
/// whether it accepts one: the cases test that it sends notifications.
async fn webhook_refusal(
    target: &Target,
    interface: &Interface,
    options: &Options,
) -> Option<MissingPrerequisite> {
    let Some(webhooks) = &target.webhooks else {
        let reason = "the agent cannot reach webhooks of this machine: --webhook-host names it";
        return Some((Verdict::Untestable, reason.to_owned()));
    };
    let text = match options.profile {
        Profile::BlackBox => options.prompt.as_str(),
        Profile::Instrumented => "echo hello",
    };
    let refusal = interface.webhooks.get_or_init(|| async {
        let url = webhooks.url(&Uuid::new_v4().simple().to_string());
        let message = json!({"messageId": Uuid::new_v4().to_string(), "role": "ROLE_USER", "parts": [{"text": text}]});
        let params = json!({"message": message, "configuration": {"taskPushNotificationConfig": {"url": url}}});
        let request = serde_json::from_value(params).map(Request::SendMessage);
        let Ok((outgoing, envelope)) = request
            .map_err(|error| error.to_string())
            .and_then(|request| interface.write(request, None).map_err(|error| error.to_string()))
        else {
            return Ok(());
        };
        assert_eq!(envelope.operation, Operation::SendMessage);
        let answered = interface.ask(0, outgoing, &envelope, Caller::First).await;
        match answered.outcome {
            // The card promises webhooks: cases report this contradiction.
            ResponseContent::Error { kind: ErrorKind::PushNotificationNotSupported, .. } => Ok(()),
            ResponseContent::Error { message, .. } => Err(format!("the agent takes no webhook at {url}: {message}")),
            _ => Ok(()),
        }
    });
    let refused = refusal.await.as_ref().err()?;
    Some((Verdict::Untestable, refused.clone()))
}

fn not_applicable(reason: &str) -> Option<MissingPrerequisite> {
    Some((Verdict::NotApplicable, reason.to_owned()))
}
