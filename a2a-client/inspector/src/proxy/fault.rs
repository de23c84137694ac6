//! Faults that a proxy injects on demand.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A fault. It stays until another is set, or once it has happened if it is to happen once.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Fault {
    #[serde(flatten)]
    pub(crate) kind: FaultKind,
    /// Whether it happens once.
    #[serde(default)]
    pub(crate) once: bool,
}

/// Kind of a fault. The public card is served without faults, so that callers find the proxy.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub(crate) enum FaultKind {
    /// Breaks the connection, or resets the stream of HTTP/2, once this many events have passed; before the next
    /// event of a stream that has had more.
    Cut { after_events: u64 },
    /// Holds the request back for this time.
    Delay { ms: u64 },
    /// Answers with this status, in place of the agent.
    Status {
        status: u16,
        /// Seconds, for `Retry-After`.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// Sends the event of this number, from 1, twice.
    Duplicate { event: u64 },
}

/// Longest delay in milliseconds.
const MAX_DELAY_MS: u64 = 600_000;

impl Fault {
    /// Checks the values. Errors: one is out of its range.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self.kind {
            FaultKind::Delay { ms } if ms > MAX_DELAY_MS => Err(Problem::bad_request(format!(
                "`ms`: expected at most {MAX_DELAY_MS}, found {ms}"
            ))),
            FaultKind::Status { status, .. } if !is_error(status) => Err(Problem::bad_request(
                format!("`status`: expected 400 to 599, found {status}"),
            )),
            FaultKind::Duplicate { event: 0 } => {
                Err(Problem::bad_request("`event`: expected 1 or more, found 0"))
            }
            _ => Ok(()),
        }
    }
}

fn is_error(status: u16) -> bool {
    let status = StatusCode::from_u16(status);
    status.is_ok_and(|status| status.is_client_error() || status.is_server_error())
}

/// Finder of the ends of events in a stream of bytes, which holds none of them back.
#[derive(Debug, Default)]
pub(crate) struct EventBoundary {
    /// Bytes of the line so far.
    length: usize,
    /// Bytes of the line so far that spell `data`.
    matched: usize,
    /// The block has a line of data: it is an event, and no comment.
    has_data: bool,
    after_cr: bool,
}

/// End of a block of lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BlockEnd {
    /// Offset of the first byte behind it.
    pub(crate) offset: usize,
    /// Whether it is an event: comments are none.
    pub(crate) is_event: bool,
}

impl EventBoundary {
    /// Reads bytes up to the end of a block, or all of them if no block ends.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Option<BlockEnd> {
        for (index, &byte) in bytes.iter().enumerate() {
            let follows_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            if byte == b'\n' && follows_cr {
                continue;
            }
            if byte != b'\n' && byte != b'\r' {
                if self.matched == self.length && DATA.get(self.length) == Some(&byte) {
                    self.matched += 1;
                }
                self.length = self.length.saturating_add(1);
                continue;
            }
            self.has_data |= self.matched == DATA.len();
            self.matched = 0;
            if std::mem::take(&mut self.length) == 0 {
                return Some(BlockEnd {
                    offset: index + 1,
                    is_event: std::mem::take(&mut self.has_data),
                });
            }
        }
        None
    }
}

const DATA: &[u8] = b"data";

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the blocks of a text, and whether each is an event; cut in two at every byte, too.
    #[track_caller]
    fn check(text: &str, expected: &[(&str, bool)]) {
        for split in 0..=text.len() {
            let mut boundary = EventBoundary::default();
            let mut found = Vec::new();
            let mut block = String::new();
            let (head, tail) = text.split_at(split);
            for mut part in [head, tail] {
                while let Some(end) = boundary.next(part.as_bytes()) {
                    block += &part[..end.offset];
                    found.push((std::mem::take(&mut block), end.is_event));
                    part = &part[end.offset..];
                }
                block += part;
            }
            let expected = expected.iter().map(|(text, is)| ((*text).to_owned(), *is));
            assert_eq!(found, expected.collect::<Vec<_>>(), "cut at {split}");
        }
    }

    #[test]
    fn blocks_end_with_blank_lines() {
        check(
            ": ping\n\nid: 1\ndata: a\n\ndata: b",
            &[(": ping\n\n", false), ("id: 1\ndata: a\n\n", true)],
        );
        check(
            "data: 1\r\rdata:2\r\r",
            &[("data: 1\r\r", true), ("data:2\r\r", true)],
        );
        // The line feed behind the last carriage return belongs to it, but is not waited for.
        check(
            "data: 1\r\n\r\ndata: 2\r\n\r",
            &[("data: 1\r\n\r", true), ("\ndata: 2\r\n\r", true)],
        );
        check(
            "dat: 1\n\n xdata: 1\n\n",
            &[("dat: 1\n\n", false), (" xdata: 1\n\n", false)],
        );
        check("", &[]);
    }

    #[test]
    fn faults_are_read() {
        let read = |json: &str| serde_json::from_str::<Fault>(json).unwrap();
        let cut = read(r#"{"kind":"cut","afterEvents":2,"once":true}"#);
        assert_eq!(cut.kind, FaultKind::Cut { after_events: 2 });
        assert!(cut.once && cut.check().is_ok());
        let status = read(r#"{"kind":"status","status":503,"retryAfter":1}"#);
        assert!(!status.once && status.check().is_ok());
        for bad in [
            r#"{"kind":"status","status":200}"#,
            r#"{"kind":"delay","ms":600001}"#,
            r#"{"kind":"duplicate","event":0}"#,
        ] {
            assert!(read(bad).check().is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Fault>(r#"{"kind":"other"}"#).is_err());
    }
}
