//! `a2a auth`.

use a2a_types::Timestamp;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::login::{Flow, Login, StoredToken, StoredTokens};
use crate::redaction::hide;
use crate::show::Screen;

/// Commands on the tokens for agents.
#[derive(Subcommand)]
pub(crate) enum AuthCommand {
    /// Log in to an agent by OAuth 2.0 or OpenID Connect, and store the token for later calls of it.
    Login(LoginOptions),
    /// Show the agents that tokens are stored for, and until when these are valid.
    Status,
    /// Forget the stored token for an agent.
    Logout(LogoutOptions),
}

/// Agent to log in to, and the client that logs in.
#[derive(Args)]
#[command(after_help = "\
The card of the agent names the authorization server, and the flows that it offers. The token is stored in \
~/.config/a2a-cli/tokens.json, which only you can read, and later commands send it to the origin of this agent and \
nowhere else. It is renewed by its refresh token, if the server gives one.

Examples:
  a2a auth login -a https://agent.example --client-id cli
  a2a auth login -a https://agent.example --client-id cli --flow authorization-code
  A2ACLI_CLIENT_SECRET=… a2a auth login -a https://agent.example --client-id ci --flow client-credentials
  a2a auth status
  a2a auth logout -a https://agent.example")]
pub(crate) struct LoginOptions {
    #[arg(value_name = "URL", hide = true)]
    reference: Option<String>,
    /// Flow to log in by. Default: client-credentials if there is a client secret, else device-code, else authorization-code,
    /// as the card offers them.
    #[arg(long, value_enum)]
    flow: Option<Flow>,
    /// Id of this program at the authorization server.
    #[arg(long, value_name = "ID")]
    client_id: String,
    /// Secret of this program, if it has one. Other users of this machine can see options: A2ACLI_CLIENT_SECRET is safer.
    #[arg(long, value_name = "SECRET")]
    client_secret: Option<String>,
    /// Log in at this issuer, in place of the authorization server that the card names.
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// Request this scope, in place of the scopes on the card; may be repeated.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Agent to forget the token for.
#[derive(Args)]
pub(crate) struct LogoutOptions {
    #[arg(value_name = "URL", hide = true)]
    reference: Option<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

impl AuthCommand {
    pub(crate) fn agent(&self) -> Option<&AgentArgs> {
        match self {
            Self::Login(options) => Some(&options.agent),
            Self::Logout(options) => Some(&options.agent),
            Self::Status => None,
        }
    }
}

pub(crate) async fn run(command: AuthCommand, screen: &Screen) -> Result<(), Failure> {
    match command {
        AuthCommand::Login(options) => login(options, screen).await,
        AuthCommand::Status => status(screen),
        AuthCommand::Logout(options) => logout(options, screen).await,
    }
}

async fn login(options: LoginOptions, screen: &Screen) -> Result<(), Failure> {
    let agent = options.agent.or(options.reference);
    options.client_secret.iter().for_each(|secret| hide(secret));
    let found = agent.find_card().await?;
    let login = Login {
        client_id: options.client_id,
        client_secret: options.client_secret,
        flow: options.flow,
        issuer: options.issuer,
        scopes: options.scopes,
    };
    // Before a user logs in for nothing.
    StoredTokens::read()?;
    let origin = agent.origin(&found.card)?;
    let http = agent.login_http()?;
    let token = login.run(&found.card, &origin, &http).await?;
    let expires_at = token.expires_at;
    let scheme = token.scheme.clone();
    let path = StoredTokens::put(token)?;
    let path = path.display().to_string();
    if screen.json {
        return screen.value(&json!({
            "agent": origin.to_string(), "scheme": scheme, "expiresAt": expires_at, "file": path,
        }));
    }
    screen.field("Agent", &origin.to_string())?;
    if let Some(scheme) = scheme {
        screen.field("Scheme", &scheme)?;
    }
    screen.field("Expires", &end(expires_at))?;
    screen.field("Stored in", &path)
}

fn end(expires_at: Option<Timestamp>) -> String {
    expires_at.map_or_else(|| "unknown".to_owned(), |end| end.to_string())
}

fn status(screen: &Screen) -> Result<(), Failure> {
    let stored = StoredTokens::read()?;
    let is_usable = |token: &StoredToken| token.is_valid() || token.refresh_token.is_some();
    if screen.json {
        let tokens: Vec<_> = stored
            .tokens
            .iter()
            .map(|token| {
                json!({
                    "agent": token.agent, "scheme": token.scheme, "expiresAt": token.expires_at,
                    "renewable": token.refresh_token.is_some(), "usable": is_usable(token),
                })
            })
            .collect();
        return screen.value(&json!({ "tokens": tokens }));
    }
    for token in &stored.tokens {
        let until = match (token.is_valid(), &token.refresh_token) {
            (_, Some(_)) => "renewed when it has to be".to_owned(),
            (true, None) => format!("valid until {}", end(token.expires_at)),
            (false, None) => "expired".to_owned(),
        };
        screen.field("Agent", &format!("{}, {until}", token.agent))?;
    }
    match stored.tokens.is_empty() {
        true => screen.line("There are no stored tokens."),
        false => Ok(()),
    }
}

async fn logout(options: LogoutOptions, screen: &Screen) -> Result<(), Failure> {
    let agent = options.agent.or(options.reference);
    let origin = match agent.named_origin()? {
        Some(origin) => origin,
        None => agent.origin(&agent.find_card().await?.card)?,
    };
    let was_there = StoredTokens::remove(&origin.to_string())?;
    if screen.json {
        return screen.value(&json!({"agent": origin.to_string(), "removed": was_there}));
    }
    let token = if was_there {
        "forgotten"
    } else {
        "none was stored"
    };
    screen.field("Agent", &origin.to_string())?;
    screen.field("Token", token)
}
