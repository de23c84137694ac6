//! The suite against an agent.
//!
//! ```text
//! card ─► lanes (generation × binding) ─► cases, each step: write ─ HTTP ─ read ─► what had to come
//!                                              └► invariants: what holds in every exchange
//! ```

mod judge;
mod lane;
mod observed;
mod step;
mod stream;
mod target;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_transport::Binding;
use a2a_transport::http::HttpClient;
use a2a_types::Dialect;
use futures_util::stream::{self as streams, StreamExt};
use http::header::HeaderMap;

use self::lane::{Callers, Lane};
use self::observed::{INVARIANTS, Invariant};
use self::step::{Conversation, Stop};
use self::target::{Target, Wanted};
use crate::case::{Case, Profile};
use crate::catalogue;
use crate::requirement::{Level, Role, requirements};
use crate::run::{CheckResult, FORMAT, Run, Settings, Target as Tested, Verdict};

/// How an agent is tested.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its URL.
    pub url: String,
    /// Whether it keeps the behaviour contract.
    pub profile: Profile,
    /// Only these generations; all that its card offers if none is named.
    pub dialects: Vec<Dialect>,
    /// Only these bindings; all that its card offers if none is named.
    pub bindings: Vec<Binding>,
    /// Which checks.
    pub selection: Selection,
    /// What is said to an agent that keeps no contract.
    pub prompt: String,
    /// What shows who calls.
    pub headers: HeaderMap,
    /// What shows a second caller.
    pub second_headers: HeaderMap,
    /// How long it may take to answer.
    pub patience: Duration,
    /// How many checks are made at once.
    pub jobs: usize,
    /// How often each is made.
    pub repeat: u32,
    /// How it is reached.
    pub http: HttpClient,
}

/// Which checks are made.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only those that one of these matches, like `send.*`.
    pub run: Vec<String>,
    /// None of those that one of these matches.
    pub skip: Vec<String>,
    /// Only those of these levels.
    pub levels: Vec<Level>,
}

impl Selection {
    /// Whether a check is made.
    pub fn wants(&self, id: &str, level: Level) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| is_like(pattern, id));
        (self.run.is_empty() || any(&self.run))
            && !any(&self.skip)
            && (self.levels.is_empty() || self.levels.contains(&level))
    }
}

/// Whether a name is like a pattern, in which `*` is anything.
pub fn is_like(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|start| rest.is_char_boundary(*start))
                .any(|start| is_like(after, &rest[start..]))
        }),
    }
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// The agent is not there, or has no card.
    #[error("the agent cannot be reached: {0}")]
    Unreachable(String),
    /// It offers nothing that was asked for.
    #[error("the card offers no interface that was asked for: it offers {0}")]
    NoLane(String),
    /// No check was chosen.
    #[error("no check was chosen: `a2a-conformance list` shows which there are")]
    NothingChosen,
    /// The suite itself is broken.
    #[error("the suite is broken: {0}")]
    Broken(String),
}

/// Tests an agent. `progress` is told how many of how many checks are made.
pub async fn run(options: &Options, mut progress: impl FnMut(usize, usize)) -> Result<Run, NoRun> {
    let (began, started) = (Instant::now(), jiff::Timestamp::now());
    let callers = Arc::new(Callers {
        first: options.headers.clone(),
        second: options.second_headers.clone(),
    });
    let wanted = Wanted {
        dialects: options.dialects.clone(),
        bindings: options.bindings.clone(),
    };
    let target = Target::find(
        &options.url,
        &options.http,
        &callers,
        &wanted,
        options.patience,
    )
    .await;
    let target = target.map_err(NoRun::Unreachable)?;
    let offered = target.card.supported_interfaces.iter().map(|interface| {
        format!(
            "{} {}",
            interface.protocol_binding, interface.protocol_version
        )
    });
    let offered: Vec<_> = offered.collect();
    if target.lanes.is_empty() {
        return Err(NoRun::NoLane(offered.join(", ")));
    }
    let cases = catalogue::agent_cases().map_err(NoRun::Broken)?;
    let chosen: Vec<_> = cases
        .iter()
        .filter(|case| options.selection.wants(&case.id, case.level))
        .collect();
    let invariants = INVARIANTS
        .iter()
        .filter(|invariant| options.selection.wants(invariant.id, invariant.level));
    let invariants: Vec<_> = invariants.collect();
    if chosen.is_empty() && invariants.is_empty() {
        return Err(NoRun::NothingChosen);
    }
    // Invariants are seen in whatever is said: all of it, if only they are wanted.
    let said: Vec<&Case> = match chosen.is_empty() {
        true => cases.iter().collect(),
        false => chosen,
    };
    let jobs = target.lanes.iter().flat_map(|lane| {
        let of_lane = said
            .iter()
            .filter(|case| case.applies(lane.dialect, lane.binding));
        of_lane.map(move |case| (lane, *case))
    });
    let jobs: Vec<_> = jobs.collect();
    let total = jobs.len();
    let checks = jobs
        .into_iter()
        .map(|(lane, case)| check(options, &target, lane, case));
    let mut checking = std::pin::pin!(streams::iter(checks).buffered(options.jobs.max(1)));
    let mut results = Vec::new();
    progress(0, total);
    while let Some(result) = checking.next().await {
        results.push(result);
        progress(results.len(), total);
    }
    results.retain(|result: &CheckResult| options.selection.wants(&result.id, result.level));
    for lane in &target.lanes {
        let of_lane = invariants
            .iter()
            .filter(|known| known.applies(lane.dialect, lane.binding));
        results.extend(of_lane.map(|invariant| seen(invariant, lane)));
    }
    results.sort_by(|one, other| {
        let key = |result: &CheckResult| {
            (
                result.dialect.clone(),
                result.binding.clone(),
                result.id.clone(),
            )
        };
        key(one).cmp(&key(other))
    });
    Ok(Run {
        format: FORMAT.to_owned(),
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        target: Tested {
            role: Some(Role::Agent),
            place: options.url.clone(),
            name: target.card.name.clone(),
            version: target.card.version.clone(),
            server: None,
            interfaces: offered,
        },
        settings: Settings {
            profile: match options.profile {
                Profile::BlackBox => "black-box".to_owned(),
                Profile::Instrumented => "instrumented".to_owned(),
            },
            seed: 0,
            repeat: options.repeat,
            filters: std::collections::BTreeMap::new(),
        },
        began: started.to_string(),
        seconds: began.elapsed().as_secs_f64(),
        checks: results,
        ..Run::default()
    })
}

/// One check in one lane, as often as it is to be made.
async fn check(options: &Options, target: &Target, lane: &Lane, case: &Case) -> CheckResult {
    let mut results = Vec::new();
    for _ in 0..options.repeat.max(1) {
        results.push(check_once(options, target, lane, case).await);
    }
    let unmet = results
        .iter()
        .filter(|result| !result.verdict.is_met())
        .count();
    let count = results.len();
    // What went wrong is what is worth being shown.
    let worst = results.iter().position(|result| !result.verdict.is_met());
    let mut result = results.swap_remove(worst.unwrap_or(0));
    if count > 1 {
        result.unmet = Some((unmet as u32, count as u32));
        if unmet > 0 && unmet < count {
            result.verdict = Verdict::Flaky;
        }
    }
    result
}

async fn check_once(options: &Options, target: &Target, lane: &Lane, case: &Case) -> CheckResult {
    let began = Instant::now();
    let mut result = empty(&case.id, &case.title, case.level, lane);
    if case.profile == Profile::Instrumented && options.profile == Profile::BlackBox {
        result.verdict = Verdict::NotApplicable;
        result.reason = Some("only for agents that keep the behaviour contract".to_owned());
        return result;
    }
    if let Some(lack) = target.lacks(case, &lane.callers) {
        result.verdict = Verdict::NotApplicable;
        result.reason = Some(lack);
        return result;
    }
    let mut conversation = Conversation::new(lane, &options.prompt);
    let held = conversation.hold(case).await;
    result.seconds = began.elapsed().as_secs_f64();
    match held {
        Err(Stop::NotSpoken) => {
            result.verdict = Verdict::NotApplicable;
            result.reason = Some("this generation has no such operation".to_owned());
        }
        Err(Stop::Nonsense(problem)) if conversation.mismatches.is_empty() => {
            result.verdict = Verdict::HarnessError;
            result.reason = Some(problem);
        }
        _ if conversation.mismatches.is_empty() => result.verdict = Verdict::Pass,
        _ => result.verdict = unmet(case.level),
    }
    if !result.verdict.is_met() {
        result.evidence = conversation.evidence;
    }
    result.mismatches = conversation.mismatches;
    result
}

/// What was seen of an invariant in a lane.
fn seen(invariant: &Invariant, lane: &Lane) -> CheckResult {
    let seen = lane.observed.of(invariant.id);
    let mut result = empty(invariant.id, invariant.title, invariant.level, lane);
    result.verdict = match (seen.times, seen.mismatches.is_empty()) {
        (0, _) => Verdict::NotApplicable,
        (_, true) => Verdict::Pass,
        (_, false) => unmet(invariant.level),
    };
    if seen.times == 0 {
        result.reason = Some("nothing was said in which it could hold".to_owned());
    }
    result.mismatches = seen.mismatches;
    result.evidence = seen.evidence;
    result
}

fn unmet(level: Level) -> Verdict {
    match level {
        Level::Must => Verdict::Fail,
        Level::Should => Verdict::Warn,
        Level::May => Verdict::Note,
    }
}

fn empty(id: &str, title: &str, level: Level, lane: &Lane) -> CheckResult {
    let covered = requirements(lane.dialect)
        .iter()
        .filter(|requirement| requirement.checks.iter().any(|check| check == id));
    CheckResult {
        id: id.to_owned(),
        title: title.to_owned(),
        level,
        dialect: Some(lane.dialect.version().to_owned()),
        binding: Some(lane.binding.to_string()),
        requirements: covered.map(|requirement| requirement.id.clone()).collect(),
        verdict: Verdict::Pass,
        reason: None,
        mismatches: Vec::new(),
        evidence: Vec::new(),
        explanation: String::new(),
        seconds: 0.0,
        unmet: None,
    }
}

/// The ids and titles of what every exchange is held against.
pub fn invariants() -> impl Iterator<Item = (&'static str, &'static str, Level)> {
    INVARIANTS
        .iter()
        .map(|invariant| (invariant.id, invariant.title, invariant.level))
}

/// Every id that a check against an agent has.
pub fn check_ids() -> Result<BTreeSet<String>, String> {
    let cases = catalogue::agent_cases()?;
    let of_cases = cases.into_iter().map(|case| case.id);
    Ok(of_cases
        .chain(invariants().map(|(id, ..)| id.to_owned()))
        .collect())
}
