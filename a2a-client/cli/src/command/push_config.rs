//! `a2a task push-config`.

use a2a_client::Client;
use a2a_types::{AuthenticationInfo, ErrorKind, TaskPushNotificationConfig};
use clap::{Args, Subcommand};
use serde_json::json;

use super::one_task::OneTask;
use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::secret::Secret;
use crate::show::{self, Screen};

/// Commands on the push notification configs of a task.
#[derive(Subcommand)]
pub(crate) enum PushConfigCommand {
    /// Register a URL that the agent notifies of a task's events.
    Create(Create),
    /// Show a config.
    Get(Named),
    /// List the configs of a task.
    List(OneTask),
    /// Delete a config.
    Delete(Named),
}

/// A config of a task.
#[derive(Args)]
pub(crate) struct Named {
    /// Id of the config. Default: the only one of the task.
    #[arg(long, alias = "id", value_name = "ID")]
    config_id: Option<String>,
    #[command(flatten)]
    one: OneTask,
}

/// URL to register, and the credentials that the agent sends to it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a task push-config create -a https://agent.example 4f2c… --url https://me.example/hook --token '$HOOK_TOKEN'
  a2a task push-config create -a https://agent.example 4f2c… --url https://me.example/hook --scheme Bearer \\
    --credentials @token.txt")]
pub(crate) struct Create {
    /// URL that the agent notifies.
    #[arg(long)]
    url: String,
    /// Id of the config. Default: chosen by the agent.
    #[arg(long, alias = "id", value_name = "ID")]
    config_id: Option<String>,
    /// Token that the agent sends with every notification: the token itself, `@FILE` or `$NAME`.
    #[arg(long)]
    token: Option<Secret>,
    /// Authentication scheme of the URL, like `Bearer`.
    #[arg(long)]
    scheme: Option<String>,
    /// Credentials of that scheme: the text itself, `@FILE` or `$NAME`.
    #[arg(long, requires = "scheme")]
    credentials: Option<Secret>,
    #[command(flatten)]
    one: OneTask,
}

impl PushConfigCommand {
    /// Returns the options that name the agent.
    pub(crate) fn agent(&self) -> &AgentArgs {
        match self {
            Self::Create(create) => &create.one.agent,
            Self::Get(named) | Self::Delete(named) => &named.one.agent,
            Self::List(one) => &one.agent,
        }
    }
}

pub(crate) async fn run(command: PushConfigCommand, screen: &Screen) -> Result<(), Failure> {
    match command {
        PushConfigCommand::Create(create) => {
            let (agent, task) = create.one.agent_and_task()?;
            let reveal = |secret: Secret| secret.reveal().to_owned();
            let credentials = create.credentials.map(reveal);
            let config = TaskPushNotificationConfig {
                id: create.config_id.unwrap_or_default().into(),
                task_id: task.into(),
                url: create.url,
                token: create.token.map(reveal),
                authentication: create.scheme.map(|scheme| AuthenticationInfo {
                    scheme,
                    credentials,
                }),
                ..TaskPushNotificationConfig::default()
            };
            let created = connect(&agent).await?.create_push_config(config).await?;
            print(screen, &created)
        }
        PushConfigCommand::Get(Named { one, config_id }) => {
            let (agent, task) = one.agent_and_task()?;
            let client = connect(&agent).await?;
            let config = client.push_config(task, config_id.map(Into::into)).await?;
            print(screen, &config)
        }
        PushConfigCommand::List(one) => {
            let (agent, task) = one.agent_and_task()?;
            let configs = connect(&agent).await?.push_configs(task).await?;
            if screen.json {
                return screen.value(&json!({ "configs": configs }));
            }
            configs
                .iter()
                .try_for_each(|config| show::push_config(screen, config))?;
            screen.field("Push configs", &configs.len().to_string())
        }
        PushConfigCommand::Delete(Named { one, config_id }) => {
            let (agent, task) = one.agent_and_task()?;
            let client = connect(&agent).await?;
            let id = match config_id {
                Some(id) => id.into(),
                None => client.push_config(task.clone(), None).await?.id,
            };
            client.delete_push_config(task.clone(), id.clone()).await?;
            if screen.json {
                return screen.value(&json!({}));
            }
            screen.field("Task", &task)?;
            screen.field("Deleted", id.as_str())
        }
    }
}

/// Connects to an agent whose card says that it sends push notifications.
async fn connect(agent: &AgentArgs) -> Result<Client, Failure> {
    let client = agent.connect().await?;
    let can = client
        .card()
        .map(|card| card.capabilities.push_notifications);
    match can {
        Some(Some(true)) | None => Ok(client),
        Some(_) => Err(Failure::Refused {
            kind: ErrorKind::PushNotificationNotSupported,
            problem: "the agent sends no push notifications, as its card says".to_owned(),
            hint: format!("poll: a2a task get {} --wait TASK", agent.as_option()),
        }),
    }
}

fn print(screen: &Screen, config: &TaskPushNotificationConfig) -> Result<(), Failure> {
    match screen.json {
        true => screen.value(config),
        false => show::push_config(screen, config),
    }
}
