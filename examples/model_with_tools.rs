//! An agent over a language model, which may use the tools of an MCP server and a tool of its own.
//!
//! ```console
//! $ cargo run --example model_with_tools -- http://127.0.0.1:11434/v1 llama3.2 127.0.0.1:8080 npx -y @modelcontextprotocol/server-filesystem .
//! $ a2a chat http://127.0.0.1:8080
//! ```
//!
//! The arguments are the URL of the model's service, the name of the model, the address to listen at and, optionally, the
//! program of an MCP server with its arguments.

use agent2agent::mcp::ToolServer;
use agent2agent::model::{FunctionTool, ModelAgent};
use agent2agent::{AgentCard, Server};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [base_url, name, address, server @ ..] = &arguments[..] else {
        return Err("expected the URL of a service, the name of a model, and an address".into());
    };
    let nothing = json!({"type": "object", "properties": {}});
    let time = FunctionTool::new(
        "unix_time",
        "The time in seconds since 1970",
        nothing,
        async |_| {
            let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
            Ok(since.as_secs().to_string())
        },
    );
    let mut model = ModelAgent::new(base_url, name)
        .system("You are a helpful assistant. Use the tools.")
        .tools(time);
    if let [program, arguments @ ..] = server {
        model = model.tools(ToolServer::new(program, arguments));
    }
    let card = AgentCard::new("Helper", "Answers questions with tools");
    let bound = Server::builder(card, model).build()?.bind(address).await?;
    println!("{}", bound.url());
    Ok(bound.run(std::future::pending()).await?)
}
