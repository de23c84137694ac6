//! All cases, in every way that they apply, against one client.

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
use super::judge::judge;
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
        let results = stream::iter(chosen.into_iter().enumerate())
            .map(async |(index, (case, way))| {
                let result = run_one(case, way, driver, self.scale).await;
                done(&result);
                (index, result)
            })
            .buffer_unordered(self.jobs.max(1));
        let mut results: Vec<_> = results.collect().await;
        results.sort_by_key(|(index, _)| *index);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}

/// Runs one case, one way.
async fn run_one(case: Arc<Case>, way: Way, driver: &Driver, scale: f64) -> CheckResult {
    let began = Instant::now();
    match Running::start(Arc::clone(&case), way, None).await {
        Ok(running) => {
            let told = driver.run(&Errand::new(&running.stage, scale)).await;
            judge(&running.stage, &told, began.elapsed().as_secs_f64())
        }
        Err(problem) => CheckResult {
            id: case.id.clone(),
            title: case.title.clone(),
            level: case.level_in(way),
            dialect: Some(way.dialect.version().to_owned()),
            binding: Some(way.binding.to_string()),
            requirements: Vec::new(),
            verdict: Verdict::HarnessError,
            reason: Some(problem),
            mismatches: Vec::new(),
            evidence: Vec::new(),
            seconds: began.elapsed().as_secs_f64(),
            explanation: String::new(),
            unmet: None,
        },
    }
}
