//! An agent that delegates to two other agents at the same time. What they say goes out at once, as chunks of an artifact for
//! each of them. A cancellation reaches both. If one breaks off, the task fails with the reason, and keeps what was said.
//!
//! ```console
//! $ a2a serve echo --address 127.0.0.1:8081 &
//! $ a2a serve joke --address 127.0.0.1:8082 &
//! $ cargo run --example orchestrator -- http://127.0.0.1:8081 http://127.0.0.1:8082 127.0.0.1:8080
//! $ a2a send http://127.0.0.1:8080 "tell me a joke about chickens"
//! ```
//!
//! The arguments are the URLs of the two agents, and the address to listen at.

use std::time::Duration;

use agent2agent::client::{Retries, TaskEventStream};
use agent2agent::{
    Agent, AgentCard, Artifact, Client, Event, Failure, Server, StreamExt, TaskState, Turn,
};

struct Orchestrator {
    agents: [Client; 2],
}

impl Agent for Orchestrator {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        turn.working("asking two agents").await?;
        let [first, second] = &self.agents;
        let (first, second) = tokio::join!(delegate(first, &turn), delegate(second, &turn));
        let problems: Vec<_> = [first, second].into_iter().flatten().collect();
        if !turn.is_canceled() && !problems.is_empty() {
            turn.fail(problems.join("; ")).await?;
        }
        Ok(())
    }
}

/// Sends the message to an agent, in the trace of the turn, and passes on what it says. Returns what went wrong, if anything.
/// The agent's task is canceled then, unless it is over: no one would read the rest.
async fn delegate(agent: &Client, turn: &Turn) -> Option<String> {
    let agent = agent.with_trace_context(turn.trace().cloned());
    let card = agent.card();
    let name = card.as_ref().map_or("agent", |card| &card.name);
    // A2A does not tell an agent how long its caller waits: this limit is the orchestrator's own.
    let call = agent.send(turn.text()).deadline(Duration::from_secs(60));
    let mut events = call.follow();
    let problem = tokio::select! {
        outcome = pass_on(&mut events, turn, name) => outcome.err()?,
        () = turn.canceled() => "was canceled".to_owned(),
    };
    let canceled = cancel(&agent, &mut events);
    if tokio::time::timeout(Duration::from_secs(3), canceled).await != Ok(true) {
        eprintln!("{name} was asked to stop and has not confirmed it");
    }
    Some(format!("the agent {name} {problem}"))
}

/// Sends what an agent says as chunks of an artifact. Errors: the end of a sentence that begins with the agent.
async fn pass_on(events: &mut TaskEventStream, turn: &Turn, name: &str) -> Result<(), String> {
    let mut artifact = turn.artifact(name);
    while let Some(event) = events.next().await {
        let text = match event.map_err(|error| format!("did not finish: {error}"))? {
            Event::Task(task) => task.artifacts.iter().map(Artifact::text).collect(),
            Event::ArtifactUpdate(update) => update.artifact.text(),
            Event::Message(message) => message.text(),
            Event::StatusUpdate(it) if it.status.state == TaskState::Completed => it.status.text(),
            Event::StatusUpdate(_) => continue,
        };
        if !text.is_empty() {
            let sent = artifact.text(text).send().await;
            artifact = sent.map_err(|error| format!("was not passed on: {error}"))?;
        }
    }
    match events.task().map(|it| &it.status) {
        Some(it) if it.state != TaskState::Completed => {
            Err(format!("ended with {}: {}", it.state.as_str(), it.text()))
        }
        _ => Ok(()),
    }
}

/// Cancels the task of an agent, and returns whether it is over.
async fn cancel(agent: &Client, events: &mut TaskEventStream) -> bool {
    // The first event has the id.
    while events.task().is_none() && events.next().await.is_some() {}
    match events.task() {
        Some(task) if !task.status.state.is_terminal() => {
            let canceled = agent.cancel_task(task.id.clone()).await;
            canceled.is_ok_and(|task| task.status.state.is_terminal())
        }
        _ => true,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, address] = &arguments[..] else {
        return Err("expected the URLs of two agents, and an address".into());
    };
    // After some seconds an agent that cannot be reached is given up.
    let retries = Retries::default().reconnections(6);
    let [first, second] = [first, second].map(|url| Client::builder(url).retries(retries.clone()));
    let agents = [first.connect().await?, second.connect().await?];
    let card = AgentCard::new("Orchestrator", "Asks two agents");
    let server = Server::builder(card, Orchestrator { agents }).build()?;
    let bound = server.bind(address).await?;
    println!("{}", bound.url());
    bound.run(std::future::pending()).await?;
    Ok(())
}
