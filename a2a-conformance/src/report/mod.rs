//! Reports of a [`Run`](crate::record::Run), for people and for programs.

mod badge;
mod change;
mod console;
mod curl;
mod error;
mod form;
mod html;
mod index;
mod json;
mod junit;
mod listing;
mod markdown;
mod verdict;
mod waivers;

pub use self::badge::badge;
pub use self::change::{Change, ChangeKind, Changes};
pub use self::console::{Progress, print};
pub use self::curl::curl;
pub use self::error::Error;
pub use self::form::{Form, prepare, write};
pub use self::html::html;
pub use self::index::write_index;
pub use self::json::{json, read, schema};
pub use self::junit::junit;
pub use self::markdown::markdown;
pub use self::waivers::Waivers;
