//! Our client with one bug at a time, and the check that must catch each; and our client made odd.

mod body;
mod control;
pub(crate) mod lax;
mod meddler;
mod odd;
mod proof;
mod subject;
mod table;
mod transport;

pub use self::control::Control;
pub(crate) use self::meddler::Meddler;
pub use self::proof::prove;
pub use self::subject::Subject;
pub use self::table::{Bug, Mutant, mutants};
pub(crate) use self::transport::meddling;
