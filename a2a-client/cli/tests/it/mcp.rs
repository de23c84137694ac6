//! `a2a mcp`, and the tools of `a2a serve model --mcp`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use a2a_mcp::ToolServer;
use a2a_model::Tools;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, a2a, check};

/// Editor that runs `a2a mcp`.
struct Editor {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn start(arguments: &[&str]) -> Self {
        let mut process = a2a()
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let input = process.stdin.take();
        Self {
            process,
            input,
            output,
        }
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "editor", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        response["result"].clone()
    }

    /// Returns the names of the tools.
    fn tools(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    fn call(&mut self, tool: &str, message: &str) -> String {
        let arguments = json!({"name": tool, "arguments": {"message": message}});
        let result = self.request("tools/call", arguments);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the input, and returns the exit code.
    fn close(mut self) -> Option<i32> {
        self.input = None;
        self.process.wait().unwrap().code()
    }
}

#[test]
fn an_agent_is_a_tool_in_each_of_its_versions() {
    let agent = Agent::named("reference");
    for version in ["0.1", "0.2", "0.3", "1.0", "auto"] {
        let mut editor = Editor::start(&["--a2a-version", version, &agent.url]);
        assert_eq!(editor.tools(), ["reference_reference"], "{version}");
        let answer = editor.call("reference_reference", "echo hello");
        assert_eq!(answer, "hello", "{version}");
        assert_eq!(editor.close(), Some(0));
    }
}

#[test]
fn each_agent_has_its_own_credentials() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    std::fs::write(&keys, "a-key-of-the-test-0123456789 ann\n").unwrap();
    let keys = keys.to_str().unwrap();
    let closed = Agent::begin(&[
        "reference",
        "--address",
        "127.0.0.1:0",
        "--api-key-file",
        keys,
    ]);
    let open = Agent::named("joke");
    let settings = directory.path().join("closed.env");
    let lines = format!(
        "A2ACLI_AGENT_CARD={}\nA2ACLI_API_KEY=a-key-of-the-test-0123456789\n",
        closed.url
    );
    std::fs::write(&settings, lines).unwrap();
    let mut editor = Editor::start(&[settings.to_str().unwrap(), &open.url]);
    assert_eq!(editor.tools(), ["reference_reference", "joker_joke"]);
    assert_eq!(editor.call("reference_reference", "echo hello"), "hello");
    // Without the key.
    let mut editor = Editor::start(&[&closed.url]);
    let refused = editor.call("reference_reference", "echo hello");
    assert!(refused.contains("401"), "{refused}");
}

#[test]
fn wrong_arguments_are_explained() {
    let two = [
        "mcp",
        "http://a.example",
        "http://b.example",
        "--bearer",
        "t",
    ];
    check(&two, 2, &["are for one agent", "travel.env"]);
    check(&["mcp"], 2, &["no agent"]);
    check(&["mcp", "http://ann:secret@a.example"], 2, &["--basic"]);
    let open = ["mcp", "http://a.example", "--http", "0.0.0.0:0"];
    check(&open, 2, &["--open", "others than this machine"]);
    check(&["mcp", "nowhere.env"], 2, &["nowhere.env"]);
}

#[tokio::test]
async fn a_tool_server_is_started_again() {
    let agent = Agent::named("reference");
    let server = ToolServer::new(env!("CARGO_BIN_EXE_a2a"), ["mcp", &agent.url]);
    let tools = server.list().await.unwrap();
    assert_eq!(tools[0].name, "reference_reference");
    let arguments = json!({"message": "echo hello"});
    let arguments = arguments.as_object().unwrap();
    let output = server.call("reference_reference", arguments.clone());
    assert!(output.await.unwrap().text.starts_with("hello"));
    let failed = json!({"message": "fail no paper"});
    let output = server.call("reference_reference", failed.as_object().unwrap().clone());
    assert!(output.await.unwrap().is_error);
    let missing = ToolServer::new("/nonexistent/program", ["x"]);
    let error = missing.list().await.unwrap_err();
    assert!(
        error.to_string().contains("/nonexistent/program"),
        "{error}"
    );
    let silent = ToolServer::new("true", [""; 0]);
    let error = silent.list().await.unwrap_err();
    assert_eq!(error.to_string(), "`true` has ended, or does not speak MCP");
}

#[test]
fn a_model_calls_a_tool_of_an_mcp_server() {
    let tool = Agent::named("reference");
    let service = ScriptedAgent::new(|_, body| {
        let chunk = |delta: Value| json!({"choices": [{"delta": delta}]}).to_string();
        let arguments = r#"{"message": "echo 42"}"#;
        let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "reference_reference", "arguments": arguments}});
        let has_result = body["messages"].to_string().contains("tool_call_id");
        let delta = match has_result {
            false => json!({"tool_calls": [call]}),
            true => json!({"content": "It is 42."}),
        };
        json!({"events": [chunk(delta), "[DONE]"]})
    });
    let command = format!("'{}' mcp {}", env!("CARGO_BIN_EXE_a2a"), tool.url);
    let agent = Agent::begin(&[
        "model",
        "--address",
        "127.0.0.1:0",
        "--base-url",
        &service.url,
        "--model",
        "tiny",
        "--mcp",
        &command,
    ]);
    check(&["send", &agent.url, "How much?"], 0, &["It is 42."]);
    let requests = service.requests();
    let name = &requests[0].body["tools"][0]["function"]["name"];
    assert_eq!(name, "reference_reference");
    let messages = requests[1].body["messages"].as_array().unwrap();
    let result = messages.last().unwrap();
    assert_eq!(result["role"], "tool");
    assert!(
        result["content"].as_str().unwrap().starts_with("42\n"),
        "{result}"
    );
}

#[test]
fn a_command_of_an_mcp_server_has_closed_quotes() {
    let model = [
        "serve",
        "model",
        "--base-url",
        "http://127.0.0.1:1",
        "--model",
        "m",
    ];
    check(
        &[&model[..], &["--mcp", "a 'b"]].concat(),
        2,
        &["--mcp", "quotation mark"],
    );
}
