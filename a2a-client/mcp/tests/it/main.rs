//! Tests of the bridge: editors that speak MCP line by line, and agents in the same process.

mod calls;
mod editor;
mod http;
mod older_agents;
mod older_clients;
mod questions;
mod scripted_agent;
mod tasks;
mod tools;
