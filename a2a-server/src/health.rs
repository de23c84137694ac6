//! Readiness of a server.

use std::time::Duration;

use a2a_transport::Principal;
use a2a_types::{ConfigId, Message, MessageId, TaskId};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::engine::store_handle::StoreHandle;
use crate::store::{IdempotencyKey, Owner, StoreError};

/// Known readiness of a server.
#[derive(Default)]
pub(crate) struct Health {
    /// Cancelled once the server should get no more requests.
    draining: CancellationToken,
    /// Time of the last probe of the store, and whether the store answered.
    store: Mutex<Option<(Instant, bool)>>,
}

impl Health {
    /// Reports from now on that the server is not ready.
    pub(crate) fn drain(&self) {
        self.draining.cancel();
    }

    /// Fails with the reason if the server is not ready.
    pub(crate) async fn check(&self, store_handle: &StoreHandle) -> Result<(), &'static str> {
        match self.draining.is_cancelled() {
            true => Err("shutting down"),
            false if self.store_answers(store_handle).await => Ok(()),
            false => Err("store unavailable"),
        }
    }

    /// Returns whether the store answers, as of a second ago at most: it is probed once a second at most,
    /// however many callers ask.
    async fn store_answers(&self, store_handle: &StoreHandle) -> bool {
        let mut last = self.store.lock().await;
        if let Some((asked, answers)) = *last
            && asked.elapsed() < FRESH
            && !(answers && store_handle.is_failing())
        {
            return answers;
        }
        let answers = match timeout(MAX_CHECK_TIME, ask(store_handle)).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the store failed: this server is not ready");
                false
            }
            Err(_) => {
                tracing::warn!("the store does not answer: this server is not ready");
                false
            }
        };
        *last = Some((Instant::now(), answers));
        answers
    }
}

/// Reads a task that does not exist and deletes a webhook of it, which takes the same path as real reads
/// and writes but finds and changes nothing. If the last write failed, the store must also write a
/// record, which it may drop after a second.
async fn ask(store_handle: &StoreHandle) -> Result<(), StoreError> {
    let store = &store_handle.store;
    let (owner, nothing) = (Owner::from(Principal::anonymous()), TaskId::random());
    store.snapshot(&owner, &nothing).await?;
    if store_handle.is_failing() {
        let receipt = IdempotencyKey::new(MessageId::random(), [0; 32], FRESH);
        let written = store
            .store_response(&owner, receipt, Message::agent("ready"))
            .await;
        store_handle.note_written(&written);
        written?;
    }
    match store
        .delete_config(&owner, &nothing, &ConfigId::only())
        .await
    {
        Err(StoreError::NoTask) => Ok(()),
        deleted => deleted,
    }
}

/// Time for which a probe of the store is good enough.
const FRESH: Duration = Duration::from_secs(1);
/// Time that a store may take; a readiness check waits no longer than that.
const MAX_CHECK_TIME: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    use super::*;
    use crate::store::{MemoryStore, TimedStore};

    #[test]
    fn readiness_checks_reach_the_store_once_a_second() {
        let recorder = DebuggingRecorder::new();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().start_paused(true).build().unwrap();
        let store = TimedStore::new(Arc::new(MemoryStore::default()));
        let store_handle = StoreHandle::new(store, Duration::ZERO, false, false, false);
        let health = Health::default();
        let asked = async |times: usize| {
            for _ in 0..times {
                assert!(health.store_answers(&store_handle).await);
            }
            // One read and one write per probe.
            let recorded = recorder.snapshotter().snapshot().into_vec().into_iter();
            let answers = recorded.map(|(.., value)| match value {
                DebugValue::Histogram(answers) => answers.len(),
                value => panic!("expected a histogram, got {value:?}"),
            });
            answers.collect::<Vec<_>>()
        };
        let test = async {
            assert_eq!(asked(100).await, [1, 1]);
            tokio::time::advance(FRESH).await;
            assert_eq!(asked(100).await, [1, 1]);
            assert_eq!(asked(100).await, [0, 0]);
        };
        metrics::with_local_recorder(&recorder, || runtime.block_on(test));
    }
}
