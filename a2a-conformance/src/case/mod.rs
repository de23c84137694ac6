//! Cases as data: what is said, and what has to come.

pub mod pattern;
mod template;

pub use self::template::Names;
