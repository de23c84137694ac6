//! Stores of this crate: they keep every promise of a store, within their limits.

mod capacity;
mod file_size;

use std::sync::Arc;

use a2a_server::{EncryptedStore, EncryptionKeys, MemoryStore};

use crate::stores;

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_every_promise() {
    let violations = a2a_store_suite::run(|| async { MemoryStore::default() }).await;
    assert_eq!(violations, []);
}

/// A single thread has other races than several threads.
#[tokio::test]
async fn memory_keeps_every_promise_on_one_thread() {
    let violations = a2a_store_suite::run(|| async { MemoryStore::default() }).await;
    assert_eq!(violations, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn file_keeps_every_promise() {
    let violations = a2a_store_suite::run(|| async { stores::sqlite() }).await;
    assert_eq!(violations, []);
}

#[tokio::test]
async fn sealed_store_keeps_every_promise() {
    let keys = EncryptionKeys::new("k", &[7; 32]).unwrap();
    let sealed = || EncryptedStore::new(Arc::new(MemoryStore::default()), Some(keys.clone()));
    let violations = a2a_store_suite::run(|| async { sealed() }).await;
    assert_eq!(violations, []);
}
