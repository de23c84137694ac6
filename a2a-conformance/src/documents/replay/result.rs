//! Result of a replay.

use serde::Serialize;

/// Direction in which an example was replayed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The printed text was read, strictly and leniently.
    Read,
    /// The corrected request went to a strict server.
    AgentCorrected,
    /// The printed request went to a lenient server.
    AgentPrinted,
    /// The printed request went to a strict server.
    AgentStrict,
    /// The corrected answers went to a strict client.
    ClientCorrected,
    /// The printed answers went to a lenient client.
    ClientPrinted,
}

impl Direction {
    /// Every direction, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::AgentCorrected,
        Self::AgentPrinted,
        Self::AgentStrict,
        Self::ClientCorrected,
        Self::ClientPrinted,
    ];

    /// Returns the title of its column.
    pub fn title(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::AgentCorrected => "agent, corrected",
            Self::AgentPrinted => "agent, printed",
            Self::AgentStrict => "agent, strict",
            Self::ClientCorrected => "client, corrected",
            Self::ClientPrinted => "client, printed",
        }
    }
}

/// Result of one example or exchange in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayResult {
    /// The document.
    pub document: String,
    /// The example or the exchange.
    pub id: String,
    /// Direction.
    pub direction: Direction,
    /// Problems, each with the example and the path; empty if all is well.
    pub problems: Vec<String>,
}

impl ReplayResult {
    /// Returns whether all is well.
    pub(crate) fn passes(&self) -> bool {
        self.problems.is_empty()
    }
}
