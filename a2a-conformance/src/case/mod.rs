//! Cases as data: steps and expected results.

mod description;
mod equality;
mod expect;
mod guessable;
mod merge_patch;
mod model;
pub mod pattern;
mod pattern_text;
mod variables;

pub(crate) use self::description::{describe, one_after_another};
pub(crate) use self::equality::equivalent;
pub use self::expect::Expect;
pub use self::merge_patch::merge_patch;
pub use self::model::{
    Caller, Case, CasePhase, CaseScope, Prerequisite, Profile, RawHttpRequest, Step, StopCondition,
};
pub use self::variables::Variables;
