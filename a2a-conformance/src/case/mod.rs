//! Cases as data: steps and expected results.

mod equality;
mod expect;
mod model;
mod patch;
pub mod pattern;
mod template;
mod told;
mod unlike;

pub(crate) use self::equality::equivalent;
pub use self::expect::Expect;
pub use self::model::{Caller, Case, Http, Need, Per, Profile, Step, Until};
pub use self::patch::lay_over;
pub use self::template::Names;
pub(crate) use self::told::told;
