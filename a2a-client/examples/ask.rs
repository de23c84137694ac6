//! Example of one question to an agent: `cargo run -p agent2agent-client --example ask -- URL TEXT`.

use a2a_client::{Client, Event, StreamExt};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(text)) = (arguments.next(), arguments.next()) else {
        return Err(
            "expected a URL and a text, like: http://127.0.0.1:8080 'tell me a joke'".into(),
        );
    };
    let client = Client::connect(&url).await?;
    let mut updates = client.stream(text).await?;
    while let Some(event) = updates.next().await {
        match event? {
            Event::Task(task) => println!("{} task {}", task.status.state.as_str(), task.id),
            Event::Message(message) => println!("{}", message.text()),
            Event::StatusUpdate(update) => {
                let text = update
                    .status
                    .message
                    .map(|message| message.text())
                    .unwrap_or_default();
                println!("{} {text}", update.status.state.as_str());
            }
            Event::ArtifactUpdate(update) => {
                let texts = update
                    .artifact
                    .parts
                    .iter()
                    .filter_map(|part| part.as_text());
                println!("{}", texts.collect::<String>());
            }
        }
    }
    Ok(())
}
