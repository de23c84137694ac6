//! Proof of the conformance suite: implementations with deliberate bugs show that the checks can fail, and unusual but correct
//! implementations show that they fail for nothing else.
//!
//! ```text
//! Subject ─ prove ─► the suite ─► Proof: the checks named for the bug failed, and no others;
//!                                        no check failed for a control
//! ```
//!
//! - [`agent`]: agents, built from our server; [`client`]: clients, built from our client.
//! - [`documents`]: ends with a fault, which a replay of the documented examples must notice.
//! - The table of mutants is `a2a-conformance/mutants.yaml`: their descriptions, and the checks that must catch them.
//! - `cargo run -p a2a-conformance-proof --bin self-test` proves all of them.
//!
//! ```
//! use a2a_conformance_proof::{Extent, Subject};
//!
//! # #[tokio::main] async fn main() -> Result<(), String> {
//! let mutant: Subject = "S06".parse().map_err(|_| "no such mutant")?;
//! let proof = mutant.prove(Extent::Brief).await?;
//! assert!(proof.holds());
//! # Ok(()) }
//! ```

/// Defines the bugs of a party: their variants, with their names in the table of mutants.
macro_rules! bugs {
    ($says_of_all:literal $($bug:ident = $name:literal;)*) => {
        #[doc = $says_of_all]
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Bug { $(#[doc = concat!("Bug of the mutant ", $name, ".")] $bug,)* }

        impl Bug {
            /// All bugs.
            pub const ALL: &[Self] = &[$(Self::$bug,)*];

            /// Returns the name of the mutant with this bug.
            pub fn name(self) -> &'static str {
                match self { $(Self::$bug => $name,)* }
            }

            /// Returns the row of the mutant in the table.
            pub fn mutant(self) -> &'static a2a_conformance::mutants::Mutant {
                let mutant = a2a_conformance::mutants::mutant(self.name());
                mutant.expect("every bug has a row in mutants.yaml")
            }
        }
    };
}

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
pub mod documents;
mod member_order;
mod proof;
pub mod reference_client;
mod subject;

pub use self::proof::{Extent, FailedCheck, Proof, Tally};
pub use self::subject::{NoSuchSubject, Subject, prove_all};
