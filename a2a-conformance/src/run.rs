//! What came of a run: every check with its verdict, and what was seen.

use std::collections::BTreeMap;

use a2a_types::Dialect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::requirement::{Level, Role};

/// What came of a run: `report.json`, of which every other report is made.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The version of this form: [`FORMAT`].
    pub format: String,
    /// The version of the suite.
    pub suite: String,
    /// Who was tested.
    pub target: Target,
    /// How.
    pub settings: Settings,
    /// When it began, RFC 3339.
    pub began: String,
    /// How long it took.
    pub seconds: f64,
    /// Every check, in every generation and binding in which it applies.
    pub checks: Vec<CheckResult>,
}

/// The version of the form of a [`Run`].
pub const FORMAT: &str = "a2a-conformance/1";

/// Who was tested.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// As which party.
    pub role: Option<Role>,
    /// The URL, or the command.
    pub place: String,
    /// What its card calls it.
    #[serde(default)]
    pub name: String,
    /// The version on its card.
    #[serde(default)]
    pub version: String,
    /// The `Server` header, if it sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What its card offers: each interface as `binding generation`.
    #[serde(default)]
    pub interfaces: Vec<String>,
}

/// How a run was made.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// `black-box` or `instrumented`.
    pub profile: String,
    /// Where randomness began.
    pub seed: u64,
    /// How often each check was made.
    pub repeat: u32,
    /// What was chosen by `--run`, `--skip`, `--level`, `--dialect`, `--binding`.
    #[serde(default)]
    pub filters: BTreeMap<String, Vec<String>>,
}

/// A check in one generation and binding.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// Names the check for ever, like `send.ended-task-refused`.
    pub id: String,
    /// What it checks, in a line.
    pub title: String,
    /// What it counts as.
    pub level: Level,
    /// The generation, like `1.0`; none if that makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The binding, `JSONRPC` or `HTTP+JSON`; none if that makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The requirements that it covers.
    pub requirements: Vec<String>,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, where that is not told by the mismatches: what is missing on the card, the waiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was not as required.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// What was said, both ways; kept for checks that are not met, and on demand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// How long it took.
    pub seconds: f64,
    /// How often it was not met, of how many times, if it was made more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmet: Option<(u32, u32)>,
}

impl CheckResult {
    /// The generation.
    pub fn dialect(&self) -> Option<Dialect> {
        Dialect::from_version(self.dialect.as_deref()?)
    }
}

/// What came of a check.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As required.
    Pass,
    /// Not as preferred, but in a way that the specification allows.
    PassLenient,
    /// Not as a MUST requires.
    Fail,
    /// Not as a SHOULD requires.
    Warn,
    /// An observation about what is left to the peer.
    Note,
    /// The card does not offer what this is about: not scored.
    NotApplicable,
    /// The card offers it, but it could not be exercised: scored as unmet.
    Untestable,
    /// What had to come before it failed.
    SetupFailed,
    /// Met at some times and not at others.
    Flaky,
    /// Not met, and that is known: there is a waiver.
    Waived,
    /// The suite itself did not work.
    HarnessError,
}

impl Verdict {
    /// Whether the target has what was required.
    pub fn is_met(self) -> bool {
        matches!(self, Self::Pass | Self::PassLenient | Self::Note)
    }

    /// Whether it counts, for or against the target.
    pub fn is_scored(self) -> bool {
        !matches!(self, Self::NotApplicable | Self::Note | Self::HarnessError)
    }
}

/// A place where what came is not what is required.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// Where: the step and the JSON path, like `step 2, event 3: $.status.state`.
    pub place: String,
    /// What was required there.
    pub expected: String,
    /// What came.
    pub found: String,
    /// Which of the [evidence](CheckResult::evidence) shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<usize>,
}

/// One exchange, as it went over the wire, without secrets.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The step of the case, from 1.
    pub step: usize,
    /// What was sent.
    pub request: Half,
    /// What came back; none if nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Half>,
    /// Why no more came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// One half of an exchange.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Half {
    /// `POST http://…` or `200 OK`.
    pub start: String,
    /// The headers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body as text, if it is no stream; at most 64 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The events of a stream, each with the milliseconds since the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<(u64, String)>,
}

/// What a program may want to know at a glance.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// Met, of those that are scored.
    pub met: usize,
    /// Scored: everything that applies.
    pub scored: usize,
    /// Not offered by the card.
    pub not_applicable: usize,
    /// Offered, but could not be exercised.
    pub untestable: usize,
}

impl Run {
    /// The score of the checks of a level, in one generation and binding or in all.
    pub fn score(&self, level: Level, dialect: Option<&str>, binding: Option<&str>) -> Score {
        let among = |result: &&CheckResult| {
            let same = |wanted: Option<&str>, found: &Option<String>| {
                wanted.is_none() || found.as_deref() == wanted
            };
            result.level == level
                && same(dialect, &result.dialect)
                && same(binding, &result.binding)
        };
        let mut score = Score::default();
        for result in self.checks.iter().filter(among) {
            score.met += usize::from(result.verdict.is_scored() && result.verdict.is_met());
            score.scored += usize::from(result.verdict.is_scored());
            score.not_applicable += usize::from(result.verdict == Verdict::NotApplicable);
            score.untestable += usize::from(result.verdict == Verdict::Untestable);
        }
        score
    }

    /// The checks that are neither met nor waived, those of a SHOULD excepted.
    pub fn unmet(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|result| {
            !result.verdict.is_met()
                && !matches!(
                    result.verdict,
                    Verdict::Warn | Verdict::Waived | Verdict::NotApplicable
                )
        })
    }

    /// The run as JSON, for people to read, too.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
