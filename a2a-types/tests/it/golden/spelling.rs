//! The five ways to spell a document.

use std::fmt;

use a2a_types::ProtocolVersion;
use serde::Deserialize;

/// A version, and of 0.3 which of its two kinds of JSON.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Spelling {
    #[serde(rename = "0.1")]
    V0_1,
    #[serde(rename = "0.2")]
    V0_2,
    #[serde(rename = "0.3")]
    V0_3,
    /// The ProtoJSON of 0.3's HTTP+JSON.
    #[serde(rename = "0.3P")]
    V0_3P,
    #[serde(rename = "1.0")]
    V1_0,
}

impl Spelling {
    pub(crate) const ALL: &[Self] = &[Self::V0_1, Self::V0_2, Self::V0_3, Self::V0_3P, Self::V1_0];

    pub(crate) fn protocol_version(self) -> ProtocolVersion {
        match self {
            Self::V0_1 => ProtocolVersion::V0_1,
            Self::V0_2 => ProtocolVersion::V0_2,
            Self::V0_3 | Self::V0_3P => ProtocolVersion::V0_3,
            Self::V1_0 => ProtocolVersion::V1_0,
        }
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0_3P => "0.3P",
            other => other.protocol_version().version(),
        })
    }
}
