//! Integration tests of the suite.

mod agent;
mod agent_command;
mod broken;
#[cfg(unix)]
mod broken_clients;
mod client;
mod client_drivers;
mod commands;
mod contract;
mod official;
mod recorded;
mod replay;
mod report;
mod self_test;
mod slips;
