//! Tests of the proof: mutants are caught, controls pass, every check can fail.

mod broken_agents;
#[cfg(unix)]
mod broken_clients;
mod client;
mod self_test;
mod wire_mutations;
