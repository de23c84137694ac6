//! The link from a call of the page to the exchanges that are made for it.

use tokio::sync::mpsc::UnboundedSender;

tokio::task_local! {
    static NUMBERS: UnboundedSender<u64>;
}

/// Polls something; `numbers` gets the number of each exchange that begins meanwhile.
pub(crate) fn sync_scoped<T>(numbers: &UnboundedSender<u64>, poll: impl FnOnce() -> T) -> T {
    NUMBERS.sync_scope(numbers.clone(), poll)
}

/// Reports that an exchange has begun, to the call for which it is made. The wire observer of an agent calls it.
pub(crate) fn started(number: u64) {
    // Outside a scope no caller wants the number. An error of `send` means that the caller has gone.
    let _ = NUMBERS.try_with(|numbers| numbers.send(number));
}
