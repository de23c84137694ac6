//! An agent over a language model, of any service of chat completions.
//!
//! ```console
//! $ cargo run --example model_agent -- http://127.0.0.1:11434/v1 llama3.2
//! $ a2a chat http://127.0.0.1:8080
//! ```
//!
//! The arguments are the URL of the service, the name of the model and, optionally, the address to listen at.

use agent2agent::{AgentCard, Server, model::ModelAgent};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(base_url), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("expected the URL of a service, and the name of a model".into());
    };
    let model = ModelAgent::new(base_url, name).system("You are a helpful assistant. Be brief.");
    let server = Server::builder(AgentCard::new("Helper", "Answers questions"), model).build()?;
    let address = arguments.next().unwrap_or("127.0.0.1:8080".to_owned());
    let bound = server.bind(address).await?;
    println!("{}", bound.url());
    Ok(bound.run(std::future::pending()).await?)
}
