//! Wire types, conversions and repairs that protocol versions before 1.0 share.

mod constant;
pub(crate) mod convert;
mod interface;
mod operation;
mod part;
mod repair;
pub(crate) mod security;
mod tagged_part;
mod wire_types;
mod words;

pub(crate) use self::constant::constants;
pub(crate) use self::convert::{
    both_ways, boxed_variants, optional_list, same_words, unless_empty, with_members_of,
};
pub(crate) use self::interface::{interfaces, offered};
pub(crate) use self::operation::{read_by_operation, read_configs, read_list};
pub(crate) use self::part::{Cut, File, FileContent, cut, join, mark_wrapped, mend_part, take};
pub(crate) use self::repair::{
    check_said, mend_append, mend_message_id, mend_role, mend_schemes, mend_status, mend_task_id,
    mend_time,
};
pub use self::tagged_part::Role;
pub(crate) use self::tagged_part::{PartKind, tagged_parts};
pub(crate) use self::wire_types::wire_types;
pub use self::words::words_in_1_0;
