//! The interfaces that an endpoint offers: protocol versions by binding.

use a2a_types::{AgentCard, Error as A2aError, ErrorKind, ProtocolVersion};
use serde_json::json;

use crate::Binding;
use crate::error::clip;

/// The protocol versions that an endpoint offers, by binding; all by default.
///
/// Requests in another version are refused. Specification 1.0 §3.6.2.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SupportedVersions {
    /// One bit for each version, by binding.
    versions: [u8; 3],
}

impl Default for SupportedVersions {
    fn default() -> Self {
        Self {
            versions: [u8::MAX; 3],
        }
    }
}

impl SupportedVersions {
    /// Returns the supported interfaces that a card names, or all supported interfaces if it names none.
    pub fn of(card: &AgentCard) -> Self {
        if card.supported_interfaces.is_empty() {
            return Self::default();
        }
        let mut offer = Self { versions: [0; 3] };
        for interface in &card.supported_interfaces {
            if let (Some(binding), Some(protocol_version)) =
                (Binding::of(interface), interface.protocol_version())
            {
                offer.versions[binding as usize] |= bit(binding, protocol_version);
            }
        }
        offer
    }

    /// Returns the interfaces that both offer.
    pub fn and(self, other: Self) -> Self {
        let mut both = self;
        for (versions, others) in both.versions.iter_mut().zip(other.versions) {
            *versions &= others;
        }
        both
    }

    /// Returns whether a version is offered by a binding.
    pub fn has(self, binding: Binding, protocol_version: ProtocolVersion) -> bool {
        self.versions[binding as usize] & bit(binding, protocol_version) != 0
    }

    /// Returns whether any version is offered by a binding.
    pub fn has_any(self, binding: Binding) -> bool {
        ProtocolVersion::ALL
            .iter()
            .any(|protocol_version| self.has(binding, *protocol_version))
    }

    /// The version to answer in as long as the request has named none: 0.3 (specification 1.0
    /// §3.6.2) or, where that is not offered, the latest.
    pub(crate) fn unnamed(self, binding: Binding) -> ProtocolVersion {
        let offered = |protocol_version: &ProtocolVersion| self.has(binding, *protocol_version);
        let latest = ProtocolVersion::ALL.iter().rev().copied().find(offered);
        match self.has(binding, ProtocolVersion::V0_3) {
            true => ProtocolVersion::V0_3,
            false => latest.unwrap_or(ProtocolVersion::V0_3),
        }
    }

    /// Returns the version that a request names, in the `A2A-Version` header or parameter: `None` if it names
    /// none, an error if it names one that is unknown or not offered. Specification 1.0 §3.6.
    pub(crate) fn requested(
        self,
        binding: Binding,
        version: Option<&str>,
    ) -> Result<Option<ProtocolVersion>, A2aError> {
        let Some(version) = version.map(str::trim).filter(|version| !version.is_empty()) else {
            return Ok(None);
        };
        match ProtocolVersion::from_version(version) {
            Some(protocol_version) if self.has(binding, protocol_version) => {
                Ok(Some(protocol_version))
            }
            _ => Err(self.refusal(binding, version)),
        }
    }

    /// Returns the error for a version that is not offered, with a list of the versions that are.
    pub(crate) fn refusal(self, binding: Binding, version: &str) -> A2aError {
        let protocol_versions = ProtocolVersion::ALL.iter().copied();
        let offered =
            protocol_versions.filter(|protocol_version| self.has(binding, *protocol_version));
        let offered: Vec<_> = offered.map(ProtocolVersion::version).collect();
        let text = format!(
            "A2A version `{}` is not supported by {binding}; supported are {}",
            clip(version),
            offered.join(", ")
        );
        A2aError::new(ErrorKind::VersionNotSupported, text)
            .with_details(json!({"supportedVersions": offered}))
    }
}

/// Returns the bit of an interface. HTTP+JSON and gRPC came with 0.3; the drafts of HTTP+JSON in 0.2 are answered as 0.3.
fn bit(binding: Binding, protocol_version: ProtocolVersion) -> u8 {
    match (binding, protocol_version) {
        (Binding::Grpc, _) if !cfg!(feature = "grpc") => 0,
        (Binding::Grpc, ProtocolVersion::V0_1 | ProtocolVersion::V0_2) => 0,
        (Binding::HttpJson, ProtocolVersion::V0_1) => 0,
        (Binding::HttpJson, ProtocolVersion::V0_2) => 1 << ProtocolVersion::V0_3 as u8,
        _ => 1 << protocol_version as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_types::AgentInterface;

    #[test]
    fn an_offer_is_what_a_card_names() {
        use Binding::{HttpJson, JsonRpc};
        let mut card = AgentCard::new("n", "d");
        assert_eq!(SupportedVersions::of(&card), SupportedVersions::default());
        assert!(!SupportedVersions::default().has(HttpJson, ProtocolVersion::V0_1));
        card.supported_interfaces = vec![
            AgentInterface::json_rpc("http://h/", ProtocolVersion::V1_0),
            AgentInterface::http_json("http://h/rest", ProtocolVersion::V0_2),
            AgentInterface {
                protocol_binding: "GRPC".to_owned(),
                ..AgentInterface::json_rpc("http://h/", ProtocolVersion::V0_1)
            },
        ];
        let offer = SupportedVersions::of(&card);
        let offered = |binding| {
            let all = ProtocolVersion::ALL.iter().copied();
            all.filter(|protocol_version| offer.has(binding, *protocol_version))
                .collect()
        };
        let json_rpc: Vec<_> = offered(JsonRpc);
        assert_eq!(json_rpc, [ProtocolVersion::V1_0]);
        let http_json: Vec<_> = offered(HttpJson);
        assert_eq!(http_json, [ProtocolVersion::V0_2, ProtocolVersion::V0_3]);
        assert_eq!(offer.unnamed(JsonRpc), ProtocolVersion::V1_0);
        assert_eq!(offer.unnamed(HttpJson), ProtocolVersion::V0_3);
        card.supported_interfaces.truncate(1);
        assert!(!offer.and(SupportedVersions::of(&card)).has_any(HttpJson));
    }

    #[test]
    fn unsupported_version_is_refused_with_supported_versions() {
        let card = AgentCard {
            supported_interfaces: vec![AgentInterface::json_rpc(
                "http://h/",
                ProtocolVersion::V1_0,
            )],
            ..AgentCard::new("n", "d")
        };
        let requested = |version| SupportedVersions::of(&card).requested(Binding::JsonRpc, version);
        assert_eq!(requested(None), Ok(None));
        assert_eq!(requested(Some(" ")), Ok(None));
        assert_eq!(requested(Some("1.0.1")), Ok(Some(ProtocolVersion::V1_0)));
        for version in ["0.3", "2.0"] {
            let refused = requested(Some(version)).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::VersionNotSupported);
            assert_eq!(
                refused.message,
                format!("A2A version `{version}` is not supported by JSONRPC; supported are 1.0")
            );
        }
    }
}
