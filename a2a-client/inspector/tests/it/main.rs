//! Integration tests of the inspector: its API over TCP, against agents in this process.

mod agents;
mod browser;
mod cards;
mod chat;
#[cfg(feature = "conformance")]
mod conformance;
mod credentials;
mod exchanges;
mod grpc;
mod guard;
mod harness;
mod proxy;
mod proxy_faults;
mod resend;
mod secrets;
mod tasks;
#[cfg(feature = "conformance")]
mod versions;
mod webhooks;
