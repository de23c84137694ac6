//! Options of a test of an agent.

use std::time::Duration;

use a2a_transport::Binding;
use a2a_transport::http::HttpClient;
use a2a_transport::webhook::Jwks;
use a2a_types::ProtocolVersion;
use http::header::{HeaderMap, HeaderValue};

use crate::case::Profile;
use crate::name_pattern::is_like;
use crate::requirement::Level;

/// Options of a test of an agent.
#[derive(Clone, Debug)]
pub struct Options {
    /// URL of the agent.
    pub url: String,
    /// Kind of agent: any, or one that keeps the behaviour contract.
    pub profile: Profile,
    /// Protocol versions to test; all that the card offers if empty.
    pub protocol_versions: Vec<ProtocolVersion>,
    /// Bindings to test; all that the card offers if empty.
    pub bindings: Vec<Binding>,
    /// Checks to make.
    pub selection: Selection,
    /// Message text for an agent that keeps no contract.
    pub prompt: String,
    /// Headers that authenticate the caller.
    pub headers: HeaderMap,
    /// Finds the card without the headers.
    pub anonymous_card: bool,
    /// Parameters of the query that authenticate the caller: their names, and secret values.
    pub query: Vec<(String, HeaderValue)>,
    /// Headers that authenticate a second caller.
    pub second_headers: HeaderMap,
    /// Headers that authenticate a caller who may do nothing.
    pub forbidden_headers: HeaderMap,
    /// Headers with a token that has expired.
    pub expired_headers: HeaderMap,
    /// Headers with a token for another agent.
    pub wrong_audience_headers: HeaderMap,
    /// Headers with a token that grants nothing at this agent.
    pub wrong_scope_headers: HeaderMap,
    /// Keys that are trusted to sign the card, and to sign push notifications in addition to the keys that the
    /// agent publishes.
    pub card_keys: Option<Jwks>,
    /// Time within which the agent must answer, on top of twenty round trips.
    pub response_timeout: Duration,
    /// Time within which the agent must notify a webhook.
    pub delivery_timeout: Duration,
    /// Factor of all deadlines.
    pub scale: f64,
    /// Host by which the agent reaches the suite's webhooks; by default 127.0.0.1 for agents on this machine, and
    /// none for others.
    pub webhook_host: Option<String>,
    /// Number of checks that are made concurrently.
    pub jobs: usize,
    /// Number of times that each check is made.
    pub repeat: u32,
    /// HTTP client that reaches the agent.
    pub http: HttpClient,
    /// HTTP client of callers without credentials; needed if [`http`](Self::http) has a client certificate.
    pub anonymous_http: Option<HttpClient>,
}

impl Options {
    /// Returns options that test all that the card of an agent with the behaviour contract offers.
    pub fn of(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            profile: Profile::Instrumented,
            protocol_versions: Vec::new(),
            bindings: Vec::new(),
            selection: Selection::default(),
            prompt: "hello".to_owned(),
            headers: HeaderMap::new(),
            anonymous_card: false,
            query: Vec::new(),
            second_headers: HeaderMap::new(),
            forbidden_headers: HeaderMap::new(),
            expired_headers: HeaderMap::new(),
            wrong_audience_headers: HeaderMap::new(),
            wrong_scope_headers: HeaderMap::new(),
            card_keys: None,
            response_timeout: Duration::from_secs(10),
            delivery_timeout: Duration::from_secs(5),
            scale: 1.0,
            webhook_host: None,
            jobs: 8,
            repeat: 1,
            http: HttpClient::default(),
            anonymous_http: None,
        }
    }
}

/// Selection of checks.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Patterns of ids to include, like `send.*`; all if empty.
    pub run: Vec<String>,
    /// Patterns of ids to exclude.
    pub skip: Vec<String>,
    /// Levels to include; all if empty.
    pub levels: Vec<Level>,
}

impl Selection {
    /// Returns whether a check of this level is selected.
    pub fn wants(&self, id: &str, level: Level) -> bool {
        self.names(id) && (self.levels.is_empty() || self.levels.contains(&level))
    }

    /// Returns whether a check is selected by its id, regardless of its level.
    pub fn names(&self, id: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| is_like(pattern, id));
        (self.run.is_empty() || any(&self.run)) && !any(&self.skip)
    }
}

/// Reason why a run could not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The agent cannot be reached, or has no card.
    #[error("the agent cannot be tested: {0}")]
    Unreachable(String),
    /// The card offers no selected interface.
    #[error("the card offers no requested interface with an http or https URL: it offers {0}")]
    NoInterface(String),
    /// The selection contains no check.
    #[error("no check matches --run, --skip and --level: `a2a-conformance list` lists all checks")]
    NoCheckSelected,
    /// The run was stopped before the agent had answered.
    #[error("interrupted before anything was checked")]
    Interrupted,
    /// The suite itself is faulty.
    #[error("the suite is broken: {0}")]
    Broken(String),
}
