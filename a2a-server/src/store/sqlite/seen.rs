//! Which messages were certainly never received: most of them are new, and need not be looked for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::MessageId;
use ahash::RandomState;
use fastbloom::BloomFilter;
use rusqlite::Connection;

use super::super::StoreError;
use super::schema::failed;
use super::tables::get;

/// Remembers every message in the tables, and perhaps some that are not.
///
/// Nothing can be taken out of such a memory, so there are two: once all that the older one has is
/// forgotten, the younger takes its place.
pub(super) struct Seen(Mutex<[Memory; 2]>);

#[derive(Default)]
struct Memory {
    /// None until there is one: an empty filter takes as much room as a full one.
    messages: Option<BloomFilter<RandomState>>,
    /// Until when the last of them is recognised, by the store's clock.
    until: i64,
}

impl Seen {
    /// Remembers what the tables hold.
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreError> {
        let seen = Self(Mutex::default());
        let sql = "select owner, message_id, expires from send_dedupe";
        let mut statement = connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let message = MessageId::from(get::<String>(row, 1)?);
            seen.note(&get::<String>(row, 0)?, &message, get(row, 2)?);
        }
        Ok(seen)
    }

    /// Whether a message may be in the tables. If not, it is certainly not.
    pub(super) fn may_know(&self, of: &str, message: &MessageId) -> bool {
        let memories = self.lock();
        let mut filters = memories
            .iter()
            .filter_map(|memory| memory.messages.as_ref());
        filters.any(|filter| filter.contains(&(of, message.as_str())))
    }

    pub(super) fn note(&self, of: &str, message: &MessageId, until: i64) {
        let [_, young] = &mut *self.lock();
        let filter = young.messages.get_or_insert_with(filter);
        filter.insert(&(of, message.as_str()));
        young.until = young.until.max(until);
    }

    /// Makes room, if everything that the older memory has is forgotten by now.
    pub(super) fn sweep(&self, now: i64) {
        let memories = &mut *self.lock();
        if memories[0].until < now {
            memories.swap(0, 1);
            memories[1] = Memory::default();
        }
    }

    /// Nothing that is done under this lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, [Memory; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that has seen nothing.
fn filter() -> BloomFilter<RandomState> {
    let filter = BloomFilter::with_num_bits(BITS).hasher(RandomState::new());
    filter.hashes(HASHES)
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen")
    }
}

/// 4 MiB: of four million messages one in forty new ones is looked for, of one million hardly any.
const BITS: usize = 1 << 25;
const HASHES: u32 = 4;
