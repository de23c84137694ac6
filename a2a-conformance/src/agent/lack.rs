//! Prerequisites of a case that are missing.

use a2a_transport::Binding;
use a2a_types::{Dialect, ErrorKind, Operation, Request};
use serde_json::json;
use uuid::Uuid;

use super::lane::{Lane, Outcome};
use super::options::Options;
use super::target::Target;
use crate::case::{Caller, Case, Need, Profile};
use crate::run::Verdict;

/// A missing prerequisite of a case: the verdict, and the reason.
pub(super) type Lack = (Verdict, String);

impl Target {
    /// Returns what a case needs and the card does not offer, or the user has not given.
    pub(super) async fn lacks(&self, case: &Case, lane: &Lane, options: &Options) -> Option<Lack> {
        if case.profile == Profile::Instrumented && options.profile == Profile::BlackBox {
            return not_applicable("only for agents that keep the behaviour contract");
        }
        for need in &case.needs {
            let lack = match need {
                Need::Webhook => match self.card.capabilities.push_notifications {
                    Some(true) => self.webhooks_refused(lane, options).await,
                    _ => not_applicable("the card does not say: webhooks"),
                },
                need => self.lacks_one(*need, lane),
            };
            if lack.is_some() {
                return lack;
            }
        }
        None
    }

    fn lacks_one(&self, need: Need, lane: &Lane) -> Option<Lack> {
        let card = &self.card;
        let capabilities = &card.capabilities;
        let has_authentication = !card.security_requirements.is_empty();
        let extended = capabilities.extended_agent_card == Some(true);
        let required = capabilities.extensions.iter().any(|one| one.required);
        let old = || self.all_lanes().any(|lane| lane.dialect < Dialect::V1_0);
        // A request without a version is told from others only where both versions share a URL.
        let old_there = || {
            let place = |lane: &Lane| lane.url.trim_end_matches('/').to_owned();
            let is_there = |other: &Lane| {
                matches!(other.dialect, Dialect::V0_2 | Dialect::V0_3)
                    && other.binding == Binding::JsonRpc
                    && place(other) == place(lane)
            };
            self.all_lanes().any(is_there)
        };
        let both = || {
            let bindings = [Binding::JsonRpc, Binding::HttpJson];
            bindings
                .into_iter()
                .all(|binding| self.serves(lane.dialect, binding))
        };
        let (has, told) = match need {
            Need::Streaming => (capabilities.streaming == Some(true), "streams"),
            Need::NoStreaming => (capabilities.streaming != Some(true), "no streams"),
            Need::Push | Need::Webhook => {
                (capabilities.push_notifications == Some(true), "webhooks")
            }
            Need::NoPush => (capabilities.push_notifications != Some(true), "no webhooks"),
            Need::ExtendedCard => (extended, "an extended card"),
            Need::NoExtendedCard => (!extended, "no extended card"),
            Need::SecondCaller if lane.callers.second.is_empty() => {
                let given = "credentials of a second caller were not given (--second-header)";
                return match has_authentication {
                    // The card says that the agent tells callers apart.
                    true => Some((Verdict::Untestable, given.to_owned())),
                    false => not_applicable(given),
                };
            }
            Need::SecondCaller => (true, ""),
            Need::ForbiddenCaller if lane.callers.forbidden.is_empty() => {
                let given = "credentials that may do nothing were not given (--forbidden-header)";
                return not_applicable(given);
            }
            Need::ForbiddenCaller => (true, ""),
            Need::CardKeys if self.card_keys.is_none() => {
                return not_applicable("keys that are trusted were not given (--jwks)");
            }
            Need::CardKeys => (true, ""),
            Need::Authentication => (has_authentication, "that callers show who they are"),
            Need::BothBindings => (both(), "JSON-RPC and HTTP+JSON in this version"),
            Need::OneBinding => (!both(), "only one binding in this version"),
            Need::Extension => (!capabilities.extensions.is_empty(), "an extension"),
            Need::RequiredExtension => (required, "a required extension"),
            Need::NoRequiredExtension => (!required, "no required extension"),
            Need::Tenant => (lane.tenant.is_some(), "a tenant"),
            Need::Signatures => (!card.signatures.is_empty(), "signatures"),
            Need::OldVersion => (old_there(), "0.2 or 0.3 by JSON-RPC at this URL"),
            Need::NoOldVersion => (!old(), "no version before 1.0"),
            Need::Here if !self.is_here => {
                return not_applicable("the agent runs elsewhere, where its calls cannot be seen");
            }
            Need::Here => (true, ""),
            Need::Https => (self.place.starts_with("https:"), "a place at `https`"),
        };
        match has {
            true => None,
            false => not_applicable(&format!("the card does not say: {told}")),
        }
    }

    /// Returns the reason why webhooks cannot be tested, or `None` if they can. The agent is only asked
    /// whether it accepts one: the cases test that it sends notifications.
    async fn webhooks_refused(&self, lane: &Lane, options: &Options) -> Option<Lack> {
        let Some(webhooks) = &self.webhooks else {
            let reason = "the agent cannot reach webhooks of this machine: --webhook-host names it";
            return Some((Verdict::Untestable, reason.to_owned()));
        };
        let text = match options.profile {
            Profile::BlackBox => options.prompt.as_str(),
            Profile::Instrumented => "echo hello",
        };
        let asked = lane.webhooks.get_or_init(|| async {
            let url = webhooks.url(&Uuid::new_v4().simple().to_string());
            let message = json!({"messageId": Uuid::new_v4().to_string(), "role": "ROLE_USER", "parts": [{"text": text}]});
            let params = json!({"message": message, "configuration": {"taskPushNotificationConfig": {"url": url}}});
            let request = serde_json::from_value(params).map(Request::SendMessage);
            let Ok((outgoing, envelope)) = request
                .map_err(|error| error.to_string())
                .and_then(|request| lane.write(request, None).map_err(|error| error.to_string()))
            else {
                return Ok(());
            };
            debug_assert_eq!(envelope.operation, Operation::SendMessage);
            let answered = lane.ask(0, outgoing, &envelope, Caller::First).await;
            match answered.outcome {
                // The card promises webhooks: cases report this contradiction.
                Outcome::Error { kind: ErrorKind::PushNotificationNotSupported, .. } => Ok(()),
                Outcome::Error { message, .. } => Err(format!("the agent takes no webhook at {url}: {message}")),
                _ => Ok(()),
            }
        });
        let refused = asked.await.as_ref().err()?;
        Some((Verdict::Untestable, refused.clone()))
    }
}

fn not_applicable(reason: &str) -> Option<Lack> {
    Some((Verdict::NotApplicable, reason.to_owned()))
}
