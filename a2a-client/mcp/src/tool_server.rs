//! MCP servers whose tools a model may call.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use a2a_model::{Tool, ToolError, ToolOutput, Tools};
use a2a_types::Object;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ProtocolVersion};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::process::Command;
use tokio::sync::Mutex;

/// MCP server in a process of its own, whose tools a model may call.
///
/// The process is started when its tools are first listed, and again if it has ended. It is ended with this value.
///
/// ```no_run
/// use a2a_mcp::ToolServer;
/// use a2a_model::ModelAgent;
///
/// let files = ToolServer::new("npx", ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"]);
/// let agent = ModelAgent::new("http://127.0.0.1:11434/v1", "llama3.2").tools(files);
/// ```
pub struct ToolServer {
    program: OsString,
    arguments: Vec<OsString>,
    hidden: Vec<OsString>,
    running: Mutex<Option<RunningService<RoleClient, ()>>>,
}

impl ToolServer {
    /// Names the program to run, and its arguments.
    pub fn new(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            hidden: Vec::new(),
            running: Mutex::new(None),
        }
    }

    /// Hides a variable of the environment from the program, such as that of an API key.
    pub fn without_variable(mut self, name: impl Into<OsString>) -> Self {
        self.hidden.push(name.into());
        self
    }

    /// Returns the running server, and starts it if it does not run.
    async fn peer(&self) -> Result<Peer<RoleClient>, ToolError> {
        let mut running = self.running.lock().await;
        if let Some(server) = running
            .as_ref()
            .filter(|server| !server.is_transport_closed())
        {
            return Ok(server.peer().clone());
        }
        let program = self.program.to_string_lossy();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        for name in &self.hidden {
            command.env_remove(name);
        }
        let process = TokioChildProcess::new(command).map_err(|error| {
            ToolError::new(format!("`{program}` cannot be started")).with_source(error)
        })?;
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let starting = ().serve_with_lifecycle(process, lifecycle);
        let server = starting.await.map_err(|error| {
            ToolError::new(format!("`{program}` has ended, or does not speak MCP"))
                .with_source(error)
        })?;
        Ok(running.insert(server).peer().clone())
    }
}

/// Time within which a program must start and list its tools. Shorter than the default of `ModelAgent::tool_timeout`, whose
/// error does not name the program.
const LIST_TIMEOUT: Duration = Duration::from_secs(100);

impl Tools for ToolServer {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        async {
            let program = self.program.to_string_lossy();
            let listing = async {
                let listed = self.peer().await?.list_all_tools().await;
                listed.map_err(|error| {
                    ToolError::new(format!("`{program}` has not listed its tools"))
                        .with_source(error)
                })
            };
            let listed = tokio::time::timeout(LIST_TIMEOUT, listing).await;
            let listed = listed.map_err(|_| {
                let problem = format!("`{program}` has not listed its tools in {LIST_TIMEOUT:?}");
                ToolError::new(problem)
            })??;
            let tools = listed.into_iter().map(|tool| {
                let schema = serde_json::Value::Object((*tool.input_schema).clone());
                Tool::new(tool.name, tool.description.unwrap_or_default(), schema)
            });
            Ok(tools.collect())
        }
        .boxed()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Object,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async move {
            let peer = self.peer().await?;
            let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
            let result = peer.call_tool(request).await;
            let result = result.map_err(|error| match error {
                rmcp::ServiceError::McpError(error) => ToolError::new(error.message),
                error => {
                    let program = self.program.to_string_lossy();
                    ToolError::new(format!("the call of `{program}` failed")).with_source(error)
                }
            })?;
            let text = text(&result);
            Ok(match result.is_error {
                Some(true) => ToolOutput::error(text),
                _ => ToolOutput::new(text),
            })
        }
        .boxed()
    }
}

/// Returns the content of a result as text: of what is not text, its kind and size.
fn text(result: &CallToolResult) -> String {
    let mut texts: Vec<_> = result.content.iter().map(block_text).collect();
    if let (true, Some(data)) = (texts.is_empty(), &result.structured_content) {
        texts.push(data.to_string());
    }
    texts.join("\n")
}

fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!(
                "[{}, {} bytes in Base64]",
                image.mime_type,
                image.data.len()
            )
        }
        ContentBlock::Audio(audio) => {
            format!(
                "[{}, {} bytes in Base64]",
                audio.mime_type,
                audio.data.len()
            )
        }
        ContentBlock::Resource(resource) => match resource.get_text() {
            text if text.is_empty() => "[a file]".to_owned(),
            text => text,
        },
        ContentBlock::ResourceLink(link) => link.uri.clone(),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}
