//! Cases as data: what is said, and what has to come.

mod model;
pub mod pattern;
mod template;

pub use self::model::{Caller, Case, Expect, Http, Need, Profile, Step, Until};
pub use self::template::Names;
