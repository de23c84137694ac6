//! Handling of Ctrl-C, and of the signal by which an orchestrator ends a server.

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::show::note;

/// Notifies a command of the first Ctrl-C, also of one that came before the command waits for it.
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

/// Returns a future that waits until a server is to shut down: for the first Ctrl-C, or for SIGTERM, which orchestrators
/// send. From this call on, SIGTERM does not kill the process.
pub(crate) fn stop() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let terminate = signal(SignalKind::terminate());
    let terminated = async move {
        #[cfg(unix)]
        if let Ok(mut terminate) = terminate {
            terminate.recv().await;
            return;
        }
        std::future::pending().await
    };
    async {
        tokio::select! {
            () = first() => note("stopping; Ctrl-C again stops at once"),
            () = terminated => note("stopping"),
        }
    }
}
