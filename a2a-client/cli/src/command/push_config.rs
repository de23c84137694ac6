//! `a2a push`.

use a2a_types::{AuthenticationInfo, TaskPushNotificationConfig};
use clap::{Args, Subcommand};

use crate::agent::AgentArgs;
use crate::exit::{Code, Failure};
use crate::secret::Secret;
use crate::show::{self, Screen};

/// Commands on the webhooks of a task.
#[derive(Subcommand)]
pub(crate) enum PushCommand {
    /// Register a URL that the agent notifies of a task's events.
    Set(Set),
    /// Show a webhook.
    Get(One),
    /// List the webhooks of a task.
    List(Task),
    /// Delete a webhook.
    Delete(One),
}

/// A task of an agent.
#[derive(Args)]
pub(crate) struct Task {
    #[command(flatten)]
    agent: AgentArgs,
    /// Id of the task.
    task: String,
}

/// A webhook of a task.
#[derive(Args)]
pub(crate) struct One {
    #[command(flatten)]
    of: Task,
    /// Id of the webhook. Default: the only one of the task.
    id: Option<String>,
}

/// Webhook to register, and the credentials that the agent sends to it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a push set https://agent.example 4f2c… https://me.example/hook --token '$HOOK_TOKEN'
  a2a push set https://agent.example 4f2c… https://me.example/hook --scheme Bearer --credentials @token.txt")]
pub(crate) struct Set {
    #[command(flatten)]
    of: Task,
    /// URL that the agent notifies.
    url: String,
    /// Id of the webhook. Default: chosen by the agent.
    #[arg(long)]
    id: Option<String>,
    /// Token that the agent sends with every notification: the token itself, `@FILE` or `$NAME`.
    #[arg(long)]
    token: Option<Secret>,
    /// Authentication scheme of the webhook, like `Bearer`.
    #[arg(long)]
    scheme: Option<String>,
    /// Credentials of that scheme: the text itself, `@FILE` or `$NAME`.
    #[arg(long, requires = "scheme")]
    credentials: Option<Secret>,
}

impl PushCommand {
    /// Returns the options that name the agent.
    pub(crate) fn agent(&self) -> &AgentArgs {
        match self {
            Self::Set(set) => &set.of.agent,
            Self::Get(one) | Self::Delete(one) => &one.of.agent,
            Self::List(task) => &task.agent,
        }
    }
}

pub(crate) async fn run(command: PushCommand, screen: &Screen) -> Result<Code, Failure> {
    match command {
        PushCommand::Set(set) => {
            let reveal = |secret: Secret| secret.reveal().to_owned();
            let credentials = set.credentials.map(reveal);
            let config = TaskPushNotificationConfig {
                id: set.id.unwrap_or_default().into(),
                task_id: set.of.task.into(),
                url: set.url,
                token: set.token.map(reveal),
                authentication: set.scheme.map(|scheme| AuthenticationInfo {
                    scheme,
                    credentials,
                }),
                ..TaskPushNotificationConfig::default()
            };
            let client = set.of.agent.connect().await?;
            show::webhook(screen, &client.create_push_config(config).await?)?;
        }
        PushCommand::Get(One { of, id }) => {
            let client = of.agent.connect().await?;
            let config = client.push_config(of.task, id.map(Into::into)).await?;
            show::webhook(screen, &config)?;
        }
        PushCommand::List(of) => {
            let client = of.agent.connect().await?;
            for config in client.push_configs(of.task).await? {
                show::webhook(screen, &config)?;
            }
        }
        PushCommand::Delete(One { of, id }) => {
            let client = of.agent.connect().await?;
            let id = match id {
                Some(id) => id.into(),
                None => client.push_config(of.task.clone(), None).await?.id,
            };
            client.delete_push_config(of.task, id).await?;
        }
    }
    Ok(Code::Done)
}
