//! The messages that were received not long ago.

use std::collections::{HashMap, VecDeque};

use a2a_types::MessageId;
use tokio::time::Instant;

use super::super::{Outcome, Owner, Receipt, Received, StoreError};

/// The messages that were received not long ago, the oldest of which make room for new ones.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    by_message: HashMap<(Owner, MessageId), (Received, Instant)>,
    order: VecDeque<(Owner, MessageId)>,
}

impl Inbox {
    pub(super) fn find(&self, owner: &Owner, message: &MessageId) -> Option<&Received> {
        let (received, until) = self.by_message.get(&(owner.clone(), message.clone()))?;
        (*until > Instant::now()).then_some(received)
    }

    pub(super) fn check(&self, owner: &Owner, receipt: &Receipt) -> Result<(), StoreError> {
        match self.find(owner, &receipt.message) {
            Some(_) => Err(StoreError::Received),
            None => Ok(()),
        }
    }

    pub(super) fn note(&mut self, owner: &Owner, receipt: Receipt, outcome: Outcome) {
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_message.remove(&oldest);
        }
        let key = (owner.clone(), receipt.message);
        let until = Instant::now() + receipt.term;
        let digest = receipt.digest;
        let received = (Received { digest, outcome }, until);
        if self.by_message.insert(key.clone(), received).is_none() {
            self.order.push_back(key);
        }
    }

    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        self.by_message.retain(|_, (_, until)| *until > now);
        self.order.retain(|key| self.by_message.contains_key(key));
    }
}

/// How many received messages are remembered.
const MOST: usize = 100_000;
