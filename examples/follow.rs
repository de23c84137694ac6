//! A client that prints the events of a task as they happen, across lost connections and restarts of the agent.
//! Chapter: docs/calling-agents.md.
//!
//! ```console
//! $ cargo run --example follow -- http://127.0.0.1:8080 "TODO ada: book a room"
//! $ cargo run --example follow -- http://127.0.0.1:8080 --task 01a223e5-bac6-74d2-9190-75bf63750260
//! ```
//!
//! The variable API_KEY is the key for agents that ask for one.

use agent2agent::client::Retries;
use agent2agent::client::credentials::Keyring;
use agent2agent::{Client, Event, StreamExt};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, rest @ ..] = &arguments[..] else {
        return Err("expected a URL, and a text or --task and an id".into());
    };
    // Bears an outage of a minute.
    let retries = Retries::default()
        .attempts(30)
        .reconnections(30)
        .budget(100, 100);
    let mut builder = Client::builder(url).retries(retries);
    if let Ok(key) = std::env::var("API_KEY") {
        builder = builder.keyring(Keyring::default().api_key(key));
    }
    let client = builder.connect().await?;

    let mut events = match rest {
        ["--task", id] => client.subscribe(*id).await?,
        [text] => client.send(*text).follow(),
        _ => return Err("expected a text, or --task and an id".into()),
    };
    while let Some(event) = events.next().await {
        match event? {
            Event::Task(task) => println!("task {} {}", task.id, task.status.state.as_str()),
            Event::Message(message) => println!("message {}", message.text()),
            Event::StatusUpdate(update) => {
                println!(
                    "status {} {}",
                    update.status.state.as_str(),
                    update.status.text()
                );
            }
            Event::ArtifactUpdate(update) => print!("artifact {}", update.artifact.text()),
        }
    }
    println!("the end, after {} reconnections", events.reconnections());
    Ok(())
}
