//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::{AgentCard, Server, Turn};
use program::{Program, directory};

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
async fn events_are_printed() {
    let url = serve("Echo").await;
    let client = Program::start(&directory(), &[&url, "hello"]);
    client.line_with("hello");
    client.line_with("the end, after 0 reconnections");
}
