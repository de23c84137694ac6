//! The bridge: its agents and its settings.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::Client;
use a2a_types::Timestamp;
use futures_util::FutureExt;
use lru::LruCache;
use rmcp::model::RequestStateCodec;
use tokio::sync::Semaphore;

use crate::agents::{Agent, Agents, BoxError};
use crate::call::Calls;
use crate::question::Answered;
use crate::tool;

/// MCP server whose tools are the skills of A2A agents.
///
/// Conversations and tasks are named by the ids that the agents gave them: they go on after a restart.
pub struct Bridge {
    pub(crate) agents: Agents,
    pub(crate) calls: Calls,
    pub(crate) grace: Duration,
    pub(crate) states: RequestStateCodec,
    /// Notes on the latest tasks of MCP, by their handles.
    pub(crate) notes: Mutex<LruCache<String, TaskNote>>,
    /// Permits for sessions of clients of 2025-11-25.
    pub(crate) sessions: Arc<Semaphore>,
}

/// Facts about a task of MCP that its agent does not store.
#[derive(Clone, Default)]
pub(crate) struct TaskNote {
    /// Time at which it was begun.
    pub(crate) begun: Option<Timestamp>,
    /// Key of the question that the user has declined.
    pub(crate) declined: Option<String>,
    /// Question that the user has answered.
    pub(crate) answered: Option<Answered>,
}

/// Settings of a [`Bridge`].
pub struct BridgeBuilder {
    agents: Agents,
    grace: Duration,
    key: Option<Vec<u8>>,
}

impl Bridge {
    /// Returns the settings of a bridge without agents.
    pub fn builder() -> BridgeBuilder {
        BridgeBuilder {
            agents: Agents::default(),
            grace: DEFAULT_GRACE,
            key: None,
        }
    }
}

impl BridgeBuilder {
    /// Adds an agent. `place`, its URL, names it in errors. Keep it the same after a restart: handles of tasks and states
    /// of questions depend on it. The agent is connected when it is first needed, and again while that fails.
    pub fn agent<F>(
        mut self,
        place: impl Into<String>,
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Client, BoxError>> + Send + 'static,
    {
        let connect = Box::new(move || connect().boxed());
        let (place, agents) = (place.into(), &mut self.agents.agents);
        let is_taken = |key: &str| agents.iter().any(|agent| agent.key == key);
        let key = tool::unique(&tool::hash(&place), is_taken);
        agents.push(Agent::new(place, key, connect));
        self
    }

    /// Sets the time after which a tool call becomes a task of MCP, if the client knows tasks. Default: 5 s.
    pub fn grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }

    /// Sets the key that signs the state of questions, at least 32 secret bytes. By default it is made up at the start, and
    /// questions are not answered after a restart.
    pub fn state_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Returns the bridge. Errors: the key is too short.
    pub fn build(self) -> Result<Bridge, InvalidStateKey> {
        let key = self.key.unwrap_or_else(|| {
            let halves = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()];
            halves.iter().flat_map(|half| half.into_bytes()).collect()
        });
        Ok(Bridge {
            agents: self.agents,
            grace: self.grace,
            states: RequestStateCodec::try_new(key).map_err(|_| InvalidStateKey)?,
            notes: Mutex::new(LruCache::new(MAX_NOTES)),
            sessions: Arc::new(Semaphore::new(MAX_SESSIONS)),
            calls: Calls::default(),
        })
    }
}

/// The key that signs the state of questions is too short.
#[derive(Debug, thiserror::Error)]
#[error(
    "the key has too few bytes: expected {} or more",
    RequestStateCodec::MIN_KEY_LENGTH
)]
pub struct InvalidStateKey;

const DEFAULT_GRACE: Duration = Duration::from_secs(5);

/// Number of sessions at the same time.
const MAX_SESSIONS: usize = 1024;

/// Number of tasks that are remembered.
const MAX_NOTES: std::num::NonZeroUsize = std::num::NonZeroUsize::new(1024).unwrap();
