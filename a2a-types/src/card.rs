//! The agent card.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::proto::or_default;
use crate::{Dialect, Object, SecurityRequirement, SecurityScheme};

/// Self-description of an agent: identity, skills and interfaces. Specification 1.0 §4.4.1.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(rename_all = "camelCase", try_from = "crate::hybrid::Card")]
pub struct AgentCard {
    /// Human-readable name.
    pub name: String,
    /// Purpose of the agent.
    pub description: String,
    /// Interfaces of the agent, the preferred one first.
    pub supported_interfaces: Vec<AgentInterface>,
    /// Organization that runs the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The agent's own version.
    pub version: String,
    /// URL of the documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// The optional parts of the protocol that it offers.
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Required schemes: satisfying any one entry suffices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types that every skill accepts, unless it lists its own.
    pub default_input_modes: Vec<String>,
    /// Media types that every skill produces, unless it lists its own.
    pub default_output_modes: Vec<String>,
    /// Skills of the agent.
    pub skills: Vec<AgentSkill>,
    /// Signatures over this card.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<AgentCardSignature>,
    /// A picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

impl AgentCard {
    /// Returns the card of an agent that takes and produces text, streams, and has one skill. Without
    /// interfaces, it is reached where it is served. All fields are public and can be changed.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let (name, description) = (name.into(), description.into());
        Self {
            skills: vec![AgentSkill {
                id: "main".to_owned(),
                name: name.clone(),
                description: description.clone(),
                ..AgentSkill::default()
            }],
            name,
            description,
            version: "0.1.0".to_owned(),
            capabilities: AgentCapabilities {
                streaming: Some(true),
                ..AgentCapabilities::default()
            },
            default_input_modes: vec!["text/plain".to_owned()],
            default_output_modes: vec!["text/plain".to_owned()],
            ..Self::default()
        }
    }

    /// Returns the same card, reached at `url` in every protocol version and binding that we serve.
    ///
    /// HTTP+JSON has a URL of its own below the other: 0.3 §5.6.4 forbids that one URL is declared
    /// with two transports.
    pub fn at(mut self, url: impl Into<String>) -> Self {
        let url = url.into();
        let rest = format!("{}/{}", url.trim_end_matches('/'), Self::HTTP_JSON_SEGMENT);
        self.supported_interfaces = vec![
            AgentInterface::json_rpc(&url, Dialect::V1_0),
            AgentInterface::http_json(&rest, Dialect::V1_0),
            AgentInterface::json_rpc(&url, Dialect::V0_3),
            AgentInterface::http_json(&rest, Dialect::V0_3),
            AgentInterface::json_rpc(&url, Dialect::V0_2),
            AgentInterface::json_rpc(&url, Dialect::V0_1),
        ];
        self
    }

    /// Path segment that [`AgentCard::at`] appends to the URL of JSON-RPC for that of HTTP+JSON.
    pub const HTTP_JSON_SEGMENT: &str = "rest";
}

/// One place where an agent is reached. Specification 1.0 §4.4.6.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// The absolute URL.
    pub url: String,
    /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or the URI of a custom binding.
    #[serde(alias = "protocol_binding")]
    pub protocol_binding: String,
    /// Tenant to be repeated in every request to this interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Protocol version spoken there, like `1.0`.
    #[serde(alias = "protocol_version")]
    pub protocol_version: String,
}

impl AgentInterface {
    /// The `protocol_binding` of JSON-RPC.
    pub const JSON_RPC: &str = "JSONRPC";
    /// The `protocol_binding` of HTTP+JSON.
    pub const HTTP_JSON: &str = "HTTP+JSON";

    /// Returns an interface that speaks `dialect` by JSON-RPC.
    pub fn json_rpc(url: impl Into<String>, dialect: Dialect) -> Self {
        Self {
            url: url.into(),
            protocol_binding: Self::JSON_RPC.to_owned(),
            tenant: None,
            protocol_version: dialect.version().to_owned(),
        }
    }

    /// Returns an interface that speaks `dialect` by HTTP+JSON.
    pub fn http_json(url: impl Into<String>, dialect: Dialect) -> Self {
        Self {
            protocol_binding: Self::HTTP_JSON.to_owned(),
            ..Self::json_rpc(url, dialect)
        }
    }

    /// Returns the protocol version spoken there, if it is a known one.
    pub fn dialect(&self) -> Option<Dialect> {
        Dialect::from_version(&self.protocol_version)
    }
}

/// Provider of an agent. Specification 1.0 §4.4.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentProvider {
    /// Home page of the provider; empty if not given (0.1).
    #[serde(default, deserialize_with = "or_default")]
    pub url: String,
    /// Name of the provider.
    pub organization: String,
}

/// The optional parts of the protocol that an agent offers. Specification 1.0 §4.4.3.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// Server-Sent Events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Webhooks.
    #[serde(alias = "push_notifications", skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// Protocol extensions.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub extensions: Vec<AgentExtension>,
    /// `true` if there is a longer card for authenticated callers.
    #[serde(alias = "extended_agent_card", skip_serializing_if = "Option::is_none")]
    pub extended_agent_card: Option<bool>,
}

/// A protocol extension that an agent offers. Specification 1.0 §4.4.4.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentExtension {
    /// Identifier of the extension: a URI, though peers in the field use other names too.
    #[serde(default, deserialize_with = "or_default")]
    pub uri: String,
    /// Description of how the agent uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true` if a caller must support it.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "crate::event::is_false"
    )]
    pub required: bool,
    /// Settings of the extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Object>,
}

/// An ability of an agent. Specification 1.0 §4.4.5.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(rename_all = "camelCase", try_from = "crate::hybrid::Skill")]
pub struct AgentSkill {
    /// Identifier of the skill.
    pub id: String,
    /// Human-readable name.
    pub name: String,
    /// Description of the skill.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Example prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types it takes, if not the card's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types it produces, if not the card's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// Security requirements of this skill, if not the card's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
}

/// A signature over a card (RFC 7515). Specification 1.0 §4.4.7.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCardSignature {
    /// The protected header, base64url.
    pub protected: String,
    /// The signature, base64url.
    pub signature: String,
    /// The unprotected header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Object>,
}
