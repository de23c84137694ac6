//! Our client with one bug at a time, and the check that must catch each.

mod meddler;
mod table;
mod transport;

pub(crate) use self::meddler::Meddler;
pub use self::table::{Bug, Mutant, mutants};
pub(crate) use self::transport::meddling;
