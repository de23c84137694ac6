//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::Client;
use agent2agent::client::credentials::Keyring;
use program::{LIMIT, Program, directory};

const KEY: &str = "0123456789abcdef";

#[tokio::test]
async fn agent_answers_callers_with_a_key() {
    let directory = directory();
    let keys = format!("{KEY} ada scopes=tasks:read,tasks:write\n");
    std::fs::write(directory.join("keys.txt"), keys).expect("a file of keys");
    let agent = Program::start(&directory, &["127.0.0.1:0"]);
    let url = agent.line_with("http");

    let stranger = Client::connect(&url).await.expect("the card is public");
    let refused = stranger.send("TODO me: book a room").deadline(LIMIT).await;
    assert!(refused.is_err(), "{refused:?}");

    let ada = Client::builder(&url).keyring(Keyring::default().api_key(KEY));
    let ada = ada.connect().await.expect("the agent has a card");
    let answer = ada.send("TODO me: book a room").deadline(LIMIT).await;
    assert_eq!(answer.expect("an answer").text(), "- ada: book a room\n");
}
