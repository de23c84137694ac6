//! The link from a call of the page to the exchanges that it causes.

use tokio::sync::mpsc::UnboundedSender;

tokio::task_local! {
    static NUMBERS: UnboundedSender<u64>;
}

/// Runs a future; `numbers` gets the number of every exchange that begins while it is polled.
pub(crate) async fn scoped<F: Future>(numbers: UnboundedSender<u64>, future: F) -> F::Output {
    NUMBERS.scope(numbers, future).await
}

/// Reports that an exchange has begun, to the call for which it is made. Called by the wire observer of an agent.
pub(crate) fn started(number: u64) {
    // Outside a scope nobody asks. An error is that the caller has gone.
    let _ = NUMBERS.try_with(|numbers| numbers.send(number));
}
