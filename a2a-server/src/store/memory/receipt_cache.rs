//! The messages that were received not long ago.

use std::collections::VecDeque;

use a2a_types::MessageId;
use a2a_types::size::size_of_message;
use tokio::time::Instant;

use super::super::{NameMap, Outcome, Owner, Receipt, Received, StoreError, limits};

/// The messages that were received not long ago, the oldest of which make room for new ones.
#[derive(Debug, Default)]
pub(super) struct ReceiptCache {
    receipts: NameMap<ReceiptKey, CachedReceipt>,
    /// The keys in the order in which the messages came, each with the number of its receipt. A message that came
    /// again after its term has a later number, too.
    order: VecDeque<(ReceiptKey, u64)>,
    /// Number of receipts so far.
    count: u64,
    /// Bytes that the answers and names in them hold, roughly.
    bytes: usize,
}

type ReceiptKey = (Owner, MessageId);

#[derive(Debug)]
struct CachedReceipt {
    number: u64,
    received: Received,
    until: Instant,
    /// Bytes on the heap.
    bytes: usize,
}

impl ReceiptCache {
    pub(super) fn find(&self, owner: &Owner, message: &MessageId) -> Option<Received> {
        let known = self.receipts.get(&(owner.clone(), message.clone()))?;
        (known.until > Instant::now()).then(|| known.received.clone())
    }

    pub(super) fn check(&self, owner: &Owner, receipt: &Receipt) -> Result<(), StoreError> {
        match self.find(owner, &receipt.message) {
            Some(_) => Err(StoreError::Received),
            None => Ok(()),
        }
    }

    pub(super) fn note(&mut self, owner: &Owner, receipt: Receipt, outcome: Outcome) {
        while self.order.len() >= MAX_MESSAGES || self.bytes > MAX_BYTES {
            self.forget_first();
        }
        let bytes = limits::size_of_owner(owner)
            + size_of_name(receipt.message.as_str())
            + match &outcome {
                Outcome::Task(task) => size_of_name(task.as_str()),
                Outcome::Message(message) => size_of_message(message),
            };
        self.count += 1;
        let (key, number) = ((owner.clone(), receipt.message), self.count);
        let noted = CachedReceipt {
            number,
            received: Received::new(receipt.digest, outcome),
            until: Instant::now() + receipt.term,
            bytes,
        };
        self.bytes += bytes;
        self.order.push_back((key.clone(), number));
        if let Some(before) = self.receipts.insert(key, noted) {
            self.bytes -= before.bytes;
        }
    }

    /// Forgets messages that are not recognised any more, up to the first that still is.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        while let Some((key, number)) = self.order.front()
            && self
                .receipts
                .get(key)
                .is_none_or(|it| it.number != *number || it.until <= now)
        {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((key, number)) = self.order.pop_front()
            && self
                .receipts
                .get(&key)
                .is_some_and(|it| it.number == number)
            && let Some(first) = self.receipts.remove(&key)
        {
            self.bytes -= first.bytes;
        }
    }
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

    fn receipt(message: &str, term: Duration) -> Receipt {
        Receipt::new(message.into(), [7; 32], term)
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
            (receipts.order.len(), receipts.receipts.len()),
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
        let held = receipts.receipts.len() << 22;
        assert!((MAX_BYTES..MAX_BYTES + (8 << 20)).contains(&held), "{held}");
        while !receipts.order.is_empty() {
            receipts.forget_first();
        }
        assert_eq!(receipts.bytes, 0);
    }
}
