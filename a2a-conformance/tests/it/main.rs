//! Integration tests of the suite.

mod agent;
mod agent_command;
mod card_slips;
mod client_drivers;
mod commands;
mod contract;
mod credentials;
mod official;
mod recorded;
mod replay;
mod report;
