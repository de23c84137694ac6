//! How an agent is tested.

use std::time::Duration;

use a2a_transport::Binding;
use a2a_transport::http::HttpClient;
use a2a_transport::webhook::Jwks;
use a2a_types::Dialect;
use http::header::HeaderMap;

use crate::case::Profile;
use crate::names::is_like;
use crate::requirement::Level;

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
    /// What shows a caller who is known, and may do nothing.
    pub forbidden_headers: HeaderMap,
    /// Keys that are trusted to sign the card.
    pub card_keys: Option<Jwks>,
    /// How long it may take to answer, on top of twenty times what a round trip takes.
    pub patience: Duration,
    /// How long it may take to tell a webhook.
    pub delivery_patience: Duration,
    /// What all deadlines are multiplied by.
    pub scale: f64,
    /// The host by which the agent reaches webhooks of ours; by default this machine for agents that
    /// run on it, and none for others.
    pub webhook_host: Option<String>,
    /// How many checks are made at once.
    pub jobs: usize,
    /// How often each is made.
    pub repeat: u32,
    /// How it is reached.
    pub http: HttpClient,
}

impl Options {
    /// An agent that keeps the behaviour contract, tested in everything that its card offers.
    pub fn of(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            profile: Profile::Instrumented,
            dialects: Vec::new(),
            bindings: Vec::new(),
            selection: Selection::default(),
            prompt: "hello".to_owned(),
            headers: HeaderMap::new(),
            second_headers: HeaderMap::new(),
            forbidden_headers: HeaderMap::new(),
            card_keys: None,
            patience: Duration::from_secs(10),
            delivery_patience: Duration::from_secs(5),
            scale: 1.0,
            webhook_host: None,
            jobs: 8,
            repeat: 1,
            http: HttpClient::default(),
        }
    }
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
    /// Whether a check is made, if it counts as that much.
    pub fn wants(&self, id: &str, level: Level) -> bool {
        self.names(id) && (self.levels.is_empty() || self.levels.contains(&level))
    }

    /// Whether a check is made, whatever it counts as.
    pub fn names(&self, id: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| is_like(pattern, id));
        (self.run.is_empty() || any(&self.run)) && !any(&self.skip)
    }
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// The agent is not there, or has no card.
    #[error("the agent cannot be tested: {0}")]
    Unreachable(String),
    /// It offers nothing that was asked for.
    #[error("the card offers no interface that was asked for: it offers {0}")]
    NoLane(String),
    /// No check was chosen.
    #[error("no check is like --run, --skip and --level say: `a2a-conformance list` names all")]
    NothingChosen,
    /// It was stopped before the agent had answered.
    #[error("interrupted before anything was checked")]
    Interrupted,
    /// The suite itself is broken.
    #[error("the suite is broken: {0}")]
    Broken(String),
}
