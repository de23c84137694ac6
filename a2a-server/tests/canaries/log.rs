//! Everything that any crate logs in this process, at every level.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, Once};
use std::time::Duration;

use tokio::sync::watch;
use tracing::{Level, Subscriber};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::secrets::{TOKEN, found, longest};

static LOG: LazyLock<CapturedLog> = LazyLock::new(CapturedLog::default);
static BEGUN: Once = Once::new();

/// The log of this process, which is kept from now on.
pub(crate) fn log() -> &'static CapturedLog {
    BEGUN.call_once(|| {
        // It records crates that use `log`, too.
        subscriber(&LOG).init();
    });
    &LOG
}

/// Records everything.
pub(crate) fn subscriber(
    log: &'static CapturedLog,
) -> impl SubscriberInitExt + Subscriber + Send + Sync {
    fmt()
        .with_max_level(Level::TRACE)
        .with_span_events(FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(move || log)
        .finish()
}

/// Everything that was logged.
#[derive(Default)]
pub(crate) struct CapturedLog {
    text: Mutex<Vec<u8>>,
    /// Number of bytes that are known to have no secret.
    checked: AtomicUsize,
    grown: watch::Sender<()>,
}

impl CapturedLog {
    /// Checks that the log has no secret since the last check that found none.
    #[track_caller]
    pub(crate) fn check(&self) {
        // A secret may have begun before the end of what was checked.
        let start = self
            .checked
            .load(Ordering::Relaxed)
            .saturating_sub(longest());
        let logged = self.text.lock().unwrap()[start..].to_vec();
        check(&String::from_utf8_lossy(&logged));
        self.checked
            .fetch_max(start + logged.len(), Ordering::Relaxed);
    }

    /// Waits until something is logged, in lines with all these words.
    pub(crate) async fn until(&self, words: &[&str]) {
        let mut grown = self.grown.subscribe();
        let says = |line: &str| words.iter().all(|word| line.contains(word));
        let mut start = 0;
        let logged = async {
            loop {
                let text = self.text_after(start);
                if text.lines().any(says) {
                    return;
                }
                // The last line may not be whole.
                start += text.rfind('\n').map_or(0, |end| end + 1);
                grown.changed().await.unwrap();
                // Reading the log of other tests must not keep this one from going on.
                tokio::task::yield_now().await;
            }
        };
        let logged = tokio::time::timeout(Duration::from_secs(60), logged).await;
        logged.unwrap_or_else(|_| panic!("nothing is logged with {words:?}"));
    }

    /// Returns whether a crate has logged anything.
    pub(crate) fn has_logged(&self, target: &str) -> bool {
        let target = format!(" {target}");
        self.text().contains(&target)
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        self.text_after(0)
    }

    /// Returns what was logged after the first `start` bytes.
    fn text_after(&self, start: usize) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()[start..]).into_owned()
    }
}

/// Checks that a text has no secret; shows the lines that have one.
#[track_caller]
pub(crate) fn check(text: &str) {
    if !found(text).is_empty() {
        let lines = text.lines().filter(|line| !found(line).is_empty());
        panic!("{:?}", lines.take(5).collect::<Vec<_>>());
    }
}

impl io::Write for &CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.lock().unwrap().extend_from_slice(bytes);
        self.grown.send_replace(());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A log is checked from the last good check on, and a secret on both sides of that place is found.
#[test]
fn secrets_are_found_after_a_check_and_across_it() {
    let log = CapturedLog::default();
    let write = |text: &str| io::Write::write_all(&mut &log, text.as_bytes()).unwrap();
    let is_found =
        || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| log.check())).is_err();
    let (begin, end) = TOKEN.split_at(TOKEN.len() / 2);
    write(&"x".repeat(1000));
    assert!(!is_found());
    write(begin);
    assert!(!is_found());
    write(end);
    assert!(is_found());
    assert!(is_found(), "a log with a secret is never good");
}
