//! Test of the program: it runs as a process of its own, with a service that has a script.

mod program;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use agent2agent::Client;
use program::{LIMIT, Program, directory};

#[tokio::test]
async fn a_tool_is_called_before_the_answer() {
    let service = chat_service(&[
        r#"{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"unix_time","arguments":"{}"}}]}"#,
        r#"{"content":"It is late."}"#,
    ]);
    let agent = Program::start(&directory(), &[&service, "tiny", "127.0.0.1:0"]);
    let client = Client::connect(&agent.line_with("http")).await;
    let client = client.expect("the agent has a card");
    let answer = client.send("What time is it?").deadline(LIMIT).await;
    assert_eq!(answer.expect("an answer").text(), "It is late.");
}
