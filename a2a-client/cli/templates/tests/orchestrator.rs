//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::{AgentCard, Artifact, Client, SendMessageResponse, Server, Turn};
use program::{LIMIT, Program, directory};

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
async fn answers_of_both_agents_are_passed_on() {
    let (left, right) = (serve("Left").await, serve("Right").await);
    let agent = Program::start(&directory(), &[&left, &right, "127.0.0.1:0"]);
    let client = Client::connect(&agent.line_with("http")).await;
    let client = client.expect("the agent has a card");
    let answer = client.send("hello").deadline(LIMIT).await;
    let Ok(SendMessageResponse::Task(task)) = answer else {
        panic!("not a task: {answer:?}");
    };
    for name in ["Left", "Right"] {
        let is_named = |it: &&Artifact| it.name.as_deref() == Some(name);
        let artifact = task.artifacts.iter().find(is_named);
        assert_eq!(
            artifact.map(Artifact::text).as_deref(),
            Some("hello"),
            "{name}"
        );
    }
}
