//! Handling of Ctrl-C, and of the signal by which an orchestrator ends a server.

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

/// Waits until a server is to shut down: for Ctrl-C, or for SIGTERM, which orchestrators send.
pub(crate) async fn stop() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => drop(terminate.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
