//! Budget of answers in flight: bytes that their peers have not taken.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use a2a_edge::budget::{Budget, Exhausted, SMALL, Share, is_slow};
use bytes::Bytes;
use tokio::time::Instant;

/// The answers of a service that are in flight, within one budget. Clones are the same answers.
///
/// The bytes of an answer are given back when they have gone to the socket, not when hyper has polled them.
/// [Slow](is_slow) readers of large answers are cut off when the budget has no room.
#[derive(Clone, Debug)]
pub(crate) struct ResponseBudget {
    budget: Budget,
    large: Arc<Mutex<Vec<Weak<LargeResponse>>>>,
}

/// An answer within the budget.
pub(crate) enum AdmittedResponse {
    /// An answer that is not divided.
    Small(Bytes),
    /// An answer in pieces.
    Large(Arc<LargeResponse>),
}

impl ResponseBudget {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            budget: Budget::new(limit),
            large: Arc::default(),
        }
    }

    /// Charges an answer to the budget.
    pub(crate) fn admit(&self, bytes: Vec<u8>) -> Result<AdmittedResponse, Exhausted> {
        let mut share = self.budget.share();
        if bytes.len() <= SMALL {
            share.grow(bytes.len())?;
            return Ok(AdmittedResponse::Small(Bytes::from_owner(
                BudgetedBytes::new(bytes, share),
            )));
        }
        while let Err(exhausted) = share.grow(bytes.len()) {
            if !self.cut_slowest() {
                return Err(exhausted);
            }
        }
        let answer = Arc::new(LargeResponse::new(bytes, share));
        let mut large = lock(&self.large);
        large.retain(|answer| answer.strong_count() > 0);
        large.push(Arc::downgrade(&answer));
        Ok(AdmittedResponse::Large(answer))
    }

    /// Cuts off the answer that has been slow for the longest time, if there is one.
    fn cut_slowest(&self) -> bool {
        let large = lock(&self.large);
        let slow = large
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|answer| answer.is_slow());
        let slowest = slow.min_by_key(|answer| answer.started);
        slowest.map(|answer| answer.drop_rest()).is_some()
    }
}

/// A large answer in pieces. Each is freed when it is on its way.
#[derive(Debug)]
pub(crate) struct LargeResponse {
    started: Instant,
    pieces: Mutex<VecDeque<Bytes>>,
    taken: AtomicUsize,
    is_dropped: AtomicBool,
}

/// Bytes, and their share of the budget.
struct BudgetedBytes {
    bytes: Vec<u8>,
    _share: Share,
}

impl BudgetedBytes {
    fn new(bytes: Vec<u8>, share: Share) -> Self {
        Self {
            bytes,
            _share: share,
        }
    }
}

impl AsRef<[u8]> for BudgetedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl LargeResponse {
    fn new(mut bytes: Vec<u8>, mut share: Share) -> Self {
        let length = (bytes.len() / PIECES).max(SMALL);
        let mut pieces = VecDeque::with_capacity(PIECES + 1);
        // Split from the end, so that the rest is not moved and no byte is in memory twice.
        while !bytes.is_empty() {
            let piece = bytes.split_off(bytes.len().saturating_sub(length));
            bytes.shrink_to_fit();
            let share = share.split_off(piece.len());
            pieces.push_front(Bytes::from_owner(BudgetedBytes::new(piece, share)));
        }
        Self {
            started: Instant::now(),
            pieces: Mutex::new(pieces),
            taken: AtomicUsize::new(0),
            is_dropped: AtomicBool::new(false),
        }
    }

    /// Returns the next piece; `None` at the end, or if the answer was cut off.
    pub(crate) fn take(&self) -> Option<Bytes> {
        let piece = lock(&self.pieces).pop_front()?;
        self.taken.fetch_add(piece.len(), Ordering::Relaxed);
        Some(piece)
    }

    /// Returns the number of bytes that were not taken yet.
    pub(crate) fn len(&self) -> usize {
        lock(&self.pieces).iter().map(Bytes::len).sum()
    }

    /// Returns whether the rest was dropped, because its peer is slow and others need the room.
    pub(crate) fn is_dropped(&self) -> bool {
        self.is_dropped.load(Ordering::Relaxed)
    }

    fn is_slow(&self) -> bool {
        !self.is_dropped() && is_slow(self.started, self.taken.load(Ordering::Relaxed))
    }

    fn drop_rest(&self) {
        tracing::debug!(
            "dropped a large answer: its peer is slow, and other answers need the memory"
        );
        self.is_dropped.store(true, Ordering::Relaxed);
        lock(&self.pieces).clear();
    }
}

/// Number of pieces of a large answer, roughly.
const PIECES: usize = 64;

/// Locks a mutex. No code under these locks panics half-way, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn large(answers: &ResponseBudget, length: usize) -> Result<Arc<LargeResponse>, Exhausted> {
        match answers.admit(vec![b'x'; length])? {
            AdmittedResponse::Large(answer) => Ok(answer),
            AdmittedResponse::Small(_) => panic!("{length} bytes are not large"),
        }
    }

    #[test]
    fn an_answer_is_given_back_piece_by_piece() {
        let answers = ResponseBudget::new(4 << 20);
        let bytes: Vec<u8> = (0..3 << 20).map(|place: u32| place as u8).collect();
        let Ok(AdmittedResponse::Large(answer)) = answers.admit(bytes.clone()) else {
            panic!("no large answer");
        };
        assert!(answers.admit(bytes.clone()).is_err());
        assert_eq!(answer.len(), bytes.len());
        let mut read = Vec::new();
        let mut held = Vec::new();
        while let Some(piece) = answer.take() {
            read.extend_from_slice(&piece);
            held.push(piece);
        }
        assert!(read == bytes);
        // All bodies have been polled, and nothing has been written.
        assert!(large(&answers, 100_000).is_err());
        held.truncate(held.len() / 2);
        assert!(large(&answers, 100_000).is_ok());
        drop(held);
        assert!(answers.admit(bytes).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn slow_readers_make_room_and_others_do_not() {
        let answers = ResponseBudget::new(4 << 20);
        let slow = large(&answers, 2 << 20).unwrap();
        let first = slow.take();
        assert!(large(&answers, 2 << 20).is_err());
        tokio::time::advance(Duration::from_secs(11)).await;
        let fast = large(&answers, 2 << 20).unwrap();
        assert!(slow.is_dropped() && slow.take().is_none() && first.is_some());
        assert!(large(&answers, 2 << 20).is_err());
        tokio::time::advance(Duration::from_secs(11)).await;
        while fast.len() > 1 << 20 {
            fast.take();
        }
        assert!(large(&answers, 3 << 20).is_err());
        assert!(!fast.is_dropped());
    }
}
