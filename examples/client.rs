//! A client that sends a message, prints the answer, and answers the agent's questions. Chapter: docs/calling-agents.md.
//!
//! ```console
//! $ cargo run --example client -- http://127.0.0.1:8080 "TODO: book a room"
//! ```
//!
//! The variable API_KEY is the key for agents that ask for one.

use agent2agent::client::credentials::Keyring;
use agent2agent::types::extension::question::AnswerForm;
use agent2agent::{Client, SendMessageResponse, TaskState};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(text)) = (arguments.next(), arguments.next()) else {
        return Err(
            "expected a URL and a text, like: http://127.0.0.1:8080 'TODO: book a room'".into(),
        );
    };
    let mut builder = Client::builder(&url);
    if let Ok(key) = std::env::var("API_KEY") {
        builder = builder.keyring(Keyring::default().api_key(key));
    }
    let client = builder.connect().await?;

    let mut answer = client.send(text).await?;
    loop {
        let task = match answer {
            SendMessageResponse::Message(message) => {
                println!("{}", message.text());
                return Ok(());
            }
            SendMessageResponse::Task(task) => task,
        };
        println!("{} {}", task.status.state.as_str(), task.id);
        println!("{}", task.text());
        if task.status.state != TaskState::InputRequired {
            return Ok(());
        }
        // The agent waits for an answer: the next message continues the task.
        let question = task.status.message.as_deref();
        if let Some(AnswerForm::Choices(choices)) = question.and_then(AnswerForm::of) {
            println!("({})", choices.join(", "));
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        answer = client.send(line.trim()).task(task.id).await?;
    }
}
