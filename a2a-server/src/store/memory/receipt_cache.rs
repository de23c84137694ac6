//! The messages that were received not long ago.

use std::borrow::Borrow;
use std::collections::VecDeque;

use a2a_types::size::size_of_message;
use a2a_types::{Message, MessageId, TaskId};
use ahash::RandomState;
use hashbrown::HashTable;
use tokio::time::Instant;
use uuid::Uuid;

use super::super::{Outcome, Owner, Receipt, Received, StoreError, limits};

/// The messages that were received not long ago, the oldest of which make room for new ones.
///
/// Most are never asked for again: each stands in one place, in as little room as it can.
#[derive(Debug, Default)]
pub(super) struct ReceiptCache {
    hasher: RandomState,
    /// By their hashes, the numbers of the messages that count.
    numbers: HashTable<u32>,
    /// In the order in which they came.
    entries: VecDeque<CachedReceipt>,
    /// The number of the first of them; numbers begin again at zero after the last one.
    first: u32,
    /// Bytes that the answers and names in them hold, roughly.
    bytes: usize,
}

#[derive(Debug)]
struct CachedReceipt {
    hash: u64,
    owner: Owner,
    message: CompactId<MessageId>,
    digest: [u8; 32],
    outcome: CachedOutcome,
    until: Instant,
    /// Bytes on the heap.
    bytes: usize,
}

#[derive(Debug)]
enum CachedOutcome {
    Task(CompactId<TaskId>),
    Message(Box<Message>),
}

impl ReceiptCache {
    pub(super) fn find(&self, owner: &Owner, message: &MessageId) -> Option<Received> {
        let hash = self.hasher.hash_one((owner, message));
        let number = self.numbers.find(hash, self.is(hash, owner, message))?;
        let entry = self.entry(*number)?;
        (entry.until > Instant::now()).then(|| entry.received())
    }

    pub(super) fn check(&self, owner: &Owner, receipt: &Receipt) -> Result<(), StoreError> {
        match self.find(owner, &receipt.message) {
            Some(_) => Err(StoreError::Received),
            None => Ok(()),
        }
    }

    pub(super) fn note(&mut self, owner: &Owner, receipt: Receipt, outcome: Outcome) {
        while self.entries.len() >= MAX_MESSAGES || self.bytes > MAX_BYTES {
            self.forget_first();
        }
        let hash = self.hasher.hash_one((owner, &receipt.message));
        let number = self.first.wrapping_add(self.entries.len() as u32);
        let known = self
            .numbers
            .find(hash, self.is(hash, owner, &receipt.message));
        match known.copied() {
            // The earlier entry does not count any more.
            Some(known) => {
                if let Some(known) = self.numbers.find_mut(hash, |number| *number == known) {
                    *known = number;
                }
            }
            None => {
                let (entries, first) = (&self.entries, self.first);
                let hash_of = |number: &u32| at(entries, first, *number).map_or(0, |it| it.hash);
                self.numbers.insert_unique(hash, number, hash_of);
            }
        }
        let message = CompactId::of(receipt.message);
        let outcome = match outcome {
            Outcome::Task(task) => CachedOutcome::Task(CompactId::of(task)),
            Outcome::Message(message) => CachedOutcome::Message(message),
        };
        let entry = CachedReceipt {
            hash,
            owner: owner.clone(),
            bytes: limits::size_of_owner(owner) + message.bytes() + outcome.bytes(),
            message,
            digest: receipt.digest,
            outcome,
            until: Instant::now() + receipt.term,
        };
        self.bytes += entry.bytes;
        self.entries.push_back(entry);
    }

    /// Forgets messages that are not recognised any more, up to the first that still is.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        while self.entries.front().is_some_and(|it| it.until <= now) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let Some(entry) = self.entries.pop_front() else {
            return;
        };
        let first = self.first;
        if let Ok(known) = self.numbers.find_entry(entry.hash, |it| *it == first) {
            known.remove();
        }
        self.bytes -= entry.bytes;
        self.first = first.wrapping_add(1);
    }

    fn is(&self, hash: u64, owner: &Owner, message: &MessageId) -> impl Fn(&u32) -> bool {
        move |number| {
            self.entry(*number).is_some_and(|entry| {
                entry.hash == hash && entry.message.is(message.as_str()) && entry.owner == *owner
            })
        }
    }

    fn entry(&self, number: u32) -> Option<&CachedReceipt> {
        at(&self.entries, self.first, number)
    }
}

fn at(entries: &VecDeque<CachedReceipt>, first: u32, number: u32) -> Option<&CachedReceipt> {
    entries.get(number.wrapping_sub(first) as usize)
}

impl CachedOutcome {
    fn bytes(&self) -> usize {
        match self {
            Self::Task(task) => task.bytes(),
            Self::Message(message) => size_of_message(message),
        }
    }
}

impl CachedReceipt {
    fn received(&self) -> Received {
        Received::new(
            self.digest,
            match &self.outcome {
                CachedOutcome::Task(task) => Outcome::Task(task.id()),
                CachedOutcome::Message(message) => Outcome::Message(message.clone()),
            },
        )
    }
}

/// An identifier, most of which are UUIDs: those need no memory elsewhere.
#[derive(Debug)]
enum CompactId<Id> {
    Uuid(Uuid),
    Other(Id),
}

impl<Id: Borrow<str> + Clone + From<String>> CompactId<Id> {
    fn of(id: Id) -> Self {
        match Uuid::try_parse(id.borrow()) {
            Ok(uuid) if is_written(uuid, id.borrow()) => Self::Uuid(uuid),
            _ => Self::Other(id),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Uuid(_) => 0,
            Self::Other(id) => limits::NAME + id.borrow().len(),
        }
    }

    fn is(&self, id: &str) -> bool {
        match self {
            Self::Uuid(uuid) => is_written(*uuid, id),
            Self::Other(known) => known.borrow() == id,
        }
    }

    fn id(&self) -> Id {
        match self {
            Self::Uuid(uuid) => uuid.to_string().into(),
            Self::Other(known) => known.clone(),
        }
    }
}

/// Returns whether a UUID is written like that: it can be written in several ways.
fn is_written(uuid: Uuid, text: &str) -> bool {
    *uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == *text
}

/// Maximum number of received messages that are remembered.
const MAX_MESSAGES: usize = 100_000;

/// Maximum of the bytes of their answers and names.
const MAX_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use a2a_transport::Principal;

    fn receipt(message: &str, term: Duration) -> Receipt {
        Receipt::new(message.into(), [7; 32], term)
    }

    fn found(receipts: &ReceiptCache, message: &str) -> Option<Outcome> {
        let received = receipts.find(&Principal::anonymous().into(), &message.into());
        received.map(|received| received.outcome)
    }

    #[tokio::test]
    async fn names_come_back_as_they_were_written() {
        let owner = Principal::anonymous().into();
        let mut receipts = ReceiptCache::default();
        let names = [
            "67e55044-10b1-426f-9247-bb680e5fe0c8",
            "67E55044-10B1-426F-9247-BB680E5FE0C8",
            "67e5504410b1426f9247bb680e5fe0c8",
            "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8",
            "message 1",
            "",
        ];
        for name in names {
            assert_eq!(found(&receipts, name), None, "{name}");
            let outcome = Outcome::Task(name.into());
            receipts.note(&owner, receipt(name, Duration::MAX / 4), outcome);
        }
        for name in names {
            assert_eq!(found(&receipts, name), Some(Outcome::Task(name.into())));
        }
    }

    #[tokio::test]
    async fn the_oldest_make_room_however_often_they_came() {
        let owner = Principal::anonymous().into();
        let mut receipts = ReceiptCache {
            first: u32::MAX - 1000,
            ..ReceiptCache::default()
        };
        // The first does not count any more when it comes again.
        receipts.note(
            &owner,
            receipt("0", Duration::ZERO),
            Outcome::Task("a".into()),
        );
        assert_eq!(found(&receipts, "0"), None);
        let long = Duration::from_secs(1 << 30);
        for number in 0..MAX_MESSAGES {
            let outcome = Outcome::Task("b".into());
            receipts.note(&owner, receipt(&number.to_string(), long), outcome);
        }
        let kept = Some(Outcome::Task("b".into()));
        assert_eq!(found(&receipts, "0"), kept);
        assert_eq!(found(&receipts, "99999"), kept);
        receipts.note(&owner, receipt("100000", long), Outcome::Task("b".into()));
        assert_eq!(found(&receipts, "0"), None);
        assert_eq!(found(&receipts, "1"), kept);
        assert_eq!(
            (receipts.entries.len(), receipts.numbers.len()),
            (MAX_MESSAGES, MAX_MESSAGES)
        );
    }

    #[tokio::test]
    async fn long_answers_make_room_sooner() {
        let owner = Principal::anonymous().into();
        let mut receipts = ReceiptCache::default();
        let answer = Box::new(Message::agent("x".repeat(4 << 20)));
        for number in 0..40 {
            let term = Duration::from_secs(3600);
            let outcome = Outcome::Message(answer.clone());
            receipts.note(&owner, receipt(&number.to_string(), term), outcome);
        }
        assert_eq!(found(&receipts, "0"), None);
        assert_eq!(found(&receipts, "39"), Some(Outcome::Message(answer)));
        let held = receipts.entries.len() << 22;
        assert!((MAX_BYTES..MAX_BYTES + (8 << 20)).contains(&held), "{held}");
        while !receipts.entries.is_empty() {
            receipts.forget_first();
        }
        assert_eq!(receipts.bytes, 0);
    }
}
