//! Integration tests of the client.

mod credentials;
mod damaged;
mod discovery;
mod faulty_agents;
mod origins;
mod profile;
mod push;
mod recorder;
mod signed_cards;
mod streams;
mod webhook;
