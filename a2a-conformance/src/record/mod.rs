//! Record of a run: every check with its verdict and evidence, without secrets.

mod cause;
mod redact;
mod run;
pub(crate) mod visible;
mod waiver;

pub(crate) use self::cause::{SILENCE, without_ids};
pub use self::redact::Redaction;
pub use self::run::*;
pub use self::waiver::{Waiver, WaiverState, WaiverUse};
