//! Agents of a bridge, and the tools that they are.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use a2a_client::{Client, causes};
use a2a_types::{AgentCard, AgentInterface, AgentSkill, Object, ProtocolVersion};
use futures_util::future::{BoxFuture, join_all};
use rmcp::model::Tool;
use tokio::sync::OnceCell;

use crate::tool;

/// Error of a connection to an agent.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Connects to an agent.
pub(crate) type Connect =
    Box<dyn Fn() -> BoxFuture<'static, Result<Client, BoxError>> + Send + Sync>;

/// Agent that is connected when it is first needed, and again while that fails.
pub(crate) struct Agent {
    /// URL, or another name by which a user knows it.
    pub(crate) place: String,
    /// Names the agent in handles of tasks and in states of questions, after a restart, too.
    pub(crate) key: String,
    connect: Connect,
    client: OnceCell<Client>,
    /// Name in tools, kept once it is given: tools must not change their agent while the bridge runs.
    name: OnceLock<String>,
}

impl Agent {
    pub(crate) fn new(place: String, key: String, connect: Connect) -> Self {
        Self {
            place,
            key,
            connect,
            client: OnceCell::new(),
            name: OnceLock::new(),
        }
    }
}

/// Agents of a bridge.
#[derive(Default)]
pub(crate) struct Agents {
    pub(crate) agents: Vec<Agent>,
    naming: Mutex<()>,
}

/// Agents that are connected, and their tools in the order of the agents and of their cards.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) entries: Vec<Entry>,
    pub(crate) agents: Vec<ConnectedAgent>,
    /// Agents that cannot be reached: sentences for the caller.
    pub(crate) missing: Vec<String>,
}

/// Agent that is connected.
#[derive(Clone)]
pub(crate) struct ConnectedAgent {
    /// Name of the agent in tools.
    name: String,
    /// Key of the [`Agent`].
    pub(crate) key: String,
    pub(crate) client: Client,
    card: Arc<AgentCard>,
}

impl ConnectedAgent {
    /// Returns whether the agent is called in 0.1.
    pub(crate) fn is_of_0_1(&self) -> bool {
        let first = self.card.supported_interfaces.first();
        first.and_then(AgentInterface::protocol_version) == Some(ProtocolVersion::V0_1)
    }
}

/// A tool, and the skill that it is.
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    pub(crate) agent: ConnectedAgent,
    pub(crate) skill: Option<AgentSkill>,
}

impl Entry {
    /// Returns the schema of the skill's input, if its card has one.
    pub(crate) fn schema(&self) -> Option<&Object> {
        tool::skill_schema(&self.agent.card, self.skill.as_ref()?)
    }
}

impl Agents {
    /// Returns a connected agent with its name: that of its card, with a number if another agent has it.
    fn named(&self, agent: &Agent, client: Client) -> ConnectedAgent {
        let card = client.card().unwrap_or_default();
        let naming = self.naming.lock().unwrap_or_else(PoisonError::into_inner);
        let is_taken = |name: &str| {
            let mut names = self.agents.iter().filter_map(|agent| agent.name.get());
            names.any(|taken| taken == name)
        };
        let name = agent
            .name
            .get_or_init(|| tool::unique(&tool::slug(&card.name), is_taken));
        drop(naming);
        ConnectedAgent {
            name: name.clone(),
            key: agent.key.clone(),
            client,
            card,
        }
    }
}

impl Catalog {
    /// Lists the tools of the agents that are connected.
    pub(crate) fn known(agents: &Agents) -> Self {
        let mut catalog = Self::default();
        for agent in &agents.agents {
            if let Some(client) = agent.client.get() {
                catalog.add(agents.named(agent, client.clone()));
            }
        }
        catalog
    }

    /// Connects the agents that are not, and lists the tools of all that are.
    pub(crate) async fn of(agents: &Agents) -> Self {
        let connecting = agents.agents.iter().map(async |agent| {
            let connecting = agent.client.get_or_try_init(|| (agent.connect)());
            match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
                Ok(Ok(client)) => Ok(client.clone()),
                Ok(Err(error)) => Err(format!("{}: {}", agent.place, causes(&*error))),
                Err(_) => Err(format!(
                    "{}: no answer within {CONNECT_TIMEOUT:?}",
                    agent.place
                )),
            }
        });
        let mut catalog = Self::default();
        for (agent, connected) in agents.agents.iter().zip(join_all(connecting).await) {
            match connected {
                Ok(client) => catalog.add(agents.named(agent, client)),
                Err(problem) => catalog.missing.push(problem),
            }
        }
        catalog
    }

    /// Returns the tool with a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.tool.name == name)
    }

    fn add(&mut self, agent: ConnectedAgent) {
        match agent.card.skills.is_empty() {
            true => self.add_tool(&agent, None),
            false => agent
                .card
                .skills
                .iter()
                .for_each(|skill| self.add_tool(&agent, Some(skill))),
        }
        self.agents.push(agent);
    }

    fn add_tool(&mut self, agent: &ConnectedAgent, skill: Option<&AgentSkill>) {
        let name = match skill {
            Some(skill) => format!("{}_{}", agent.name, tool::slug(&skill.id)),
            None => agent.name.clone(),
        };
        let is_taken = |name: &str| self.entries.iter().any(|entry| entry.tool.name == name);
        let name = tool::unique(&name, is_taken);
        self.entries.push(Entry {
            tool: tool::tool(name, &agent.card, skill),
            agent: agent.clone(),
            skill: skill.cloned(),
        });
    }
}

/// Time within which an agent must answer with its card.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
