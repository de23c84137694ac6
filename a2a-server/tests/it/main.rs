//! Integration tests of the server.

mod bad_input;
mod engine;
#[cfg(all(feature = "push", feature = "sqlite"))]
mod harness;
mod model;
#[cfg(all(feature = "push", feature = "sqlite"))]
mod mounted;
mod offers;
mod operations;
mod own_store;
#[cfg(all(feature = "push", feature = "sqlite"))]
mod profile;
mod reach;
mod receiver;
mod rules;
#[cfg(feature = "push")]
mod signed;
#[cfg(feature = "sqlite")]
mod stores;
mod suite;
mod together;
#[cfg(feature = "push")]
mod traces;
mod wire;
