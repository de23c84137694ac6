//! All cases, in every way that they apply, against one client.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use a2a_transport::Binding;
use a2a_types::Dialect;
use futures_util::{StreamExt, stream};
use rust_embed::RustEmbed;
use serde_json::json;

use super::case::{Case, Way};
use super::driver::Driver;
use super::errand::Errand;
use super::judge::{blank, is_silent, judge, of_silence};
use super::stage::Running;
use crate::names::is_like;
use crate::requirement::Level;
use crate::run::{CheckResult, Verdict};

#[derive(RustEmbed)]
#[folder = "cases/client/"]
struct Files;

/// All cases that are built in, or what is wrong with a file of them.
pub fn cases() -> Result<&'static [Arc<Case>], String> {
    static ALL: LazyLock<Result<Vec<Arc<Case>>, String>> = LazyLock::new(|| {
        let mut all = Vec::new();
        for name in Files::iter() {
            let file = Files::get(&name).map(|file| file.data).unwrap_or_default();
            let text = String::from_utf8_lossy(&file);
            let cases: Vec<Case> =
                serde_saphyr::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
            all.extend(cases.into_iter().map(Arc::new));
        }
        Ok(all)
    });
    ALL.as_ref().map(Vec::as_slice).map_err(Clone::clone)
}

/// What a file of cases has to be like, as JSON Schema: `schemas/client-cases.json`.
pub fn schema() -> serde_json::Value {
    let schema = schemars::generate::SchemaSettings::draft2020_12();
    json!(schema.into_generator().into_root_schema_for::<Vec<Case>>())
}

/// Which cases to run, and how.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Only checks whose id is like one of these, `*` for anything; all if there are none.
    pub run: Vec<String>,
    /// None whose id is like one of these.
    pub skip: Vec<String>,
    /// Only of this level or above.
    pub level: Level,
    /// Only these generations; all if there are none.
    pub dialects: Vec<Dialect>,
    /// Only these bindings; all if there are none.
    pub bindings: Vec<Binding>,
    /// How many at once.
    pub jobs: usize,
    /// How much longer than usual the client may take.
    pub scale: f64,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            run: Vec::new(),
            skip: Vec::new(),
            level: Level::May,
            dialects: Vec::new(),
            bindings: Vec::new(),
            jobs: 16,
            scale: 1.0,
        }
    }
}

impl Selection {
    /// The chosen cases, in each of the chosen ways.
    ///
    /// Errors: a file of cases that cannot be read.
    pub fn chosen(&self) -> Result<Vec<(Arc<Case>, Way)>, String> {
        let any =
            |patterns: &[String], id: &str| patterns.iter().any(|pattern| is_like(pattern, id));
        let is_chosen = |case: &&Arc<Case>| {
            (self.run.is_empty() || any(&self.run, &case.id)) && !any(&self.skip, &case.id)
        };
        let mut chosen = Vec::new();
        for case in cases()?.iter().filter(is_chosen) {
            let ways = case.ways().filter(|way| {
                case.level_in(*way) <= self.level
                    && (self.dialects.is_empty() || self.dialects.contains(&way.dialect))
                    && (self.bindings.is_empty() || self.bindings.contains(&way.binding))
            });
            chosen.extend(ways.map(|way| (Arc::clone(case), way)));
        }
        Ok(chosen)
    }

    /// Runs the chosen cases, several at once; `done` hears of each. The results are in the order of
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
        let life = Life::default();
        let made = stream::iter(chosen.into_iter().enumerate())
            .map(async |(index, (case, way))| {
                // Whether it is worth asking shows when all that is under way has come to its end.
                let result = match life.is_missed_after(jobs) {
                    true => None,
                    false => Some(run_one(&case, way, driver, self.scale, &life).await),
                };
                if let Some(result) = &result {
                    done(result);
                }
                (index, case, way, result)
            })
            .buffer_unordered(jobs);
        let made: Vec<_> = made.collect().await;
        let is_missed = life.is_missed_after(1);
        let mut results = Vec::new();
        for (index, case, way, result) in made {
            let mut result = match result {
                Some(result) => result,
                None if is_missed => blank(&case, way),
                None => run_one(&case, way, driver, self.scale, &life).await,
            };
            if is_missed {
                of_silence(&mut result);
            }
            results.push((index, result));
        }
        results.sort_by_key(|(index, _)| *index);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}

/// Whether the client has ever done anything.
#[derive(Default)]
struct Life {
    is_seen: AtomicBool,
    /// In how many cases it was silent.
    silent: AtomicUsize,
    /// Whether anything else was expected in one of them.
    is_unmet: AtomicBool,
}

impl Life {
    fn note(&self, is_silent: bool, result: &CheckResult) {
        if !is_silent {
            self.is_seen.store(true, Ordering::Relaxed);
            return;
        }
        self.silent.fetch_add(1, Ordering::Relaxed);
        if result.verdict.severity() > 0 {
            self.is_unmet.store(true, Ordering::Relaxed);
        }
    }

    /// Whether nothing was seen of it in so many cases at least.
    fn is_missed_after(&self, cases: usize) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let enough = self.silent.load(Ordering::Relaxed) >= cases;
        enough && is_set(&self.is_unmet) && !is_set(&self.is_seen)
    }
}

/// Runs one case, one way.
async fn run_one(
    case: &Arc<Case>,
    way: Way,
    driver: &Driver,
    scale: f64,
    life: &Life,
) -> CheckResult {
    let began = Instant::now();
    match Running::start(Arc::clone(case), way, None).await {
        Ok(running) => {
            let told = driver.run(&Errand::new(&running.stage, scale)).await;
            let result = judge(&running.stage, &told, began.elapsed().as_secs_f64());
            life.note(is_silent(&running.stage, &told), &result);
            result
        }
        Err(problem) => {
            let result = CheckResult {
                verdict: Verdict::HarnessError,
                reason: Some(problem),
                seconds: began.elapsed().as_secs_f64(),
                ..blank(case, way)
            };
            life.note(false, &result);
            result
        }
    }
}
