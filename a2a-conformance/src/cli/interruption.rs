//! Request that the program end.

/// Resolves when Ctrl-C is pressed, or a build server ends the program (SIGTERM).
pub(crate) async fn interruption() {
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => {
            if pressed.is_err() {
                // Without a handler, Ctrl-C ends the program by itself.
                std::future::pending().await
            }
        }
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
