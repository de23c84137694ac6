//! The agent card.

use std::collections::BTreeMap;

use crate::reading::{Hints, Violation, read_canonical};
use crate::wire_types::wire_types;
use crate::{Object, ProtocolVersion, SecurityRequirement, SecurityScheme, StringList};

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
    /// Returns the card of an agent that takes and produces plain text, streams, and has one skill with the agent's own
    /// name and description. Without interfaces, it is reached where it is served. All fields are public, too.
    ///
    /// ```
    /// use a2a_types::{AgentCard, AgentSkill};
    ///
    /// let card = AgentCard::new("Travel agent", "Books journeys")
    ///     .version("2.1.0")
    ///     .provider("Example Ltd", "https://example.com")
    ///     .skills([
    ///         AgentSkill::new("flights", "Flights", "Finds and books flights").tags(["travel"]),
    ///         AgentSkill::new("hotels", "Hotels", "Finds and books rooms").tags(["travel"]),
    ///     ])
    ///     .output_modes(["text/plain", "application/json"]);
    /// assert_eq!(AgentCard::from_json(&card.to_json())?, card);
    /// # Ok::<_, a2a_types::reading::Violation>(())
    /// ```
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let (name, description) = (name.into(), description.into());
        Self {
            skills: vec![AgentSkill::new("main", &name, &description)],
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

    /// Sets the agent's own version; `0.1.0` by default.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the skills, in place of the one that [`new`](Self::new) has given.
    pub fn skills(mut self, skills: impl IntoIterator<Item = AgentSkill>) -> Self {
        self.skills = skills.into_iter().collect();
        self
    }

    /// Sets the organization that runs the agent, and its home page.
    pub fn provider(mut self, organization: impl Into<String>, url: impl Into<String>) -> Self {
        self.provider = Some(AgentProvider {
            url: url.into(),
            organization: organization.into(),
        });
        self
    }

    /// Sets the URL of the documentation.
    pub fn documentation_url(mut self, url: impl Into<String>) -> Self {
        self.documentation_url = Some(url.into());
        self
    }

    /// Sets the URL of a picture.
    pub fn icon_url(mut self, url: impl Into<String>) -> Self {
        self.icon_url = Some(url.into());
        self
    }

    /// Sets the media types that every skill accepts, unless it lists its own; `text/plain` by default.
    pub fn input_modes(mut self, modes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.default_input_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the media types that every skill produces, unless it lists its own; `text/plain` by default.
    pub fn output_modes(mut self, modes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.default_output_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether the agent streams; it does by default.
    pub fn streaming(mut self, streams: bool) -> Self {
        self.capabilities.streaming = Some(streams);
        self
    }

    /// Adds a protocol extension that the agent offers.
    pub fn extension(mut self, extension: AgentExtension) -> Self {
        self.capabilities.extensions.push(extension);
        self
    }

    /// Adds a way to authenticate, which suffices alone, with the scopes that it needs. A server whose authenticator
    /// knows its schemes writes them into the card itself.
    pub fn security(
        mut self,
        name: impl Into<String>,
        scheme: SecurityScheme,
        scopes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let name = name.into();
        let list = scopes.into_iter().map(Into::into).collect();
        self.security_requirements.push(SecurityRequirement {
            schemes: BTreeMap::from([(name.clone(), StringList { list })]),
        });
        self.security_schemes.insert(name, scheme);
        self
    }

    /// Reads a card of 1.0, as from a file.
    ///
    /// Errors: the path of the first member that does not fit, and the problem.
    pub fn from_json(json: &str) -> Result<Self, Violation> {
        read_canonical(json, &Hints::at("$"))
    }

    /// Returns the card as JSON text of 1.0 in several lines, as for a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the keys of its maps are strings")
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

    /// Returns the same card, reached by gRPC, too, at the host and port of its first interface. A card whose first
    /// interface is below a path stays as it is: gRPC has no paths, and another agent may be at the root.
    pub fn with_grpc(mut self) -> Self {
        let first = self.supported_interfaces.first();
        let Some(address) = first.and_then(|it| AgentInterface::grpc_address(&it.url)) else {
            return self;
        };
        let interfaces = [ProtocolVersion::V1_0, ProtocolVersion::V0_3]
            .map(|protocol_version| AgentInterface::grpc(&address, protocol_version));
        self.supported_interfaces.extend(interfaces);
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

    /// The `protocol_binding` of gRPC.
    pub const GRPC: &str = "GRPC";

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

    /// Returns an interface that speaks `protocol_version` by gRPC at `host:port`.
    pub fn grpc(address: impl Into<String>, protocol_version: ProtocolVersion) -> Self {
        Self {
            protocol_binding: Self::GRPC.to_owned(),
            ..Self::json_rpc(address, protocol_version)
        }
    }

    /// Returns the URL as one of HTTP. Cards name the place of gRPC by `host:port`, `dns:///host:port`, `grpc://host:port`
    /// or `grpcs://host:port`, too; where that does not tell whether TLS is spoken, the URL of the card does, and without
    /// it TLS is spoken with all hosts but this machine.
    pub fn http_url(&self, card_url: Option<&str>) -> String {
        if self.protocol_binding != Self::GRPC {
            return self.url.clone();
        }
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        match scheme {
            "grpc" => return format!("http://{rest}"),
            "grpcs" => return format!("https://{rest}"),
            "" | "dns" => {}
            _ => return self.url.clone(),
        }
        let address = rest
            .strip_prefix("dns:")
            .unwrap_or(rest)
            .trim_start_matches('/');
        let is_local = ["localhost", "127.", "[::1]"]
            .iter()
            .any(|it| address.starts_with(it));
        let is_secure = card_url.map_or(!is_local, |url| url.starts_with("https:"));
        match is_secure {
            true => format!("https://{address}"),
            false => format!("http://{address}"),
        }
    }

    /// Returns the `host:port` of a URL without a path, as cards name the place of gRPC.
    fn grpc_address(url: &str) -> Option<String> {
        let (scheme, rest) = url.split_once("://")?;
        let host_and_port = rest.strip_suffix('/').unwrap_or(rest);
        if host_and_port.is_empty() || host_and_port.contains(['/', '?', '#', '@']) {
            return None;
        }
        let has_port = host_and_port
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        Some(match (has_port, scheme) {
            (true, _) => host_and_port.to_owned(),
            (false, "http") => format!("{host_and_port}:80"),
            (false, _) => format!("{host_and_port}:443"),
        })
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

impl AgentExtension {
    /// Returns an extension that callers may use, without settings.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }
}

impl AgentSkill {
    /// Returns a skill without keywords, with the card's media types.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            ..Self::default()
        }
    }

    /// Sets the keywords.
    pub fn tags(mut self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the example prompts.
    pub fn examples(mut self, examples: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.examples = examples.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the media types that it takes, in place of the card's.
    pub fn input_modes(mut self, modes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.input_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the media types that it produces, in place of the card's.
    pub fn output_modes(mut self, modes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.output_modes = modes.into_iter().map(Into::into).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_place(url: &str, expected: Option<&str>) {
        let card = AgentCard::new("n", "d").at(url).with_grpc();
        let is_grpc = |it: &&AgentInterface| it.protocol_binding == AgentInterface::GRPC;
        let places: Vec<_> = card.supported_interfaces.iter().filter(is_grpc).collect();
        assert_eq!(
            places.len(),
            if expected.is_some() { 2 } else { 0 },
            "{url}"
        );
        assert_eq!(places.first().map(|it| &*it.url), expected, "{url}");
    }

    #[test]
    fn the_place_of_grpc_is_a_host_and_a_port() {
        check_place("http://localhost:8080/", Some("localhost:8080"));
        check_place("https://agent.example", Some("agent.example:443"));
        check_place("http://[::1]", Some("[::1]:80"));
        check_place("https://agent.example/joke", None);
        check_place("agent.example", None);
    }

    #[track_caller]
    fn check_url(url: &str, card_url: Option<&str>, expected: &str) {
        let interface = AgentInterface::grpc(url, ProtocolVersion::V1_0);
        assert_eq!(interface.http_url(card_url), expected, "{url}");
    }

    #[test]
    fn the_place_of_grpc_becomes_a_url() {
        let (open, secure) = (Some("http://h/card"), Some("https://h/card"));
        check_url("h:1", open, "http://h:1");
        check_url("h:1", secure, "https://h:1");
        check_url("h:1", None, "https://h:1");
        check_url("localhost:1", None, "http://localhost:1");
        check_url("localhost:1", secure, "https://localhost:1");
        check_url("dns:///h:1", open, "http://h:1");
        check_url("dns:h:1", secure, "https://h:1");
        check_url("grpc://h:1", secure, "http://h:1");
        check_url("grpcs://h:1", open, "https://h:1");
        check_url("http://h:1/x", secure, "http://h:1/x");
    }
}
