//! The agent under test: what its card offers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use a2a_client::Cards;
use a2a_transport::Binding;
use a2a_transport::http::HttpClient;
use a2a_types::{AgentCard, Dialect};

use super::lane::{Callers, Lane, causes};
use super::observed::Observed;
use crate::case::{Case, Need};

/// The agent under test.
pub(crate) struct Target {
    pub(crate) card: Arc<AgentCard>,
    pub(crate) lanes: Vec<Lane>,
}

/// Which lanes are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) dialects: Vec<Dialect>,
    pub(crate) bindings: Vec<Binding>,
}

impl Target {
    /// Finds the card, and every interface on it that can be tested.
    pub(crate) async fn find(
        url: &str,
        http: &HttpClient,
        callers: &Arc<Callers>,
        wanted: &Wanted,
        patience: Duration,
    ) -> Result<Self, String> {
        let cards = Cards::new(http.clone()).headers(callers.first.clone());
        let card = cards.find(url).await.map_err(|error| causes(&error))?;
        let mut lanes: Vec<Lane> = Vec::new();
        for interface in &card.supported_interfaces {
            let (Some(dialect), Some(binding)) = (interface.dialect(), Binding::of(interface))
            else {
                continue;
            };
            let known = lanes
                .iter()
                .any(|lane| (lane.dialect, lane.binding) == (dialect, binding));
            let dialect_wanted = wanted.dialects.is_empty() || wanted.dialects.contains(&dialect);
            let binding_wanted = wanted.bindings.is_empty() || wanted.bindings.contains(&binding);
            if !known && dialect_wanted && binding_wanted {
                lanes.push(Lane {
                    dialect,
                    binding,
                    url: interface.url.clone(),
                    http: http.clone(),
                    callers: Arc::clone(callers),
                    patience,
                    observed: Observed::default(),
                    next_id: AtomicU64::new(1),
                });
            }
        }
        lanes.sort_by_key(|lane| (lane.dialect, lane.binding.to_string()));
        Ok(Self { card, lanes })
    }

    /// What a case needs and the card does not offer, or nobody has given.
    pub(crate) fn lacks(&self, case: &Case, callers: &Callers) -> Option<String> {
        let capabilities = &self.card.capabilities;
        let lack = |need: &Need| {
            let (has, told) = match need {
                Need::Streaming => (capabilities.streaming == Some(true), "streams"),
                Need::NoStreaming => (capabilities.streaming != Some(true), "no streams"),
                Need::Push => (capabilities.push_notifications == Some(true), "webhooks"),
                Need::NoPush => (capabilities.push_notifications != Some(true), "no webhooks"),
                Need::ExtendedCard => (
                    capabilities.extended_agent_card == Some(true),
                    "an extended card",
                ),
                Need::SecondCaller => {
                    (!callers.second.is_empty(), "credentials of a second caller")
                }
                Need::Authentication => (
                    !self.card.security_requirements.is_empty(),
                    "that callers show who they are",
                ),
            };
            (!has).then(|| match need {
                Need::SecondCaller => format!("{told} were not given (--second-header)"),
                _ => format!("the card does not say: {told}"),
            })
        };
        case.needs.iter().find_map(lack)
    }
}
