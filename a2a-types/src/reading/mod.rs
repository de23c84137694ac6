//! Reading the wire types of the versions before 1.0, strictly or leniently.
//!
//! The types themselves are strict: they are what we send and what the JSON Schemas describe.
//! Lenient reading tries them first; only when they refuse is the text read as plain JSON, repaired
//! by the version's rules for known habits of peers and documents, and given to the types again.
//! So a well-formed message never pays for the leniency, and each repair is known by name. Tolerant reading, for answers,
//! then changes every place that a type still refuses, until something of the type is left: see [`Mode::Tolerant`].

mod hints;
mod mode;
mod normalizer;
mod parsing;
mod quirk;
mod salvage;
mod violation;
mod wire;
mod words;

pub use self::hints::Hints;
pub use self::mode::Mode;
pub use self::normalizer::Normalizer;
pub(crate) use self::normalizer::{absent, spelled};
pub use self::parsing::{read_canonical, without_values};
pub use self::quirk::{Deviation, Quirk};
pub use self::violation::{JsonPath, Violation};
pub use self::wire::{StreamItem, Wire, WithRepairs, read, read_canonical_in, read_unwrapped};
pub use crate::pre_1_0::words_in_1_0;
