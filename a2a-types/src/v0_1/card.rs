//! The agent card, 0.1 §5.5.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::pre_1_0::security::Variants;
use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{Normalizer, Wire};
use crate::secret::redacted_debug;
use crate::{
    AgentInterface, ApiKeySecurityScheme, HttpAuthSecurityScheme, OAuth2SecurityScheme, OAuthFlows,
    Object, ProtocolVersion, SecurityRequirement, SecurityScheme, StringList,
};

wire_types! {
    /// Self-description of an agent: identity and skills, 0.1 §5.5.
    pub struct AgentCard: Debug {
        /// Human-readable name.
        pub name: String,
        /// Purpose of the agent.
        pub description: Option<String> = optional,
        /// URL that JSON-RPC is POSTed to.
        pub url: String,
        /// Organization that runs the agent.
        pub provider: Option<AgentProvider> = optional,
        /// The agent's own version.
        pub version: String,
        /// URL of the documentation.
        pub documentation_url: Option<String> = optional,
        /// The optional parts of the protocol that it offers.
        pub capabilities: AgentCapabilities,
        /// Authentication required of a caller.
        pub authentication: Option<AgentAuthentication> = optional,
        /// Media types that every skill accepts, unless it lists its own.
        #[serde(default = "text", deserialize_with = "or_text")]
        pub default_input_modes: Vec<String>,
        /// Media types that every skill produces, unless it lists its own.
        #[serde(default = "text", deserialize_with = "or_text")]
        pub default_output_modes: Vec<String>,
        /// Skills of the agent.
        pub skills: Vec<AgentSkill>,
    }
}

redacted_debug!(AgentAuthentication { schemes; credentials });

fn text() -> Vec<String> {
    vec!["text".to_owned()]
}

fn or_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Option::deserialize(deserializer).map(|modes| modes.unwrap_or_else(text))
}

wire_types! {
    /// Provider of an agent, 0.1 §5.5.1.
    pub struct AgentProvider: Debug {
        /// Name of the provider.
        pub organization: String,
        /// Home page of the provider.
        pub url: Option<String> = optional,
    }

    /// The optional parts of the protocol that an agent offers, 0.1 §5.5.2.
    pub struct AgentCapabilities: Copy, Debug, Default {
        /// Server-Sent Events.
        pub streaming: bool = or_default,
        /// Webhooks.
        pub push_notifications: bool = or_default,
        /// A record of state changes, which no protocol version ever defined.
        pub state_transition_history: bool = or_default,
    }

    /// Authentication required of a caller, 0.1 §5.5.3.
    pub struct AgentAuthentication {
        /// Names of the schemes: any one of these suffices.
        pub schemes: Vec<String>,
        /// Details of the schemes, usually JSON.
        pub credentials: Option<String> = optional,
    }

    /// An ability of an agent, 0.1 §5.5.4.
    pub struct AgentSkill: Debug {
        /// Identifier of the skill.
        pub id: String,
        /// Human-readable name.
        pub name: String,
        /// Description of the skill.
        pub description: Option<String> = optional,
        /// Keywords.
        pub tags: Option<Vec<String>> = optional,
        /// Example prompts.
        pub examples: Option<Vec<String>> = optional,
        /// Media types it takes, if not the card's.
        pub input_modes: Option<Vec<String>> = optional,
        /// Media types it produces, if not the card's.
        pub output_modes: Option<Vec<String>> = optional,
    }
}

impl Wire for AgentCard {
    fn normalize(card: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.member(card, "authentication", pre_1_0::normalize_schemes);
    }
}

impl From<AgentCard> for crate::AgentCard {
    fn from(card: AgentCard) -> Self {
        let (security_schemes, security_requirements) =
            card.authentication.map(schemes).unwrap_or_default();
        Self {
            name: card.name,
            description: card.description.unwrap_or_default(),
            supported_interfaces: vec![AgentInterface::json_rpc(card.url, ProtocolVersion::V0_1)],
            provider: card.provider.map(Into::into),
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: crate::AgentCapabilities {
                streaming: Some(card.capabilities.streaming),
                push_notifications: Some(card.capabilities.push_notifications),
                ..crate::AgentCapabilities::default()
            },
            security_schemes,
            security_requirements,
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

impl From<crate::AgentCard> for AgentCard {
    /// Drops extensions, signatures and the icon: 0.1 has no place for them.
    fn from(card: crate::AgentCard) -> Self {
        let interfaces = card.supported_interfaces;
        let is_json_rpc =
            |interface: &&AgentInterface| interface.protocol_binding == AgentInterface::JSON_RPC;
        let speaks = |interface: &&AgentInterface| {
            interface.protocol_version() == Some(ProtocolVersion::V0_1)
        };
        let mut json_rpc = interfaces.iter().filter(is_json_rpc);
        let url = json_rpc
            .clone()
            .find(speaks)
            .or(json_rpc.next())
            .or(interfaces.first())
            .map(|interface| interface.url.clone());
        let scheme_names = scheme_names(&card.security_schemes, &card.security_requirements);
        Self {
            name: card.name,
            description: Some(card.description),
            url: url.unwrap_or_default(),
            provider: card.provider.map(Into::into),
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: AgentCapabilities {
                streaming: card.capabilities.streaming.unwrap_or_default(),
                push_notifications: card.capabilities.push_notifications.unwrap_or_default(),
                state_transition_history: false,
            },
            authentication: (!scheme_names.is_empty()).then_some(AgentAuthentication {
                schemes: scheme_names,
                credentials: None,
            }),
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(Into::into).collect(),
        }
    }
}

both_ways! {
    AgentProvider = crate::AgentProvider { organization, url as unless_empty };
    AgentSkill = crate::AgentSkill {
        id, name, description as unless_empty, tags as unless_empty, examples as unless_empty,
        input_modes as unless_empty, output_modes as unless_empty,
    } canonical only { security_requirements };
}

type Security = (BTreeMap<String, SecurityScheme>, Vec<SecurityRequirement>);

/// Returns the schemes and requirements of 1.0: a definition and a requirement for each scheme, or
/// for each of its flows.
fn schemes(authentication: AgentAuthentication) -> Security {
    let credentials: Value = authentication
        .credentials
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let definition = |name: &str| match name.to_ascii_lowercase().as_str() {
        "oauth2" => SecurityScheme::OAuth2SecurityScheme(OAuth2SecurityScheme {
            flows: OAuthFlows::deserialize(&credentials["flows"]).unwrap_or_default(),
            ..OAuth2SecurityScheme::default()
        }),
        "apikey" => {
            let text = |key: &str| credentials[key].as_str().map(str::to_owned);
            SecurityScheme::ApiKeySecurityScheme(ApiKeySecurityScheme {
                description: None,
                location: text("in").unwrap_or_else(|| "header".to_owned()),
                name: text("name").unwrap_or_else(|| "X-API-Key".to_owned()),
            })
        }
        _ => SecurityScheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
            scheme: name.to_owned(),
            ..HttpAuthSecurityScheme::default()
        }),
    };
    let requirement = |name: &String| SecurityRequirement {
        schemes: BTreeMap::from([(name.clone(), StringList::default())]),
    };
    let definitions = authentication
        .schemes
        .iter()
        .map(|name| (name.clone(), definition(name)))
        .collect();
    let (variants, definitions) = Variants::of(definitions);
    let requirements = variants.apply(authentication.schemes.iter().map(requirement));
    (definitions, requirements)
}

/// Returns the names that 0.1 has for the required schemes. Any one suffices there: that several
/// are required together is lost. A requirement that needs a scheme without a name, like a client
/// certificate, is dropped as a whole.
fn scheme_names(
    schemes: &BTreeMap<String, SecurityScheme>,
    requirements: &[SecurityRequirement],
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for requirement in requirements {
        let named = requirement
            .schemes
            .keys()
            .map(|scheme| name(schemes.get(scheme)?));
        let Some(named) = named.collect::<Option<Vec<_>>>() else {
            continue;
        };
        for name in named {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn name(scheme: &SecurityScheme) -> Option<String> {
    let name = match scheme {
        SecurityScheme::HttpAuthSecurityScheme(http) => {
            match http.scheme.to_ascii_lowercase().as_str() {
                "bearer" => "Bearer",
                "basic" => "Basic",
                _ => http.scheme.as_str(),
            }
        }
        SecurityScheme::OAuth2SecurityScheme(_) => "OAuth2",
        SecurityScheme::ApiKeySecurityScheme(_) => "ApiKey",
        SecurityScheme::OpenIdConnectSecurityScheme(_) => "OpenIdConnect",
        SecurityScheme::MtlsSecurityScheme(_) => return None,
    };
    Some(name.to_owned())
}
