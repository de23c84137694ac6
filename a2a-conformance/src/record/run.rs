//! Result of a run: every check with its verdict and evidence.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use a2a_types::ProtocolVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::waiver::WaiverUse;
use crate::requirement::{Level, Requirement, Role, requirement};

/// Result of a run: `report.json`, from which every other report is made.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The version of this form: [`FORMAT`].
    pub format: String,
    /// The version of the suite.
    pub suite: String,
    /// The agent or client under test.
    pub target: Target,
    /// Settings of the run.
    pub settings: Settings,
    /// Time of the beginning, RFC 3339.
    pub began: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Every check, in every version and binding in which it applies.
    pub checks: Vec<CheckResult>,
    /// Number of checks that were not made because the run was interrupted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_made: usize,
    /// The requirements that the checks cover, so that the run can be read without the suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// The waivers of the run, with their states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<WaiverUse>,
}

/// The version of the form of a [`Run`].
pub const FORMAT: &str = "a2a-conformance/1";

/// The agent or client under test.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Role in which it was tested.
    pub role: Option<Role>,
    /// The URL, or the command.
    pub place: String,
    /// The name on its card.
    #[serde(default)]
    pub name: String,
    /// The version on its card.
    #[serde(default)]
    pub version: String,
    /// The `Server` header, if it sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The interfaces on its card, each as ``binding version at `url` ``.
    #[serde(default)]
    pub interfaces: Vec<String>,
}

impl Target {
    /// Returns its name in a line: the name and version of its card, else its place.
    pub fn title(&self) -> String {
        match (&*self.name, &*self.version) {
            ("", _) => self.place.clone(),
            (name, "") => name.to_owned(),
            (name, version) => format!("{name} {version}"),
        }
    }
}

/// Settings of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// `black-box` or `instrumented`.
    pub profile: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of times each check was made.
    pub repeat: u32,
    /// `true` if the run fails for a SHOULD that is not met, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Values of `--run`, `--skip`, `--level`, `--protocol-version`, `--binding`.
    #[serde(default)]
    pub filters: BTreeMap<String, Vec<String>>,
}

/// A check in one version and binding.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// Permanent name of the check, like `send.ended-task-refused`.
    pub id: String,
    /// Title of one line.
    pub title: String,
    /// The level that it counts as.
    pub level: Level,
    /// The version, like `1.0`; none if that makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// The binding, `JSONRPC`, `HTTP+JSON` or `GRPC`; none if that makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The requirements that it covers.
    pub requirements: Vec<String>,
    /// Purpose of the check and its steps, for the developers of the target; kept for checks that are not met.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explanation: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, where the mismatches do not give it: what is missing on the card, the waiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its verdict and reason without the waiver; given if it is waived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_waiver: Option<VerdictReason>,
    /// The check by whose cause it is not met, too: it is counted there, and listed under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_cause_as: Option<String>,
    /// Places where the target was not as required.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// The exchanges; kept for checks that are not met, and on demand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Times it was not met, and times it was made; given if it was made more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmet: Option<(u32, u32)>,
}

/// A verdict and its reason.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictReason {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, where the mismatches do not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CheckResult {
    /// Returns where it was made, like `1.0 JSONRPC`; `every version` if that makes no difference.
    pub fn column(&self) -> Column {
        Column {
            protocol_version: self.protocol_version.clone(),
            binding: self.binding.clone(),
        }
    }

    /// Returns the area that it belongs to: its id up to the first dot.
    pub fn area(&self) -> &str {
        self.id.split_once('.').map_or(&*self.id, |(area, _)| area)
    }

    /// The version.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        ProtocolVersion::from_version(self.protocol_version.as_deref()?)
    }

    /// Returns the distinct mismatches, each with its number of occurrences.
    pub fn distinct_mismatches(&self) -> Vec<(&Mismatch, usize)> {
        let mut distinct: Vec<(&Mismatch, usize)> = Vec::new();
        for mismatch in &self.mismatches {
            let same = |(known, _): &&mut (&Mismatch, usize)| {
                known.place == mismatch.place
                    && known.expected == mismatch.expected
                    && known.found == mismatch.found
            };
            match distinct.iter_mut().find(same) {
                Some((_, times)) => *times += 1,
                None => distinct.push((mismatch, 1)),
            }
        }
        distinct
    }

    /// Returns whether it counts as missing: [`Run::group_causes`].
    fn is_counted(&self) -> bool {
        self.is_missing() && self.same_cause_as.is_none()
    }

    /// Returns whether the target does not meet the check, as far as the suite could find, and no waiver
    /// covers it.
    pub fn is_missing(&self) -> bool {
        use Verdict::{Fail, Flaky, SetupFailed, Untestable, Warn};
        matches!(self.verdict, Fail | Warn | Untestable | SetupFailed | Flaky)
    }
}

/// Verdict of a check.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Behaves as required.
    Pass,
    /// Behaves in a way that the specification allows, but not in the preferred one.
    PassLenient,
    /// Violates a MUST.
    Fail,
    /// Violates a SHOULD.
    Warn,
    /// An observation about behaviour that the specification leaves open.
    Note,
    /// The card does not offer the feature: not scored.
    NotApplicable,
    /// The card offers it, but it could not be exercised: scored as unmet.
    Untestable,
    /// An earlier step that it depends on failed.
    SetupFailed,
    /// Met at some times and not at others.
    Flaky,
    /// Not met, and waived.
    Waived,
    /// The suite itself did not work.
    HarnessError,
}

impl Verdict {
    /// Returns whether the target has what was required.
    pub fn is_met(self) -> bool {
        matches!(self, Self::Pass | Self::PassLenient | Self::Note)
    }

    /// Returns whether it counts, for or against the target.
    pub fn is_scored(self) -> bool {
        !matches!(self, Self::NotApplicable | Self::Note | Self::HarnessError)
    }
}

/// A difference between the required value and the value found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// The step and the JSON path, like `step 2, event 3: $.status.state`.
    pub place: String,
    /// The value required there.
    pub expected: String,
    /// The value found.
    pub found: String,
    /// Index of the [evidence](CheckResult::evidence) that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<usize>,
    /// Basis for grouping findings of one cause; reports have only the groups.
    #[serde(skip)]
    pub kind: MismatchKind,
}

impl Mismatch {
    /// A value other than expected.
    pub fn new(
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
            evidence: None,
            kind: MismatchKind::Value,
        }
    }

    /// Returns it as one of this kind.
    pub fn of_kind(self, kind: MismatchKind) -> Self {
        Self { kind, ..self }
    }
}

/// Kind of a mismatch.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum MismatchKind {
    /// A value or an error other than expected.
    #[default]
    Value,
    /// A wrong number of items, which does not show what is wrong with the items.
    Count,
    /// No connection to the agent.
    NoConnection,
    /// An answer that cannot be read as a whole.
    Unreadable,
    /// A result where an error was expected.
    Result,
    /// A stream that broke off.
    BrokenStream,
}

/// One exchange, as it went over the wire, without secrets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The step of the case, from 1.
    pub step: usize,
    /// The request.
    pub request: HttpMessage,
    /// The response; none if nothing came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<HttpMessage>,
    /// The reason why no more came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// A command of curl or grpcurl that sends the request again; none if the request is long, or is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// An HTTP message: one half of an exchange.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpMessage {
    /// `POST http://…` or `200 OK`.
    pub start: String,
    /// The headers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body as text, unless it is a stream; at most 64 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Number of bytes of the body, or of the events, that are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// The events of a stream, each with the milliseconds since the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<(u64, String)>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A version in a binding, which has its own score.
#[derive(
    Clone, Debug, Default, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "camelCase")]
pub struct Column {
    /// The version, like `1.0`; none for the checks for which it makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// The binding; none for the checks for which it makes no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
}

impl Column {
    /// Returns its place among others, as a key to sort by: the newest version first, no version last.
    pub(crate) fn rank(&self) -> impl Ord + use<> {
        let version = self.protocol_version.as_deref();
        let known = version.and_then(ProtocolVersion::from_version);
        let age = ProtocolVersion::ALL
            .iter()
            .position(|version| Some(*version) == known);
        let bindings = ["JSONRPC", "HTTP+JSON", "GRPC"];
        let place = |name: &String| bindings.iter().position(|known| known == name);
        let binding = self
            .binding
            .as_ref()
            .map(|name| place(name).unwrap_or(bindings.len()));
        (
            version.is_none(),
            Reverse(age),
            binding.unwrap_or(usize::MAX),
        )
    }
}

impl fmt::Display for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.protocol_version, &self.binding) {
            (Some(protocol_version), Some(binding)) => write!(out, "{protocol_version} {binding}"),
            (Some(only), None) | (None, Some(only)) => out.write_str(only),
            (None, None) => out.write_str("every version"),
        }
    }
}

/// Counts of checks by outcome.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// Scored and met.
    pub met: usize,
    /// Scored: everything that applies.
    pub scored: usize,
    /// Not offered by the card.
    pub not_applicable: usize,
    /// Offered, but could not be exercised.
    pub untestable: usize,
}

impl<'a> FromIterator<&'a CheckResult> for Score {
    fn from_iter<T: IntoIterator<Item = &'a CheckResult>>(results: T) -> Self {
        let mut score = Self::default();
        let counted = |result: &&CheckResult| result.same_cause_as.is_none();
        for CheckResult { verdict, .. } in results.into_iter().filter(counted) {
            score.met += usize::from(verdict.is_scored() && verdict.is_met());
            score.scored += usize::from(verdict.is_scored());
            score.not_applicable += usize::from(*verdict == Verdict::NotApplicable);
            score.untestable += usize::from(*verdict == Verdict::Untestable);
        }
        score
    }
}

impl Run {
    /// Returns the requirement of that id: as cited, else as the suite has it now.
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        let cited = self.requirements.iter().find(|cited| cited.id == id);
        cited.or_else(|| requirement(id))
    }

    /// Returns the versions and bindings in which there are checks: the newest first, checks without a version
    /// last.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        for column in self.checks.iter().map(CheckResult::column) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.sort_by_key(Column::rank);
        columns
    }

    /// Returns the [columns](Self::columns) in which a check counts.
    pub fn scored_columns(&self) -> Vec<Column> {
        let is_scored = |column: &Column| {
            let mut checks = self.within(column);
            checks.any(|result| result.verdict.is_scored())
        };
        self.columns().into_iter().filter(is_scored).collect()
    }

    /// Returns the checks of a column.
    pub fn within(&self, column: &Column) -> impl Iterator<Item = &CheckResult> {
        let column = column.clone();
        self.checks
            .iter()
            .filter(move |result| result.column() == column)
    }

    /// Returns the score of the checks of a level in a column.
    pub fn column_score(&self, column: &Column, level: Level) -> Score {
        let results = self.within(column);
        results.filter(|result| result.level == level).collect()
    }

    /// Returns the score of the checks of a level, in one version and binding or in all.
    pub fn score(
        &self,
        level: Level,
        protocol_version: Option<&str>,
        binding: Option<&str>,
    ) -> Score {
        let same = |wanted: Option<&str>, found: &Option<String>| {
            wanted.is_none() || found.as_deref() == wanted
        };
        let results = self.checks.iter().filter(|result| {
            result.level == level
                && same(protocol_version, &result.protocol_version)
                && same(binding, &result.binding)
        });
        results.collect()
    }

    /// Returns the checks for which the run fails: checks of a MUST that are neither met nor waived, in a
    /// [strict](Settings::strict) run also checks of a SHOULD, and checks that the suite could not make.
    pub fn unmet(&self) -> impl Iterator<Item = &CheckResult> {
        let checks = self.checks.iter();
        checks.filter(|result| self.fails_for(result))
    }

    /// Returns the checks that are neither met nor waived, and for which the run does not fail.
    pub fn tolerated(&self) -> impl Iterator<Item = &CheckResult> {
        let checks = self.checks.iter();
        checks.filter(|result| self.is_tolerated(result))
    }

    /// Returns whether the run fails for a check: [`Run::unmet`].
    pub fn fails_for(&self, result: &CheckResult) -> bool {
        let is_broken = result.verdict == Verdict::HarnessError;
        is_broken || result.is_counted() && self.is_required(result)
    }

    /// Returns whether a check is not met, but the run does not fail for it: [`Run::tolerated`].
    pub fn is_tolerated(&self, result: &CheckResult) -> bool {
        result.is_counted() && !self.is_required(result)
    }

    /// Returns whether the run fails if the target does not meet the check. A check that could not be made
    /// is as grave as its level says.
    fn is_required(&self, result: &CheckResult) -> bool {
        match (result.verdict, result.level) {
            (Verdict::Fail, _) => true,
            (Verdict::Warn, _) | (_, Level::Should) => self.settings.strict,
            (_, level) => level == Level::Must,
        }
    }

    /// Returns the exit code of a program that made the run: 0 if all that is required is met, 1 if not, 2 if
    /// nothing was checked, 4 if the suite itself did not work, 5 if only waivers are out of date, 130 if it
    /// was interrupted.
    pub fn exit_code(&self) -> u8 {
        let broken = |result: &&CheckResult| result.verdict == Verdict::HarnessError;
        let not_applicable = |result: &CheckResult| result.verdict == Verdict::NotApplicable;
        match () {
            () if self.not_made > 0 => 130,
            () if self.checks.iter().all(not_applicable) => 2,
            () if self.unmet().any(|result| !broken(&result)) => 1,
            () if self.checks.iter().any(|result| broken(&result)) => 4,
            () if self.waivers.iter().any(|waiver| waiver.state.is_error()) => 5,
            () => 0,
        }
    }

    /// Returns the run as indented JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
