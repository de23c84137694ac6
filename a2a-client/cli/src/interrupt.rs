//! Ctrl-C.

use tokio::sync::Notify;

/// Tells a command of the first Ctrl-C.
static FIRST: Notify = Notify::const_new();

/// Ends when somebody has pressed Ctrl-C so often.
pub(crate) async fn interrupted(times: usize) {
    for _ in 0..times {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        FIRST.notify_one();
    }
}

/// Ends at the first Ctrl-C, for a command that has a last word. The next one ends it in any case.
pub(crate) async fn first() {
    FIRST.notified().await;
}
