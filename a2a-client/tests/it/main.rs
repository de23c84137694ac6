//! Integration tests of the client.

mod credentials;
mod damaged;
mod discovery;
mod faulty_agents;
mod origins;
mod profile;
mod push;
mod recorder;
#[cfg(feature = "card-signature")]
mod signed_cards;
mod streams;
#[cfg(feature = "webhook")]
mod webhook;
