//! Agents that are wrong on purpose, and agents that are odd but right.
//!
//! ```text
//! Stand ─ Wired (bugs of the wire, oddities) ─ HttpService ─ Inside (bugs of what it does) ─ Server
//!                                              webhooks ◄── Relay (bugs of what they are told) ◄──┘
//! ```

mod bug;
mod control;
mod followers;
mod generated;
mod inside;
mod memory;
mod odd;
#[cfg(test)]
mod others;
mod outside;
mod proof;
mod relay;
mod shape;
mod signing;
mod slip;
mod stand;
mod tails;
mod wire;

pub use self::bug::{Bug, PLACES, Place, Story};
pub use self::control::Control;
pub use self::generated::{Mutation, Trial, mutations, slipped, try_out};
pub use self::proof::prove;
pub use self::slip::{SLIPS, Slip};
pub use self::stand::{Stand, Subject, credentials, forbidden};
