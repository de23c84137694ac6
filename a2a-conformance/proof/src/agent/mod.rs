//! Mutant agents, which have a deliberate bug, and control agents, which are unusual but correct.
//!
//! ```text
//! RunningAgent ─ [TlsFront] ─ InterceptedService (bugs and oddities of the wire) ─ HttpService ─ FaultyServer (bugs of behaviour) ─ Server
//!                                                             webhooks ◄── Relay (bugs of notifications) ◄──────────┘
//! ```

mod bug;
mod card_signing;
mod control;
mod control_wire;
#[cfg(test)]
mod false_positive_tests;
mod faulty_grpc;
mod faulty_server;
mod faulty_wire;
mod followers;
mod intercepted_grpc;
pub(crate) mod intercepted_service;
pub(crate) mod interceptor;
mod issuer;
mod memory;
mod named_callers;
mod proof;
mod relay;
mod running_agent;
mod subscription_bugs;
mod tls_front;
mod token_authenticator;
mod wire_mutation;

pub use self::bug::Bug;
pub use self::control::Control;
pub use self::proof::prove;
pub use self::running_agent::{AgentSubject, RunningAgent};
pub use self::wire_mutation::{WIRE_MUTATIONS, WireMutation, run_wire_mutation};
