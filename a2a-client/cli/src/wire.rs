//! Trace of the wire on standard error.

use std::fmt::Write as _;

use a2a_client::credentials::{shown_header, shown_text, shown_url};
use a2a_client::{ResponseObserver, WireObserver};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{request, response};

use crate::show::note;

/// Prints requests and responses, without secrets.
#[derive(Debug)]
pub(crate) struct Wire;

impl WireObserver for Wire {
    fn request(&self, head: &request::Parts, body: &Bytes) -> Box<dyn ResponseObserver> {
        let mut text = format!("{} {}\n", head.method, shown_url(head));
        write_headers(&mut text, &head.headers);
        let kept = &body[..body.len().min(MAX_SHOWN_BYTES)];
        write_body(&mut text, kept, body.len());
        show('>', &text);
        Box::new(Answer::default())
    }
}

/// An answer in progress.
#[derive(Default)]
struct Answer {
    /// Its body is a stream of events, which are shown line by line.
    is_stream: bool,
    /// First bytes that are not shown yet: a secret may come in pieces.
    pending: Vec<u8>,
    /// Number of bytes that are not shown yet.
    total: usize,
}

impl Answer {
    fn show_pending(&mut self) {
        let mut text = String::new();
        write_body(&mut text, &self.pending, self.total);
        self.pending.clear();
        self.total = 0;
        show('<', &text);
    }
}

impl ResponseObserver for Answer {
    fn head(&mut self, head: &response::Parts) {
        let media_type = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        let is_stream = |media_type: &[u8]| media_type.starts_with(b"text/event-stream");
        self.is_stream = media_type.is_some_and(is_stream);
        let mut text = format!("{:?} {}\n", head.version, head.status);
        write_headers(&mut text, &head.headers);
        show('<', &text);
    }

    fn data(&mut self, data: &Bytes) {
        for line in data.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_SHOWN_BYTES - self.pending.len();
            self.pending.extend(line.iter().take(room));
            self.total += line.len();
            if self.is_stream && line.ends_with(b"\n") {
                self.show_pending();
            }
        }
    }

    fn end(&mut self, failure: Option<&(dyn std::error::Error + 'static)>) {
        self.show_pending();
        if let Some(failure) = failure {
            show('<', &format!("({failure})"));
        }
    }
}

/// A follower may stop reading when the task has ended.
impl Drop for Answer {
    fn drop(&mut self) {
        self.show_pending();
    }
}

fn write_headers(text: &mut String, headers: &HeaderMap) {
    for (name, value) in headers {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name}: {}", shown_header(name.as_str(), value));
    }
}

/// Writes the first bytes of a body, or of a line of it, that has `total`.
fn write_body(text: &mut String, first: &[u8], total: usize) {
    text.push_str(&shown_text(&String::from_utf8_lossy(first)));
    if first.len() < total {
        let _ = write!(text, "… ({total} bytes)");
    }
}

/// Bytes shown of a body, or of a line of a stream.
const MAX_SHOWN_BYTES: usize = 16 << 10;

fn show(direction: char, text: &str) {
    for line in text.lines().filter(|line| !line.is_empty()) {
        note(&format!("{direction} {line}"));
    }
}
