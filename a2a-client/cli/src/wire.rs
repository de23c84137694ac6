//! Trace of the wire on standard error.

use std::fmt::Write as _;
use std::io::Write as _;

use a2a_client::credentials::shown_url;
use a2a_client::{ResponseObserver, WireObserver};
use anstyle::AnsiColor;
use bytes::Bytes;
use http::header::HeaderMap;
use http::{request, response};

/// Prints requests and responses, without secrets.
#[derive(Debug)]
pub(crate) struct Wire;

impl WireObserver for Wire {
    fn request(&self, head: &request::Parts, body: &Bytes) -> Box<dyn ResponseObserver> {
        let mut text = format!("{} {}\n", head.method, shown_url(head));
        write_headers(&mut text, &head.headers);
        write_body(&mut text, body);
        show('>', AnsiColor::Cyan, &text);
        Box::new(Answer)
    }
}

struct Answer;

impl ResponseObserver for Answer {
    fn head(&mut self, head: &response::Parts) {
        let mut text = format!("{:?} {}\n", head.version, head.status);
        write_headers(&mut text, &head.headers);
        show('<', AnsiColor::Green, &text);
    }

    fn data(&mut self, data: &Bytes) {
        let mut text = String::new();
        write_body(&mut text, data);
        show('<', AnsiColor::Green, &text);
    }

    fn end(&mut self, failure: Option<&(dyn std::error::Error + 'static)>) {
        if let Some(failure) = failure {
            show('<', AnsiColor::Red, &format!("({failure})"));
        }
    }
}

fn write_headers(text: &mut String, headers: &HeaderMap) {
    for (name, value) in headers {
        let value = match value.is_sensitive() {
            true => "***".into(),
            false => String::from_utf8_lossy(value.as_bytes()),
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
}

fn write_body(text: &mut String, body: &[u8]) {
    let shown = &body[..body.len().min(MAX_SHOWN_BYTES)];
    text.push_str(&String::from_utf8_lossy(shown));
    if shown.len() < body.len() {
        let _ = write!(text, "… ({} bytes)", body.len());
    }
}

/// Bytes shown of each chunk.
const MAX_SHOWN_BYTES: usize = 16 << 10;

fn show(direction: char, color: AnsiColor, text: &str) {
    let style = color.on_default();
    let mut out = anstream::stderr().lock();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let visible: String = line.chars().map(crate::show::visible).collect();
        let _ = writeln!(out, "{style}{direction} {visible}{style:#}");
    }
}
