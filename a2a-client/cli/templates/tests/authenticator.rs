//! Test of the program: it runs as a process of its own.

mod program;

use agent2agent::Client;
use agent2agent::client::credentials::bearer;
use program::{LIMIT, Program, directory};

#[tokio::test]
async fn agent_answers_callers_with_a_token() {
    let agent = Program::start(&directory(), &["127.0.0.1:0"]);
    let url = agent.line_with("http");
    let client = Client::connect(&url).await.expect("the agent has a card");
    let refused = client.send("hello").deadline(LIMIT).await;
    assert!(refused.is_err(), "{refused:?}");

    let client = client.with_credentials(bearer("token-of-ada").expect("a token"));
    let answer = client.send("hello").deadline(LIMIT).await;
    assert_eq!(
        answer.expect("an answer").text(),
        "Hello ada, you said: hello"
    );
}
