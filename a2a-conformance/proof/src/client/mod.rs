//! Mutant clients: our client with one bug at a time, and the check that must detect it; and control clients.

mod body;
mod bug;
mod control;
mod control_request;
pub(crate) mod lax_verifier;
mod proof;
mod subject;
mod tampering_proxy;
mod tampering_transport;

pub use self::bug::Bug;
pub use self::control::Control;
pub use self::proof::prove;
pub use self::subject::ClientSubject;
pub(crate) use self::tampering_proxy::TamperingProxy;
pub(crate) use self::tampering_transport::tampering;
