//! An agent that calls two other agents at the same time and merges their answers.
//!
//! ```console
//! $ cargo run --example two_agents
//! $ cargo run --example orchestrator -- http://127.0.0.1:8080/count http://127.0.0.1:8080/upper 127.0.0.1:8081
//! $ a2a send http://127.0.0.1:8081 "one two three"
//! ```
//!
//! The arguments are the URLs of the two agents, and the address to listen at.

use std::time::Duration;

use agent2agent::{
    Agent, AgentCard, Client, Failure, SendMessageResponse, Server, TaskState, Turn,
};

struct Orchestrator {
    agents: [Client; 2],
}

impl Agent for Orchestrator {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        turn.working("asking two agents").await?;
        let [first, second] = &self.agents;
        let answers = tokio::select! {
            answers = async { tokio::try_join!(ask(first, &turn), ask(second, &turn)) } => answers?,
            () = turn.canceled() => return Ok(()),
        };
        let text = format!("{}\n{}", answers.0, answers.1);
        turn.artifact("answers").text(text).complete_task().await?;
        Ok(())
    }
}

/// Passes the message on to an agent, in the trace of the turn, and returns the text of the answer.
async fn ask(agent: &Client, turn: &Turn) -> Result<String, Failure> {
    let call = agent.send(turn.text()).trace(turn.trace().cloned());
    let answer = call.deadline(Duration::from_secs(60)).await?;
    match &answer {
        SendMessageResponse::Task(task) if task.status.state != TaskState::Completed => {
            let state = task.status.state.as_str();
            Err(Failure::new(format!("the task {} is {state}", task.id)))
        }
        _ => Ok(answer.text()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, address] = &arguments[..] else {
        return Err("expected the URLs of two agents, and an address".into());
    };
    let agents = [
        Client::connect(first).await?,
        Client::connect(second).await?,
    ];
    let card = AgentCard::new("Orchestrator", "Asks two agents");
    let server = Server::builder(card, Orchestrator { agents }).build()?;
    let bound = server.bind(address).await?;
    println!("{}", bound.url());
    bound.run(std::future::pending()).await?;
    Ok(())
}
