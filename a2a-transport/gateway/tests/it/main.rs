//! Integration tests of the gateway.

mod access;
mod owners;
mod rules;
