//! Runs of the conformance suite against connected agents.

mod credentials;
mod routes;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_client::{Binding, ProtocolVersion};
use a2a_conformance::agent::{Options, RunError, RunProgress, Selection, run_until};
use a2a_conformance::case::Profile;
use a2a_conformance::explanation::cite;
use a2a_conformance::record::Redaction;
use a2a_conformance::record::{Run, Score};
use a2a_conformance::requirement::Level;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;

pub(crate) use self::routes::routes;
use crate::agents::ConnectedAgent;
use crate::changes::Changes;
use crate::problem::Problem;
use crate::wire::ExchangeLog;

/// Runs, of now and before. Clones share them.
#[derive(Clone)]
pub(crate) struct Runs(Arc<RunState>);

struct RunState {
    changes: Changes,
    entries: Mutex<RunList>,
}

#[derive(Default)]
struct RunList {
    kept: VecDeque<Entry>,
    last_id: u64,
}

/// A run.
struct Entry {
    id: String,
    agent: String,
    url: String,
    began_at: Timestamp,
    status: Status,
    completed: usize,
    total: usize,
    failure: Option<String>,
    run: Option<Arc<Run>>,
    /// Dropped to interrupt it.
    stop: Option<oneshot::Sender<()>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Status {
    Running,
    Done,
    Interrupted,
    Failed,
}

/// Selection of the checks of a run, by the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wanted {
    /// Id of the agent.
    agent: String,
    /// Levels of the checks; all if there are none.
    #[serde(default)]
    levels: Vec<Level>,
    /// Patterns of ids to include; all if there are none.
    #[serde(default)]
    run: Vec<String>,
    /// Patterns of ids to exclude.
    #[serde(default)]
    skip: Vec<String>,
    /// Number of checks that are made concurrently.
    jobs: Option<usize>,
    /// The agent keeps the behaviour contract of the suite.
    #[serde(default)]
    instrumented: bool,
    /// Versions; all that the card offers if there are none.
    #[serde(default)]
    versions: Vec<String>,
    /// Bindings; all that the card offers if there are none.
    #[serde(default)]
    bindings: Vec<String>,
}

/// Runs that are kept.
const MAX_RUNS: usize = 20;
/// Maximum number of concurrent runs.
const MAX_RUNNING: usize = 2;
/// Checks that one run makes concurrently.
const MAX_JOBS: usize = 32;
/// Patterns of ids.
const MAX_PATTERNS: usize = 100;

impl Runs {
    pub(crate) fn new(changes: Changes) -> Self {
        Self(Arc::new(RunState {
            changes,
            entries: Mutex::default(),
        }))
    }

    /// Starts a run, and returns its id. Errors: the selection is wrong, too many run.
    async fn start(
        &self,
        agent: &ConnectedAgent,
        wanted: Wanted,
        log: &ExchangeLog,
    ) -> Result<String, Problem> {
        let mut options = options(agent, &wanted)?;
        let redaction = credentials::add(&mut options, agent, log).await;
        let (stop, stopped) = oneshot::channel();
        let id = {
            let mut entries = self.entries();
            let running = entries
                .kept
                .iter()
                .filter(|entry| entry.status == Status::Running);
            if running.count() >= MAX_RUNNING {
                return Err(Problem::conflict(format!(
                    "{MAX_RUNNING} runs are made already"
                )));
            }
            entries.last_id += 1;
            let id = entries.last_id.to_string();
            entries.kept.push_back(Entry {
                id: id.clone(),
                agent: agent.id.clone(),
                url: options.url.clone(),
                began_at: Timestamp::now(),
                status: Status::Running,
                completed: 0,
                total: 0,
                failure: None,
                run: None,
                stop: Some(stop),
            });
            if entries.kept.len() > MAX_RUNS {
                let ended = |entry: &Entry| entry.status != Status::Running;
                let oldest = entries.kept.iter().position(ended);
                oldest.map(|index| entries.kept.remove(index));
            }
            id
        };
        let (runs, run_id) = (self.clone(), id.clone());
        // A thread of its own: the suite keeps it busy, and the page shall not wait.
        let thread = std::thread::Builder::new().name("conformance".to_owned());
        let thread = thread.spawn(move || runs.make(&run_id, &options, stopped, &redaction));
        if let Err(error) = thread {
            let error = RunError::Broken(error.to_string());
            self.end(&id, Err(error), &Redaction::default());
        }
        Ok(id)
    }

    /// Makes a run, and blocks until it has ended.
    fn make(
        &self,
        id: &str,
        options: &Options,
        stopped: oneshot::Receiver<()>,
        redaction: &Redaction,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let progress = |state: RunProgress<'_>| self.progress(id, state, redaction);
        // A dropped sender stops it, too.
        let stopped = async { drop(stopped.await) };
        let ended = match runtime {
            Ok(runtime) => runtime.block_on(run_until(options, stopped, progress)),
            Err(error) => Err(RunError::Broken(error.to_string())),
        };
        self.end(id, ended, redaction);
    }

    fn progress(&self, id: &str, state: RunProgress<'_>, redaction: &Redaction) {
        let last = state.last.map(|result| {
            let reason = result.reason.as_deref();
            json!({
                "id": result.id,
                "title": result.title,
                "level": result.level,
                "version": result.protocol_version,
                "binding": result.binding,
                "verdict": result.verdict,
                "reason": reason.map(|reason| redaction.text(reason)),
            })
        });
        let summary = self.change(id, |entry| {
            entry.completed = state.completed;
            entry.total = state.total;
        });
        if let Some(mut summary) = summary {
            summary["last"] = last.into();
            self.0.changes.send("run", &summary);
        }
    }

    fn end(&self, id: &str, ended: Result<Run, RunError>, redaction: &Redaction) {
        let ended = ended.map(|mut run| {
            redaction.target(&mut run.target);
            for result in &mut run.checks {
                redaction.check(result);
            }
            run.group_causes();
            cite(&mut run);
            Arc::new(run)
        });
        let summary = self.change(id, |entry| {
            let was_stopped = entry.stop.take().is_none();
            entry.status = match &ended {
                Err(RunError::Interrupted) => Status::Interrupted,
                Err(_) => Status::Failed,
                Ok(run) if was_stopped && run.not_made > 0 => Status::Interrupted,
                Ok(_) => Status::Done,
            };
            match ended {
                Ok(run) => entry.run = Some(run),
                Err(error) => entry.failure = Some(redaction.text(&error.to_string())),
            }
        });
        if let Some(summary) = summary {
            self.0.changes.send("run", &summary);
        }
    }

    /// Interrupts a run; one that has ended is removed.
    fn stop(&self, id: &str) -> Result<(), Problem> {
        let mut entries = self.entries();
        let index = entries.kept.iter().position(|entry| entry.id == id);
        let index = index.ok_or_else(|| no_run(id))?;
        match entries.kept[index].status {
            Status::Running => drop(entries.kept[index].stop.take()),
            _ => drop(entries.kept.remove(index)),
        }
        Ok(())
    }

    /// Returns the result of a run that has one.
    fn result(&self, id: &str) -> Result<Arc<Run>, Problem> {
        let entries = self.entries();
        let entry = entries.kept.iter().find(|entry| entry.id == id);
        let entry = entry.ok_or_else(|| no_run(id))?;
        let run = entry.run.clone();
        run.ok_or_else(|| match &entry.failure {
            Some(failure) => Problem::conflict(format!("run {id:?} has no result: {failure}")),
            None => Problem::conflict(format!("run {id:?} has not ended")),
        })
    }

    fn summary(&self, id: &str) -> Result<Value, Problem> {
        self.change(id, |_| {}).ok_or_else(|| no_run(id))
    }

    fn summaries(&self) -> Vec<Value> {
        self.entries().kept.iter().map(Entry::summary).collect()
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Entry)) -> Option<Value> {
        let mut entries = self.entries();
        let entry = entries.kept.iter_mut().find(|entry| entry.id == id)?;
        change(entry);
        Some(entry.summary())
    }

    /// Locks the entries. No code under this lock panics half-way, so poisoning is ignored.
    fn entries(&self) -> MutexGuard<'_, RunList> {
        self.0
            .entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Returns the run without its results.
    fn summary(&self) -> Value {
        let score = self.run.as_ref().map(|run| {
            let of = |level| -> Score { run.score(level, None, None) };
            json!({"must": of(Level::Must), "should": of(Level::Should), "may": of(Level::May)})
        });
        json!({
            "id": self.id,
            "agent": self.agent,
            "url": self.url,
            "name": self.run.as_ref().map(|run| run.target.title()),
            "startedAt": self.began_at.to_string(),
            "state": self.status,
            "completed": self.completed,
            "total": self.total,
            "failure": self.failure,
            "score": score,
            "exitCode": self.run.as_ref().map(|run| run.exit_code()),
        })
    }
}

fn no_run(id: &str) -> Problem {
    Problem::not_found(format!("there is no run {id:?}"))
}

fn options(agent: &ConnectedAgent, wanted: &Wanted) -> Result<Options, Problem> {
    let jobs = wanted.jobs.unwrap_or(8);
    if !(1..=MAX_JOBS).contains(&jobs) {
        let problem = format!("`jobs`: expected 1 to {MAX_JOBS}, found {jobs}");
        return Err(Problem::bad_request(problem));
    }
    if wanted.run.len() + wanted.skip.len() > MAX_PATTERNS {
        let problem = format!("`run` and `skip`: expected at most {MAX_PATTERNS} patterns");
        return Err(Problem::bad_request(problem));
    }
    let protocol_versions = wanted.versions.iter().map(|version| {
        let known = version.parse::<ProtocolVersion>();
        known.map_err(|error| Problem::bad_request(format!("`versions`: {error}")))
    });
    let bindings = wanted.bindings.iter().map(|name| {
        let all = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
        let known = all.into_iter().find(|binding| binding.as_str() == name);
        known.ok_or_else(|| {
            Problem::bad_request(format!(
                "`bindings`: expected JSONRPC, HTTP+JSON or GRPC, found {name:?}"
            ))
        })
    });
    let is_certified = agent.settings.client_certificate.is_some();
    let anonymous = is_certified.then(|| agent.http().map(|http| http.without_identity().build()));
    Ok(Options {
        profile: match wanted.instrumented {
            true => Profile::Instrumented,
            false => Profile::BlackBox,
        },
        protocol_versions: protocol_versions.collect::<Result<_, _>>()?,
        bindings: bindings.collect::<Result<_, _>>()?,
        selection: Selection {
            run: wanted.run.clone(),
            skip: wanted.skip.clone(),
            levels: wanted.levels.clone(),
        },
        jobs,
        http: agent.http()?.build(),
        anonymous_http: anonymous.transpose()?,
        ..Options::of(agent.settings.url.clone())
    })
}
