//! Mutation tests of the suite: subjects with deliberate bugs prove that the checks can fail, and unusual but correct
//! controls prove that they fail for nothing else.
//!
//! ```text
//! Subject ─ prove ─► the suite ─► Proof: the check named for the bug failed, and no other;
//!                                        no check failed for a control
//! ```

/// Defines the controls: unusual but correct subjects, with their names.
macro_rules! controls {
    ($says_of_all:literal $($control:ident = $name:literal: $says:literal;)*) => {
        #[doc = $says_of_all]
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Control { $(#[doc = $says] $control,)* }

        impl Control {
            /// All controls.
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
mod member_order;
mod proof;
mod subject;

pub use self::proof::{Extent, FailedCheck, Proof, Tally};
pub use self::subject::{NoSuchSubject, Subject, prove_all};
