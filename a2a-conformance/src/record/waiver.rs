//! Known failures, and what became of them in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A check that need not be met for a while.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Waiver {
    /// The id of the check, or a pattern of ids, like `push.*`.
    pub check: String,
    /// The protocol version; all if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// The binding; all if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Reason why it is not met.
    pub reason: String,
    /// The last day on which that is accepted, like `2026-12-31`.
    pub expires: String,
}

/// A waiver and its state after the run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaiverUse {
    /// The waiver as given.
    #[serde(flatten)]
    pub waiver: Waiver,
    /// Its state after the run.
    pub state: WaiverState,
    /// Number of checks that it waived.
    pub waived: usize,
}

/// State of a waiver after the run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaiverState {
    /// There are checks that it waived.
    Used,
    /// Its last day is over: it no longer counts.
    Expired,
    /// Everything that it waives is met, or there is no such check: it should be removed.
    Stale,
    /// The checks that it is about were not made in this run.
    NotMade,
}

impl WaiverState {
    /// Returns whether the waiver has to be changed or removed.
    pub fn is_error(self) -> bool {
        !matches!(self, Self::Used | Self::NotMade)
    }
}

impl WaiverUse {
    /// Returns the error about a waiver that has expired or waives nothing.
    pub fn problem(&self) -> Option<String> {
        let Waiver { check, expires, .. } = &self.waiver;
        match self.state {
            WaiverState::Used | WaiverState::NotMade => None,
            WaiverState::Expired => Some(format!("the waiver of {check} has expired on {expires}")),
            WaiverState::Stale => Some(format!(
                "the waiver of {check} waives nothing: correct it, or take it out"
            )),
        }
    }
}
