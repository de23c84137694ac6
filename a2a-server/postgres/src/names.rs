//! Keys and stored names of owners, tasks, messages and webhooks.

use std::borrow::Cow;

use a2a_server::Owner;
use a2a_types::{ConfigId, MessageId, TaskId};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A task and its owner.
pub(crate) type Key = (Owner, TaskId);

/// Returns the key of a task of an owner.
pub(crate) fn task_key(owner: &Owner, task: &TaskId) -> Uuid {
    key(&[
        b"task",
        owner.to_json().as_bytes(),
        task.as_str().as_bytes(),
    ])
}

/// Returns the key of a message of an owner.
pub(crate) fn message_key(owner: &Owner, message: &MessageId) -> Uuid {
    let (owner, message) = (owner.to_json(), message.as_str());
    key(&[b"message", owner.as_bytes(), message.as_bytes()])
}

/// Returns the key of a webhook, which is unique within its task.
pub(crate) fn config_key(config: &ConfigId) -> Uuid {
    key(&[b"config", config.as_str().as_bytes()])
}

/// Returns the key of an owner.
pub(crate) fn owner_key(owner: &Owner) -> Uuid {
    key(&[b"owner", owner.to_json().as_bytes()])
}

/// Returns the first half of the SHA-256 of these texts: a key of fixed length for names that peers choose. An index of
/// the texts themselves would refuse long ones.
fn key(parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let half: [u8; 16] = std::array::from_fn(|place| digest[place]);
    Uuid::from_bytes(half)
}

/// Escapes an id for its column: text in Postgres cannot contain a NUL.
pub(crate) fn column(id: &str) -> Cow<'_, str> {
    match id.contains([NUL, MARK]) {
        false => Cow::Borrowed(id),
        true => Cow::Owned(id.replace(MARK, MARKED_MARK).replace(NUL, MARKED_NUL)),
    }
}

/// Unescapes an id from its column.
pub(crate) fn read(text: String) -> String {
    match text.contains(MARK) {
        false => text,
        true => text
            .replace(MARKED_NUL, "\0")
            .replace(MARKED_MARK, MARK_TEXT),
    }
}

const NUL: char = '\0';
/// Escape character: Unicode will never assign it.
const MARK: char = '\u{10ffff}';
const MARK_TEXT: &str = "\u{10ffff}";
const MARKED_NUL: &str = "\u{10ffff}0";
const MARKED_MARK: &str = "\u{10ffff}1";

#[cfg(test)]
mod tests {
    use a2a_server::Principal;

    use super::*;

    #[test]
    fn column_takes_any_id() {
        for id in [
            "",
            "t",
            "a\0b",
            "\u{10ffff}",
            "\u{10ffff}0",
            "\0\u{10ffff}1\0",
        ] {
            let text = column(id);
            assert!(!text.contains('\0'));
            assert_eq!(read(text.into_owned()), id);
        }
    }

    #[test]
    fn keys_differ_where_names_do() {
        let (ada, bob) = (
            Owner::from(Principal::named("ada")),
            Owner::from(Principal::anonymous()),
        );
        let keys = [
            task_key(&ada, &"a".into()),
            task_key(&ada, &"A".into()),
            task_key(&bob, &"a".into()),
            message_key(&ada, &"a".into()),
            owner_key(&ada),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }
}
