//! The agent card.

use std::collections::BTreeMap;

use crate::wire_types::wire_types;
use crate::{Object, ProtocolVersion, SecurityRequirement, SecurityScheme};

wire_types! {
    /// Self-description of an agent: identity, skills and interfaces. Specification 1.0 §4.4.1.
    #[cfg_attr(feature = "schema", schemars(!try_from))]
    #[serde(try_from = "crate::hybrid::Card")]
    pub struct AgentCard: Debug, Default {
        /// Human-readable name.
        pub name: String,
        /// Purpose of the agent.
        pub description: String,
        /// Interfaces of the agent, the preferred one first.
        pub supported_interfaces: Vec<AgentInterface>,
        /// Organization that runs the agent.
        pub provider: Option<AgentProvider> = optional,
        /// The agent's own version.
        pub version: String,
        /// URL of the documentation.
        pub documentation_url: Option<String> = optional,
        /// The optional parts of the protocol that it offers.
        pub capabilities: AgentCapabilities,
        /// The ways to authenticate, by name.
        pub security_schemes: BTreeMap<String, SecurityScheme> = unless_default,
        /// Required schemes: satisfying any one entry suffices.
        pub security_requirements: Vec<SecurityRequirement> = unless_default,
        /// Media types that every skill accepts, unless it lists its own.
        pub default_input_modes: Vec<String>,
        /// Media types that every skill produces, unless it lists its own.
        pub default_output_modes: Vec<String>,
        /// Skills of the agent.
        pub skills: Vec<AgentSkill>,
        /// Signatures over this card.
        pub signatures: Vec<AgentCardSignature> = unless_default,
        /// A picture.
        pub icon_url: Option<String> = optional,
    }
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
            AgentInterface::json_rpc(&url, ProtocolVersion::V1_0),
            AgentInterface::http_json(&rest, ProtocolVersion::V1_0),
            AgentInterface::json_rpc(&url, ProtocolVersion::V0_3),
            AgentInterface::http_json(&rest, ProtocolVersion::V0_3),
            AgentInterface::json_rpc(&url, ProtocolVersion::V0_2),
            AgentInterface::json_rpc(&url, ProtocolVersion::V0_1),
        ];
        self
    }

    /// Path segment that [`AgentCard::at`] appends to the URL of JSON-RPC for that of HTTP+JSON.
    pub const HTTP_JSON_SEGMENT: &str = "rest";
}

wire_types! {
    /// One place where an agent is reached. Specification 1.0 §4.4.6.
    pub struct AgentInterface: Debug, Default {
        /// The absolute URL.
        pub url: String,
        /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or the URI of a custom binding.
        pub protocol_binding: String | "protocol_binding",
        /// Tenant to be repeated in every request to this interface.
        pub tenant: Option<String> = optional,
        /// Protocol version spoken there, like `1.0`.
        pub protocol_version: String | "protocol_version",
    }
}

impl AgentInterface {
    /// The `protocol_binding` of JSON-RPC.
    pub const JSON_RPC: &str = "JSONRPC";
    /// The `protocol_binding` of HTTP+JSON.
    pub const HTTP_JSON: &str = "HTTP+JSON";

    /// Returns an interface that speaks `protocol_version` by JSON-RPC.
    pub fn json_rpc(url: impl Into<String>, protocol_version: ProtocolVersion) -> Self {
        Self {
            url: url.into(),
            protocol_binding: Self::JSON_RPC.to_owned(),
            tenant: None,
            protocol_version: protocol_version.version().to_owned(),
        }
    }

    /// Returns an interface that speaks `protocol_version` by HTTP+JSON.
    pub fn http_json(url: impl Into<String>, protocol_version: ProtocolVersion) -> Self {
        Self {
            protocol_binding: Self::HTTP_JSON.to_owned(),
            ..Self::json_rpc(url, protocol_version)
        }
    }

    /// Returns the protocol version spoken there, if it is a known one.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        ProtocolVersion::from_version(&self.protocol_version)
    }
}

wire_types! {
    /// Provider of an agent. Specification 1.0 §4.4.2.
    pub struct AgentProvider: Debug, Default {
        /// Home page of the provider; empty if not given (0.1).
        pub url: String = or_default,
        /// Name of the provider.
        pub organization: String,
    }

    /// The optional parts of the protocol that an agent offers. Specification 1.0 §4.4.3.
    pub struct AgentCapabilities: Debug, Default {
        /// Server-Sent Events.
        pub streaming: Option<bool> = optional,
        /// Webhooks.
        pub push_notifications: Option<bool> = optional | "push_notifications",
        /// Protocol extensions.
        pub extensions: Vec<AgentExtension> = unless_default,
        /// `true` if there is a longer card for authenticated callers.
        pub extended_agent_card: Option<bool> = optional | "extended_agent_card",
    }

    /// A protocol extension that an agent offers. Specification 1.0 §4.4.4.
    pub struct AgentExtension: Debug, Default {
        /// Identifier of the extension: a URI, though peers in the field use other names too.
        pub uri: String = or_default,
        /// Description of how the agent uses it.
        pub description: Option<String> = optional,
        /// `true` if a caller must support it.
        pub required: bool = unless_default,
        /// Settings of the extension.
        pub params: Option<Object> = optional,
    }

    /// An ability of an agent. Specification 1.0 §4.4.5.
    #[cfg_attr(feature = "schema", schemars(!try_from))]
    #[serde(try_from = "crate::hybrid::Skill")]
    pub struct AgentSkill: Debug, Default {
        /// Identifier of the skill.
        pub id: String,
        /// Human-readable name.
        pub name: String,
        /// Description of the skill.
        pub description: String,
        /// Keywords.
        pub tags: Vec<String>,
        /// Example prompts.
        pub examples: Vec<String> = unless_default,
        /// Media types it takes, if not the card's.
        pub input_modes: Vec<String> = unless_default,
        /// Media types it produces, if not the card's.
        pub output_modes: Vec<String> = unless_default,
        /// Security requirements of this skill, if not the card's.
        pub security_requirements: Vec<SecurityRequirement> = unless_default,
    }

    /// A signature over a card (RFC 7515). Specification 1.0 §4.4.7.
    pub struct AgentCardSignature: Debug, Default {
        /// The protected header, base64url.
        pub protected: String,
        /// The signature, base64url.
        pub signature: String,
        /// The unprotected header.
        pub header: Option<Object> = optional,
    }
}
