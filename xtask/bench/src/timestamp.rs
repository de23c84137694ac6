//! The time at which a chunk was sent, as its text.

use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem;

/// A text with the time at which it was made.
pub(crate) fn stamp() -> String {
    format!("{MARK}{:0DIGITS$} ", now())
}

/// Returns the age of each stamp in a document, in nanoseconds.
pub(crate) fn ages(document: &[u8]) -> impl Iterator<Item = u32> {
    let now = now();
    let marks = memmem::find_iter(document, MARK).map(|at| at + MARK.len());
    marks.filter_map(move |start| {
        let digits = document.get(start..start + DIGITS)?;
        let made: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(u32::try_from(now.saturating_sub(made)).unwrap_or(u32::MAX))
    })
}

/// The clock that all processes of a machine share, in nanoseconds.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// Beginning of a stamp.
const MARK: &str = "sent@";

/// Number of digits that follow.
const DIGITS: usize = 20;

#[cfg(test)]
mod tests {
    #[test]
    fn a_stamp_is_found_in_whatever_is_around_it() {
        use super::{ages, stamp};

        let document = format!("{{\"text\":\"{}\"}},\"{}\"", stamp(), stamp());
        assert_eq!(ages(document.as_bytes()).count(), 2);
        assert_eq!(ages(b"sent@123").count(), 0);
    }
}
