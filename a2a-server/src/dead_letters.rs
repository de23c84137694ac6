//! Dead letters: notifications that were given up.

use std::time::Duration;

use crate::server::Server;
use crate::store::{Notification, Settlement, StoreError};

impl Server {
    /// Returns at most `limit` notifications that were given up after their last attempt, in the order in which
    /// they were given up. They are kept for as long as their task and their webhook.
    pub async fn dead_letters(&self, limit: usize) -> Result<Vec<Notification>, StoreError> {
        self.inner.engine.store().dead_letters(limit).await
    }

    /// Has a dead letter delivered once more; it is a dead letter again if that fails. Its webhook may have
    /// got later events in the meantime.
    pub async fn redeliver(&self, letter: &Notification) -> Result<(), StoreError> {
        let store_handle = &self.inner.engine.store_handle;
        let at_once = Settlement::Later(Duration::ZERO);
        store_handle.store.settle(letter, at_once).await?;
        store_handle.filled.notify_one();
        Ok(())
    }

    /// Forgets a dead letter.
    pub async fn discard(&self, letter: &Notification) -> Result<(), StoreError> {
        let store = self.inner.engine.store();
        store.settle(letter, Settlement::Delivered).await
    }
}
