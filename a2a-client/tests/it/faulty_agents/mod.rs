//! Faulty and hostile agents: with each of them a client gets a typed error or the right answer, in
//! bounded time and memory, and leaves no connection behind.

mod bodies;
mod envelopes;
mod faulty_agent;
mod heads;
mod http2;
mod memory;
mod places;
mod script;
mod silence;
mod streams;
mod tasks;
mod test_server;
mod tls;

use std::time::Duration;

use tokio::task::JoinSet;

use crate::faulty_agents::faulty_agent::FaultyAgent;

/// Runs the client against agents, some at a time.
async fn check(agents: Vec<FaultyAgent>) {
    let mut agents = agents.into_iter();
    let mut met = JoinSet::new();
    let mut problems = Vec::new();
    for faulty_agent in agents.by_ref().take(MAX_CONCURRENT) {
        met.spawn(faulty_agent.run());
    }
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            ended = met.join_next() => {
                let Some(ended) = ended else { break };
                problems.extend(ended.expect("a panic is reported by its agent").err());
                if let Some(next) = agents.next() {
                    met.spawn(next.run());
                }
            }
            // Fails before the machine runs out of memory.
            _ = tick.tick() => assert!(memory::bytes_in_use() < MAX_BYTES_IN_USE, "memory without bound"),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn client_survives_faulty_heads() {
    memory::measured("faulty_agents::client_survives_faulty_heads", heads::agents);
}

#[test]
fn client_survives_faulty_bodies() {
    memory::measured(
        "faulty_agents::client_survives_faulty_bodies",
        bodies::agents,
    );
}

#[test]
fn client_survives_mismatched_envelopes() {
    memory::measured(
        "faulty_agents::client_survives_mismatched_envelopes",
        envelopes::agents,
    );
}

#[test]
fn client_survives_redirects_and_challenges() {
    memory::measured(
        "faulty_agents::client_survives_redirects_and_challenges",
        places::agents,
    );
}

#[test]
fn client_survives_silent_servers() {
    memory::measured(
        "faulty_agents::client_survives_silent_servers",
        silence::agents,
    );
}

#[test]
fn client_survives_faulty_streams() {
    memory::measured(
        "faulty_agents::client_survives_faulty_streams",
        streams::agents,
    );
}

#[test]
fn client_survives_invalid_tasks() {
    memory::measured(
        "faulty_agents::client_survives_invalid_tasks",
        tasks::agents,
    );
}

#[test]
fn client_survives_faulty_http2() {
    memory::measured("faulty_agents::client_survives_faulty_http2", http2::agents);
}

#[test]
fn client_survives_faulty_tls() {
    memory::measured("faulty_agents::client_survives_faulty_tls", tls::agents);
}

/// Number of agents that run concurrently.
const MAX_CONCURRENT: usize = 8;

/// Limit on the memory in use, in bytes.
const MAX_BYTES_IN_USE: usize = 1 << 30;
