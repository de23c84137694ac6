//! Integration tests of the server.

mod bad_input;
mod card_agreement;
mod engine;
mod exposure;
mod interleavings;
mod interoperability;
#[cfg(all(feature = "push", feature = "sqlite"))]
mod mounting;
mod operations;
mod own_store;
#[cfg(all(feature = "push", feature = "sqlite"))]
mod profile;
mod receiver;
mod rules;
#[cfg(feature = "push")]
mod signatures;
#[cfg(all(feature = "card-signature", feature = "push"))]
mod signed_cards;
#[cfg(feature = "sqlite")]
mod stores;
mod suite;
#[cfg(feature = "push")]
mod traces;
mod waiting;
mod wire;
