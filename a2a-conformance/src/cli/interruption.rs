//! Request that the program end.

/// Returns a future that resolves when Ctrl-C is pressed, or a build server ends the program (SIGTERM). It listens
/// from the call on, not from the first poll.
#[cfg(unix)]
pub(crate) fn interruption() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    async move {
        match (interrupt, terminate) {
            (Ok(mut interrupt), Ok(mut terminate)) => tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            },
            // Without a handler, the signal ends the program directly.
            _ => std::future::pending().await,
        }
    }
}

/// Returns a future that resolves when Ctrl-C is pressed.
#[cfg(not(unix))]
pub(crate) async fn interruption() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
