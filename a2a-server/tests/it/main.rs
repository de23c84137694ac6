//! Integration tests of the server.

mod bad_input;
mod card_agreement;
mod engine;
mod exposure;
mod interleavings;
mod interoperability;
mod mounting;
mod operations;
mod own_store;
mod profile;
mod receiver;
mod rules;
mod signatures;
mod signed_cards;
mod stores;
mod suite;
mod traces;
mod waiting;
mod wire;
