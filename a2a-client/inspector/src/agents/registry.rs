//! Registry of the connected agents.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_client::{Client, HttpClientBuilder};
use bytes::Bytes;
use serde_json::json;

use super::connection::{connect, has_login};
use super::saved::SavedSettings;
use super::settings::{Preferences, Settings};
use crate::capture::{Capture, captured};
use crate::changes::Changes;
use crate::problem::Problem;
use crate::wire::ExchangeLog;

/// The agents that are connected, and the settings that are saved. Clones share them.
#[derive(Clone)]
pub(crate) struct Agents(Arc<Registry>);

struct Registry {
    next: AtomicU64,
    connected: Mutex<Vec<Arc<ConnectedAgent>>>,
    saved: SavedSettings,
    exchanges: ExchangeLog,
    changes: Changes,
}

/// An agent that is connected.
pub(crate) struct ConnectedAgent {
    pub(crate) id: String,
    pub(crate) settings: Settings,
    pub(crate) client: Client,
    /// Its card as received, unless it was connected without one.
    pub(crate) card: Option<Bytes>,
}

impl Agents {
    /// Creates an empty registry, with the settings that the file has.
    pub(crate) fn new(file: Option<PathBuf>, exchanges: ExchangeLog, changes: Changes) -> Self {
        Self(Arc::new(Registry {
            next: AtomicU64::new(1),
            connected: Mutex::default(),
            saved: SavedSettings::of(file),
            exchanges,
            changes,
        }))
    }

    /// Connects to an agent. The settings are saved if they ask for it.
    pub(crate) async fn connect(&self, settings: Settings) -> Result<Arc<ConnectedAgent>, Problem> {
        if settings.url.trim().is_empty() {
            return Err(Problem::bad_request("the URL of the agent is missing"));
        }
        if has_login(&settings.url) {
            return Err(Problem::bad_request(
                "the URL has a name or password: give them as `basic`, which is kept secret",
            ));
        }
        check_room(&self.connected())?;
        let id = self.0.next.fetch_add(1, Ordering::Relaxed).to_string();
        let agent = self.open(id, settings).await?;
        {
            let mut connected = self.connected();
            check_room(&connected)?;
            connected.push(Arc::clone(&agent));
        }
        self.changed();
        if agent.settings.save {
            self.0.saved.put(agent.settings.without_secrets())?;
        }
        Ok(agent)
    }

    /// Connects to an agent again, with the secrets that it has, and reads its card again. If that fails, the agent
    /// stays as it was.
    pub(crate) async fn reconnect(
        &self,
        id: &str,
        preferences: Preferences,
    ) -> Result<Arc<ConnectedAgent>, Problem> {
        let settings = preferences.of(&self.find(id)?.settings);
        let agent = self.open(id.to_owned(), settings).await?;
        {
            let mut connected = self.connected();
            let place = connected.iter_mut().find(|agent| agent.id == id);
            *place.ok_or_else(|| no_agent(id))? = Arc::clone(&agent);
        }
        self.changed();
        Ok(agent)
    }

    async fn open(&self, id: String, settings: Settings) -> Result<Arc<ConnectedAgent>, Problem> {
        let http = settings
            .http()?
            .wire_observer(Arc::new(self.0.exchanges.observer(&id)))
            .wire_observer(Arc::new(Capture));
        let (client, card) = captured(connect(&settings, http, &self.0.changes)).await;
        let client = client.map_err(|problem| match &card {
            Some(card) => problem.unread_card(card),
            None => problem,
        })?;
        Ok(Arc::new(ConnectedAgent {
            id,
            client,
            card: card.filter(|_| !settings.no_card),
            settings,
        }))
    }

    /// Returns the agent of this id.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<ConnectedAgent>, Problem> {
        let connected = self.connected();
        let found = connected.iter().find(|agent| agent.id == id).cloned();
        found.ok_or_else(|| no_agent(id))
    }

    /// Returns all agents, in the order in which they were connected.
    pub(crate) fn all(&self) -> Vec<Arc<ConnectedAgent>> {
        self.connected().clone()
    }

    /// Forgets an agent. Its calls go on.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Problem> {
        let mut connected = self.connected();
        let index = connected.iter().position(|agent| agent.id == id);
        connected.remove(index.ok_or_else(|| no_agent(id))?);
        drop(connected);
        self.changed();
        Ok(())
    }

    /// Returns the settings that are saved.
    pub(crate) fn saved(&self) -> Vec<Settings> {
        self.0.saved.all()
    }

    /// Deletes the saved settings of a URL.
    pub(crate) fn remove_saved(&self, url: &str) -> Result<(), Problem> {
        self.0.saved.remove(url)?;
        self.changed();
        Ok(())
    }

    fn changed(&self) {
        self.0.changes.send("agents", &json!({}));
    }

    fn connected(&self) -> MutexGuard<'_, Vec<Arc<ConnectedAgent>>> {
        // Every change is one insertion or removal, so a panic elsewhere leaves the list whole.
        self.0
            .connected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectedAgent {
    /// Returns a builder of HTTP clients that connect like the agent's own, and are not observed.
    pub(crate) fn http(&self) -> Result<HttpClientBuilder, Problem> {
        Ok(self.settings.http()?)
    }
}

fn check_room(connected: &[Arc<ConnectedAgent>]) -> Result<(), Problem> {
    match connected.len() < MAX_AGENTS {
        true => Ok(()),
        false => Err(Problem::conflict(format!(
            "{MAX_AGENTS} agents are connected, and no more can be: remove one"
        ))),
    }
}

fn no_agent(id: &str) -> Problem {
    Problem::not_found(format!("no agent `{id}` is connected"))
}

/// Agents that are connected at once.
pub(crate) const MAX_AGENTS: usize = 64;
