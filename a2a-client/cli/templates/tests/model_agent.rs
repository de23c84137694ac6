//! Test of the program: it runs as a process of its own, with a service that has a script.

mod program;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use agent2agent::Client;
use program::{LIMIT, Program, directory};

#[tokio::test]
async fn the_answer_of_the_model_is_passed_on() {
    let service = chat_service(&[r#"{"content":"It is mild."}"#]);
    let agent = Program::start(&directory(), &[&service, "tiny", "127.0.0.1:0"]);
    let client = Client::connect(&agent.line_with("http")).await;
    let client = client.expect("the agent has a card");
    let answer = client.send("How is it?").deadline(LIMIT).await;
    assert_eq!(answer.expect("an answer").text(), "It is mild.");
}
