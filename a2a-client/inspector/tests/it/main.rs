//! Integration tests of the inspector: its API over TCP, against agents in this process.

mod agents;
mod cards;
mod changes;
mod chat;
mod guard;
mod harness;
mod secrets;
mod tasks;
