//! Test of the program: it runs as a process of its own, and its tools are called.

use agent2agent::mcp::ToolServer;
use agent2agent::model::Tools;
use agent2agent::types::Object;
use agent2agent::{AgentCard, Server, Turn};

/// Serves an agent in this process, and returns its URL.
async fn serve(name: &str) -> String {
    let agent = async |turn: Turn| {
        let text = turn.text();
        Ok(turn.artifact("echo").text(text).complete_task().await?)
    };
    let server = Server::builder(AgentCard::new(name, "Repeats"), agent).build();
    let bound = server.expect("a server").bind("127.0.0.1:0").await;
    let bound = bound.expect("an address");
    let url = bound.url().to_string();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_a_tool() {
    let url = serve("Echo").await;
    let program = env!(concat!("CARGO_BIN_EXE_", env!("CARGO_PKG_NAME")));
    let tools = ToolServer::new(program, [url]);
    let listed = tools.list().await.expect("the tools are listed");
    let arguments = Object::from_iter([("message".to_owned(), "hello".into())]);
    let output = tools.call(&listed[0].name, arguments).await;
    assert!(output.expect("an answer").text.starts_with("hello"));
}
