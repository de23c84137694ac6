//! Handling of Ctrl-C.

use tokio::sync::Notify;

/// Notifies a command of the first Ctrl-C.
static FIRST: Notify = Notify::const_new();

/// Waits until Ctrl-C was pressed `times` times.
pub(crate) async fn interrupted(times: usize) {
    for _ in 0..times {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        FIRST.notify_one();
    }
}

/// Waits for the first Ctrl-C, for a command that cleans up. The next one ends the process.
pub(crate) async fn first() {
    FIRST.notified().await;
}
