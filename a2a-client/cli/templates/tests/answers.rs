//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::Client;
use program::{LIMIT, Program, directory};

#[tokio::test]
async fn agent_answers() {
    let agent = Program::start(&directory(), &["127.0.0.1:0"]);
    let url = agent.line_with("http") + "PATH";
    let client = Client::connect(&url).await.expect("the agent has a card");
    let answer = client.send("TEXT").deadline(LIMIT).await;
    assert_eq!(answer.expect("an answer").text().trim(), "ANSWER");
}
