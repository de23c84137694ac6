//! An agent over a language model: `a2a serve model`.

#[cfg(feature = "mcp")]
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "mcp")]
use a2a_mcp::ToolServer;
use a2a_model::{Api, ModelAgent};
use a2a_types::extension::trpc::Version;
use a2a_types::{AgentCard, AgentSkill};
use clap::{Args, ValueEnum};

use crate::connection::read_duration;
use crate::failure::Failure;

/// Options of an agent over a language model.
#[derive(Args)]
pub(crate) struct ModelOptions {
    /// Base URL of the model's service, like `http://127.0.0.1:11434/v1`.
    #[arg(
        long,
        value_name = "URL",
        required_if_eq("agent", "model"),
        conflicts_with = "exec"
    )]
    base_url: Option<String>,
    /// Name of the model, as its service has it.
    #[arg(
        long,
        value_name = "NAME",
        required_if_eq("agent", "model"),
        requires = "base_url"
    )]
    model: Option<String>,
    /// File with the system text: instructions that precede each conversation.
    #[arg(long, value_name = "FILE", requires = "base_url")]
    system: Option<PathBuf>,
    /// Variable of the environment that has the API key of the service. Default: no key is sent.
    #[arg(long, value_name = "NAME", requires = "base_url")]
    api_key_env: Option<String>,
    /// Let the model use the tools of an MCP server: the program and its arguments, quoted as for a shell. May be repeated.
    #[cfg(feature = "mcp")]
    #[arg(long = "mcp", value_name = "COMMAND", requires = "base_url")]
    mcp: Vec<String>,
    /// API of the service.
    #[arg(
        long,
        value_enum,
        default_value = "chat-completions",
        requires = "base_url"
    )]
    api: ApiName,
    /// Pass images to the model. By default it gets a note that there is one.
    #[arg(long, requires = "base_url")]
    images: bool,
    /// Pass files to the model. By default it gets a note that there is one.
    #[arg(long, requires = "base_url")]
    files: bool,
    /// Bytes of an answer, after which it is cut off and the task fails.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, requires = "base_url")]
    max_output: usize,
    /// Bytes of the conversation so far that the model gets with a message; the oldest messages are left out first.
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 10, requires = "base_url")]
    max_history: usize,
    /// Time for which the service may be silent, like 5m: services that load a model first may need more.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = read_duration, requires = "base_url")]
    silence: Duration,
}

/// Name of an API.
#[derive(Clone, Copy, ValueEnum)]
enum ApiName {
    /// `POST {base}/chat/completions`: vLLM, Ollama, llama.cpp, and nearly every hosted service.
    ChatCompletions,
    /// `POST {base}/responses`, without state at the service.
    Responses,
}

impl ModelOptions {
    /// Returns the card and the agent.
    pub(crate) fn agent(&self) -> Result<(AgentCard, ModelAgent), Failure> {
        let (Some(base_url), Some(model)) = (&self.base_url, &self.model) else {
            return Err(Failure::usage(
                "`a2a serve model`: expected --base-url and --model",
            ));
        };
        let mut agent = ModelAgent::new(base_url, model)
            .api(match self.api {
                ApiName::ChatCompletions => Api::ChatCompletions,
                ApiName::Responses => Api::Responses,
            })
            .images(self.images)
            .files(self.files)
            .max_output_bytes(self.max_output)
            .history_bytes(self.max_history)
            .silence(self.silence);
        if let Some(file) = &self.system {
            let place = format!("--system {}", file.display());
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| {
                Failure::usage(format!("{place}: {error}; expected a file of text"))
            })?;
            agent = agent.system(text);
        }
        if let Some(name) = &self.api_key_env {
            let key = std::env::var(name)
                .map_err(|error| Failure::usage(format!("--api-key-env {name}: {error}")))?;
            agent = agent.api_key(key.trim());
        }
        #[cfg(feature = "mcp")]
        for command in &self.mcp {
            let mut server = tool_server(command)?;
            for name in secret_variables(self.api_key_env.as_deref()) {
                server = server.without_variable(name);
            }
            agent = agent.tools(server);
        }
        let checked = agent.check();
        checked.map_err(|error| Failure::usage(error.to_string()))?;
        Ok((card(model), agent))
    }

    /// Checks that the options of a model are not given to another agent.
    pub(crate) fn check_unused(&self) -> Result<(), Failure> {
        match &self.base_url {
            Some(_) => Err(Failure::usage(
                "--base-url: only `a2a serve model` calls a language model",
            )),
            None => Ok(()),
        }
    }
}

/// Returns the environment variables that tool programs do not inherit: the settings of `a2a`, and the API key.
#[cfg(feature = "mcp")]
fn secret_variables(api_key: Option<&str>) -> impl Iterator<Item = OsString> {
    let own = std::env::vars_os().map(|(name, _)| name);
    let own = own.filter(|name| name.to_string_lossy().starts_with("A2ACLI_"));
    own.chain(api_key.map(OsString::from))
}

#[cfg(feature = "mcp")]
fn tool_server(command: &str) -> Result<ToolServer, Failure> {
    let words = shlex::split(command).unwrap_or_default();
    let mut words = words.into_iter();
    let expected = || {
        let problem = "expected a program and its arguments, with each quotation mark closed";
        Failure::usage(format!("--mcp '{command}': {problem}"))
    };
    Ok(ToolServer::new(words.next().ok_or_else(expected)?, words))
}

fn card(model: &str) -> AgentCard {
    let name = model.rsplit('/').next().unwrap_or(model);
    let does = format!("Answers with the language model {model}");
    let mut card = AgentCard::new(name, &*does)
        .streaming(true)
        .skills([AgentSkill::new("answer", "Answer", &*does).tags(["language model"])]);
    // Callers may see reasoning and tool calls.
    Version::CURRENT.declare(&mut card);
    card
}
