//! An editor that speaks MCP with a bridge, and agents to call.

use std::time::Duration;

use a2a_client::Client;
use a2a_mcp::{Bridge, BridgeBuilder};
use a2a_server::demo::Reference;
use a2a_server::{Agent, Server};
use a2a_types::AgentCard;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// Limit of each wait.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Editor connected with a bridge by a stream in memory.
pub(crate) struct Editor {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    /// Metadata of each request; `None` for a version that has a handshake in place of it.
    meta: Option<Value>,
    last_id: u64,
    /// Notifications that came before the last response.
    pub(crate) notifications: Vec<Value>,
}

/// Returns the capabilities of an editor that shows forms and pages, and knows tasks.
pub(crate) fn everything() -> Value {
    json!({
        "elicitation": {"form": {}, "url": {}},
        "extensions": {"io.modelcontextprotocol/tasks": {}}
    })
}

/// Returns a bridge to the reference agent, and a client of the same agent.
pub(crate) fn reference() -> (BridgeBuilder, Client) {
    bridge_to(Reference::card(), Reference)
}

/// Returns a bridge to an agent, and a client of the same agent.
pub(crate) fn bridge_to(card: AgentCard, agent: impl Agent) -> (BridgeBuilder, Client) {
    let client = client_of(card, agent);
    let bridged = client.clone();
    let connect = move || {
        let client = bridged.clone();
        async move { Ok(client) }
    };
    (Bridge::builder().agent("agent", connect), client)
}

/// Returns a client of an agent in this process.
pub(crate) fn client_of(card: AgentCard, agent: impl Agent) -> Client {
    let server = Server::builder(card.clone(), agent)
        .build()
        .expect("the server is built");
    Client::with_card(server, card.into())
}

impl Editor {
    /// Starts an editor of MCP 2026-07-28.
    pub(crate) fn start(bridge: BridgeBuilder, capabilities: Value) -> Self {
        let mut editor = Self::connect(bridge);
        editor.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "editor", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities
        }));
        editor
    }

    /// Starts an editor of MCP 2025-11-25, which shakes hands first.
    pub(crate) async fn start_older(bridge: BridgeBuilder, capabilities: Value) -> Self {
        let mut editor = Self::connect(bridge);
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "editor", "version": "1"}
        });
        let welcome = editor.request("initialize", hello).await;
        assert_eq!(welcome["result"]["protocolVersion"], "2025-11-25");
        editor
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        editor
    }

    fn connect(bridge: BridgeBuilder) -> Self {
        let bridge = bridge.build().expect("the bridge is built");
        let (here, there) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(there);
        tokio::spawn(bridge.serve(input, output, std::future::pending()));
        let (input, output) = tokio::io::split(here);
        Self {
            lines: BufReader::new(input).lines(),
            output,
            meta: None,
            last_id: 0,
            notifications: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.output
            .write_all(line.as_bytes())
            .await
            .expect("the bridge reads");
    }

    /// Returns the next message of the bridge.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await;
        let line = line
            .expect("a message comes in time")
            .expect("the bridge writes");
        serde_json::from_str(&line.expect("the bridge goes on")).expect("a line is JSON")
    }

    /// Sends a request, and returns its id.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if let Some(meta) = &self.meta {
            let mut meta = meta.clone();
            if let (Some(meta), Some(own)) = (meta.as_object_mut(), params["_meta"].as_object()) {
                meta.extend(own.clone());
            }
            params["_meta"] = meta;
        }
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// Returns the response to a request, and keeps the notifications before it.
    pub(crate) async fn end(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            assert!(message.get("id").is_none(), "unexpected: {message}");
            self.notifications.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.end(id).await
    }

    /// Calls the tool of the reference agent with a message, and returns the result.
    pub(crate) async fn call(&mut self, message: &str) -> Value {
        self.call_with(json!({"message": message})).await
    }

    pub(crate) async fn call_with(&mut self, arguments: Value) -> Value {
        let params = json!({"name": TOOL, "arguments": arguments});
        let response = self.request("tools/call", params).await;
        assert!(response.get("result").is_some(), "{response}");
        response["result"].clone()
    }
}

/// Tool of the reference agent.
pub(crate) const TOOL: &str = "reference_reference";

/// Returns the texts in a result, a line each.
#[track_caller]
pub(crate) fn text(result: &Value) -> String {
    let content = result["content"].as_array();
    let content = content.unwrap_or_else(|| panic!("no content: {result}"));
    let texts: Vec<_> = content
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}

/// Returns an id that the metadata of a result has.
#[track_caller]
pub(crate) fn id(result: &Value, name: &str) -> String {
    let id = result["_meta"]["github.com/a2a-rust/a2a"][name].as_str();
    id.unwrap_or_else(|| panic!("no {name}: {result}"))
        .to_owned()
}
