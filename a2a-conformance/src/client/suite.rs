//! All cases against one client, in every version and binding in which they apply.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use futures_util::{StreamExt, stream};
use rust_embed::RustEmbed;
use serde_json::json;

use super::case::Case;
use super::connection::RunningFixture;
use super::driver::Driver;
use super::driver_request::DriverRequest;
use super::judge::{blank, is_silent, judge, set_silent};
use crate::interface_kind::InterfaceKind;
use crate::name_pattern::is_like;
use crate::record::{CheckResult, Verdict};
use crate::requirement::Level;
use crate::yaml;

#[derive(RustEmbed)]
#[folder = "cases/client/"]
struct ClientCaseFiles;

/// Returns all cases that are built in, or what is wrong with a file of them.
pub fn cases() -> Result<&'static [Arc<Case>], String> {
    static ALL: LazyLock<Result<Vec<Arc<Case>>, String>> = LazyLock::new(|| {
        let mut all = Vec::new();
        for name in ClientCaseFiles::iter() {
            let file = ClientCaseFiles::get(&name)
                .map(|file| file.data)
                .unwrap_or_default();
            let text = String::from_utf8_lossy(&file);
            let cases: Vec<Case> = yaml::read(&text).map_err(|error| format!("{name}: {error}"))?;
            all.extend(cases.into_iter().map(Arc::new));
        }
        Ok(all)
    });
    ALL.as_ref().map(Vec::as_slice).map_err(Clone::clone)
}

/// Returns the JSON Schema of a file of cases: `schemas/client-cases.json`.
pub fn schema() -> serde_json::Value {
    let schema = schemars::generate::SchemaSettings::draft2020_12();
    json!(schema.into_generator().into_root_schema_for::<Vec<Case>>())
}

/// Selection of cases, and options of their run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Patterns of ids to include, `*` for anything; all if empty.
    pub run: Vec<String>,
    /// Patterns of ids to exclude.
    pub skip: Vec<String>,
    /// Lowest level to include.
    pub level: Level,
    /// Protocol versions to include; all if empty.
    pub protocol_versions: Vec<ProtocolVersion>,
    /// Bindings to include; all if empty.
    pub bindings: Vec<Binding>,
    /// Number of cases that run concurrently.
    pub jobs: usize,
    /// Factor of the time that the client may take.
    pub scale: f64,
    /// Maximum bytes of an oversized body, for a client that is known to take fewer; the case's own number by default.
    pub flood: Option<u64>,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            run: Vec::new(),
            skip: Vec::new(),
            level: Level::May,
            protocol_versions: Vec::new(),
            bindings: Vec::new(),
            jobs: 16,
            scale: 1.0,
            flood: None,
        }
    }
}

impl Selection {
    /// Returns the chosen cases, in each of the chosen versions and bindings.
    ///
    /// Errors: a file of cases that cannot be read.
    pub fn chosen(&self) -> Result<Vec<(Arc<Case>, InterfaceKind)>, String> {
        let any =
            |patterns: &[String], id: &str| patterns.iter().any(|pattern| is_like(pattern, id));
        let is_chosen = |case: &&Arc<Case>| {
            (self.run.is_empty() || any(&self.run, &case.id)) && !any(&self.skip, &case.id)
        };
        let mut chosen = Vec::new();
        for case in cases()?.iter().filter(is_chosen) {
            let interface_kinds = case.interface_kinds().filter(|interface| {
                case.level_in(*interface) <= self.level
                    && (self.protocol_versions.is_empty()
                        || self.protocol_versions.contains(&interface.protocol_version))
                    && (self.bindings.is_empty() || self.bindings.contains(&interface.binding))
            });
            let case = self.with_floods(case);
            chosen.extend(interface_kinds.map(|interface| (Arc::clone(&case), interface)));
        }
        Ok(chosen)
    }

    fn with_floods(&self, case: &Arc<Case>) -> Arc<Case> {
        let mut case = Arc::clone(case);
        if let Some(most) = self.flood
            && case.serve.iter().any(|answer| answer.wire.flood.is_some())
        {
            for answer in &mut Arc::make_mut(&mut case).serve {
                if let Some(flood) = &mut answer.wire.flood {
                    flood.bytes = flood.bytes.min(most);
                }
            }
        }
        case
    }

    /// Runs the chosen cases, several at once; `done` is called as they end. The results are in the order of
    /// the cases.
    ///
    /// Errors: a file of cases that cannot be read.
    pub async fn run(
        &self,
        driver: &Driver,
        done: impl Fn(&CheckResult),
    ) -> Result<Vec<CheckResult>, String> {
        let chosen = self.chosen()?;
        let jobs = self.jobs.max(1);
        let life = ClientActivity::default();
        let made = stream::iter(chosen.into_iter().enumerate())
            .map(async |(index, (case, interface))| {
                // The decision whether to continue needs the results of all running cases.
                let result = match life.is_silent_after(jobs) {
                    true => None,
                    false => Some(run_one(&case, interface, driver, self.scale, &life).await),
                };
                if let Some(result) = &result {
                    done(result);
                }
                (index, case, interface, result)
            })
            .buffer_unordered(jobs);
        let made: Vec<_> = made.collect().await;
        let is_missed = life.is_silent_after(1);
        let mut results = Vec::new();
        for (index, case, interface, result) in made {
            let mut result = match result {
                Some(result) => result,
                None if is_missed => blank(&case, interface),
                None => run_one(&case, interface, driver, self.scale, &life).await,
            };
            if is_missed {
                set_silent(&mut result);
            }
            results.push((index, result));
        }
        results.sort_by_key(|(index, _)| *index);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}

/// Record of whether the client has ever done anything.
#[derive(Default)]
struct ClientActivity {
    is_seen: AtomicBool,
    /// Number of cases in which it was silent.
    silent: AtomicUsize,
    /// `true` if one of those cases is unmet, or is met by a client that calls the agent and not by one that does nothing.
    is_unmet: AtomicBool,
}

impl ClientActivity {
    fn note(&self, is_silent: bool, case: &Case, result: &CheckResult) {
        if !is_silent {
            self.is_seen.store(true, Ordering::Relaxed);
            return;
        }
        self.silent.fetch_add(1, Ordering::Relaxed);
        if result.verdict.severity() > 0 || !case.expects_silence() {
            self.is_unmet.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether nothing was seen of the client in at least `cases` cases, one of them unmet.
    fn is_silent_after(&self, cases: usize) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let enough = self.silent.load(Ordering::Relaxed) >= cases;
        enough && is_set(&self.is_unmet) && !is_set(&self.is_seen)
    }
}

/// Runs one case in one version and binding.
async fn run_one(
    case: &Arc<Case>,
    interface: InterfaceKind,
    driver: &Driver,
    scale: f64,
    life: &ClientActivity,
) -> CheckResult {
    let began = Instant::now();
    match RunningFixture::start(Arc::clone(case), interface, None).await {
        Ok(running) => {
            let outcome = driver
                .run(&DriverRequest::new(&running.fixture, scale))
                .await;
            let result = judge(&running.fixture, &outcome, began.elapsed().as_secs_f64());
            life.note(is_silent(&running.fixture, &outcome), case, &result);
            result
        }
        Err(problem) => {
            let result = CheckResult {
                verdict: Verdict::HarnessError,
                reason: Some(problem),
                seconds: began.elapsed().as_secs_f64(),
                ..blank(case, interface)
            };
            life.note(false, case, &result);
            result
        }
    }
}
