//! The messages that were received not long ago.

use std::collections::VecDeque;

use a2a_types::MessageId;
use a2a_types::size::size_of_message;
use ahash::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use tokio::time::Instant;

use super::super::{IdempotencyKey, IdempotencyRecord, Outcome, Owner, StoreError, limits};

/// The messages that were received not long ago, the oldest of which make room for new ones.
///
/// With 100,000 receipts most are not in the processor's caches, so the index has only a number for each.
#[derive(Debug, Default)]
pub(super) struct ReceiptCache {
    hasher: RandomState,
    /// Numbers of receipts, by the hashes of owner and message.
    index: HashTable<u64>,
    /// The receipts in the order in which the messages came. A receipt whose message came again after its term is
    /// not in the index any more.
    order: VecDeque<CachedReceipt>,
    /// Number of the first of them.
    first: u64,
    /// Bytes that the answers and names in them hold, roughly.
    bytes: usize,
}

#[derive(Debug)]
struct CachedReceipt {
    hash: u64,
    owner: Owner,
    message: MessageId,
    received: IdempotencyRecord,
    until: Instant,
    /// Bytes on the heap.
    bytes: usize,
}

impl ReceiptCache {
    pub(super) fn find(&self, owner: &Owner, message: &MessageId) -> Option<IdempotencyRecord> {
        let hash = self.hasher.hash_one((owner, message));
        let is_same = |number: &u64| self.get(*number).is_some_and(|it| it.is_of(owner, message));
        let known = self.get(*self.index.find(hash, is_same)?)?;
        (known.until > Instant::now()).then(|| known.received.clone())
    }

    fn get(&self, number: u64) -> Option<&CachedReceipt> {
        at(&self.order, self.first, number)
    }

    pub(super) fn check(&self, owner: &Owner, receipt: &IdempotencyKey) -> Result<(), StoreError> {
        match self.find(owner, &receipt.message) {
            Some(_) => Err(StoreError::DuplicateMessage),
            None => Ok(()),
        }
    }

    pub(super) fn note(&mut self, owner: &Owner, receipt: IdempotencyKey, outcome: Outcome) {
        while self.order.len() >= MAX_MESSAGES || self.bytes > MAX_BYTES {
            self.forget_first();
        }
        let bytes = limits::size_of_owner(owner)
            + size_of_name(receipt.message.as_str())
            + match &outcome {
                Outcome::Task(task) => size_of_name(task.as_str()),
                Outcome::Message(message) => size_of_message(message),
            };
        let noted = CachedReceipt {
            hash: self.hasher.hash_one((owner, &receipt.message)),
            owner: owner.clone(),
            message: receipt.message,
            received: IdempotencyRecord::new(receipt.digest, outcome),
            until: Instant::now() + receipt.term,
            bytes,
        };
        let number = self.first + self.order.len() as u64;
        let (order, first) = (&self.order, self.first);
        let is_same = |known: &u64| {
            let known = at(order, first, *known);
            known.is_some_and(|it| it.is_of(&noted.owner, &noted.message))
        };
        let hash_of = |known: &u64| at(order, first, *known).map_or(0, |it| it.hash);
        match self.index.entry(noted.hash, is_same, hash_of) {
            Entry::Occupied(mut before) => *before.get_mut() = number,
            Entry::Vacant(free) => _ = free.insert(number),
        }
        self.bytes += bytes;
        self.order.push_back(noted);
    }

    /// Forgets messages that are not recognised any more, up to the first that still is.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        while self.order.front().is_some_and(|first| first.until <= now) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(gone) = self.order.pop_front() {
            let number = self.first;
            let indexed = self.index.find_entry(gone.hash, |known| *known == number);
            if let Ok(indexed) = indexed {
                indexed.remove();
            }
            self.bytes -= gone.bytes;
            self.first += 1;
        }
    }
}

impl CachedReceipt {
    fn is_of(&self, owner: &Owner, message: &MessageId) -> bool {
        self.message == *message && self.owner == *owner
    }
}

/// Returns the receipt of this number in a queue that begins with the number `first`.
fn at(order: &VecDeque<CachedReceipt>, first: u64, number: u64) -> Option<&CachedReceipt> {
    order.get(usize::try_from(number.checked_sub(first)?).ok()?)
}

fn size_of_name(name: &str) -> usize {
    limits::NAME + name.len()
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
    use a2a_types::Message;

    fn receipt(message: &str, term: Duration) -> IdempotencyKey {
        IdempotencyKey::new(message.into(), [7; 32], term)
    }

    fn found(receipts: &ReceiptCache, message: &str) -> Option<Outcome> {
        let received = receipts.find(&Principal::anonymous().into(), &message.into());
        received.map(|received| received.outcome)
    }

    #[tokio::test]
    async fn the_oldest_make_room_however_often_they_came() {
        let owner = Principal::anonymous().into();
        let mut receipts = ReceiptCache::default();
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
            (receipts.order.len(), receipts.index.len()),
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
        let held = receipts.index.len() << 22;
        assert!((MAX_BYTES..MAX_BYTES + (8 << 20)).contains(&held), "{held}");
        while !receipts.order.is_empty() {
            receipts.forget_first();
        }
        assert_eq!(receipts.bytes, 0);
    }
}
