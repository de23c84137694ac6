//! Integration tests of the suite.

mod agent;
mod agent_command;
mod broken_agents;
#[cfg(unix)]
mod broken_clients;
mod card_slips;
mod client;
mod client_drivers;
mod commands;
mod contract;
mod credentials;
mod official;
mod recorded;
mod replay;
mod report;
mod self_test;
mod wire_mutations;
