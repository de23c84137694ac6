//! Tests of the proof: mutants are caught, controls pass, every check can fail, a replay of the documents notices every fault.

mod broken_agents;
#[cfg(unix)]
mod broken_clients;
mod client;
mod documents;
mod self_test;
mod wire_mutations;
