//! Waiting with a time limit.

use std::path::Path;
use std::time::Duration;

use a2a_server::SqliteStore;

/// Waits for a future, and fails the test if it does not complete.
pub(crate) async fn soon<F: Future>(what: F) -> F::Output {
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, what).await.expect("in time")
}

/// Polls until there is a value, and fails the test if there never is one. For conditions without a
/// notification.
pub(crate) async fn eventually<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let answered = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(answered).await
}

/// Opens a file as soon as the store that had it open is gone.
pub(crate) async fn reopened(file: &Path) -> SqliteStore {
    eventually(async || SqliteStore::open(file).ok()).await
}
