//! Deliberate bugs: what proves that the checks can fail. And what is odd but right, which proves that
//! they fail for nothing else.
//!
//! ```text
//! Subject ─ prove ─► the suite ─► Proof: the check named for the bug was red, and no other;
//!                                        nothing was red of what is odd
//! ```

/// Names of what is odd but right.
macro_rules! controls {
    ($says_of_all:literal $($control:ident = $name:literal: $says:literal;)*) => {
        #[doc = $says_of_all]
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Control { $(#[doc = $says] $control,)* }

        impl Control {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$control,)*];

            /// A short name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$control => $name,)* }
            }

            /// Returns a description of the oddity.
            pub fn says(self) -> &'static str {
                match self { $(Self::$control => $says,)* }
            }
        }
    };
}

pub mod agent;
pub mod client;
mod proof;
mod subject;
mod written;

pub use self::proof::{Extent, Proof, Red, Tally};
pub use self::subject::{NoSuchSubject, Subject, prove_all};
