//! Wire types, conversions and repairs that protocol versions before 1.0 share.

mod constant;
pub(crate) mod convert;
mod interface;
mod operation;
mod part;
mod repair;
pub(crate) mod security;
mod tagged_part;
mod webhook;
mod words;

pub(crate) use self::constant::constants;
pub(crate) use self::convert::{
    both_ways, boxed_variants, optional_list, same_words, unless_empty, with_members_of,
};
pub(crate) use self::interface::{interfaces, offered};
pub(crate) use self::operation::{read_by_operation, read_configs, read_list, write_by_operation};
pub(crate) use self::part::{
    FileFields, TaggedContent, from_tagged, mark_wrapped, normalize_part, take, to_tagged,
};
pub(crate) use self::repair::{
    check_has_parts, normalize_append, normalize_message_id, normalize_role, normalize_schemes,
    normalize_status, normalize_task_id, normalize_time,
};
pub use self::tagged_part::Role;
pub(crate) use self::tagged_part::{PartKind, tagged_parts};
pub(crate) use self::webhook::webhook_types;
pub use self::words::words_in_1_0;
pub(crate) use crate::wire_types::wire_types;
