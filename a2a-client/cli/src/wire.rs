//! Trace of the wire on standard error.

use std::fmt::Write as _;

use a2a_client::credentials::{shown_header, shown_text, shown_url};
use a2a_client::{ResponseObserver, WireObserver};
use a2a_transport::http::grpc::{MessageDecoder, read_status};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{request, response};

use crate::show::note;

/// Prints requests and responses, without secrets; messages of gRPC as JSON.
#[derive(Debug)]
pub(crate) struct Wire;

impl WireObserver for Wire {
    fn request(&self, head: &request::Parts, body: &Bytes) -> Box<dyn ResponseObserver> {
        let mut text = format!("{} {}\n", head.method, shown_url(head));
        write_headers(&mut text, &head.headers);
        let path = head.uri.path();
        let is_grpc = is_grpc(&head.headers);
        let decoder = MessageDecoder::of_requests(path, &head.headers, MAX_MESSAGE_BYTES);
        let is_decoded = decoder.filter(|_| is_grpc).is_some_and(|mut decoder| {
            decoder.add(body);
            write_messages(&mut text, &mut decoder)
        });
        if !is_decoded {
            let kept = &body[..body.len().min(MAX_SHOWN_BYTES)];
            write_body(&mut text, kept, body.len());
        }
        show('>', &text);
        let mut answer = Answer::default();
        answer.path = is_grpc.then(|| path.to_owned());
        Box::new(answer)
    }
}

/// An answer in progress.
#[derive(Default)]
struct Answer {
    /// Its body is a stream of events, which are shown line by line.
    is_stream: bool,
    /// The path of the method, if the request is by gRPC.
    path: Option<String>,
    /// Decoder of its messages, if it is by gRPC.
    messages: Option<MessageDecoder>,
    /// First bytes that are not shown yet: a secret may come in pieces.
    pending: Vec<u8>,
    /// Number of bytes that are not shown yet.
    total: usize,
}

impl Answer {
    fn show_pending(&mut self) {
        let mut text = String::new();
        let decoder = self.messages.take();
        let rest = decoder.map_or(0, |decoder| decoder.buffered());
        if rest > 0 {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "({rest} bytes are not a whole message)");
        }
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
        write_status(&mut text, &head.headers);
        show('<', &text);
        let path = self.path.as_deref().filter(|_| is_grpc(&head.headers));
        self.messages = path
            .and_then(|path| MessageDecoder::of_responses(path, &head.headers, MAX_MESSAGE_BYTES));
    }

    fn data(&mut self, data: &Bytes) {
        let mut data = &data[..];
        if let Some(decoder) = &mut self.messages {
            let mut text = String::new();
            decoder.add(data);
            let is_readable = write_messages(&mut text, decoder);
            show('<', &text);
            if is_readable {
                return;
            }
            // The rest is shown as it is.
            data = &data[data.len().saturating_sub(decoder.buffered())..];
            self.messages = None;
        }
        for line in data.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_SHOWN_BYTES - self.pending.len();
            self.pending.extend(line.iter().take(room));
            self.total += line.len();
            if self.is_stream && line.ends_with(b"\n") {
                self.show_pending();
            }
        }
    }

    fn trailers(&mut self, trailers: &HeaderMap) {
        self.show_pending();
        let mut text = String::new();
        write_headers(&mut text, trailers);
        write_status(&mut text, trailers);
        show('<', &text);
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

fn is_grpc(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    media_type.is_some_and(|text| text.starts_with(b"application/grpc"))
}

/// Writes the messages of gRPC that are whole, each as a line of JSON. Returns whether more can follow: no frame can be
/// read after one that is malformed.
fn write_messages(text: &mut String, decoder: &mut MessageDecoder) -> bool {
    loop {
        let before = decoder.buffered();
        match decoder.next_message() {
            Ok(None) => return true,
            Ok(Some(json)) => {
                write_body(text, &json[..json.len().min(MAX_SHOWN_BYTES)], json.len());
                text.push('\n');
            }
            Err(error) => {
                let bytes = before - decoder.buffered();
                let _ = match bytes {
                    0 => writeln!(text, "(cannot be decoded: {error})"),
                    _ => writeln!(text, "({bytes} bytes cannot be decoded: {error})"),
                };
                if bytes == 0 {
                    return false;
                }
            }
        }
    }
}

/// Writes the meaning of a status by gRPC, if headers have one.
fn write_status(text: &mut String, headers: &HeaderMap) {
    let Some(status) = read_status(headers) else {
        return;
    };
    let name = status.code.name();
    let _ = write!(text, "({name}");
    if !status.message.is_empty() {
        let _ = write!(text, ": {}", shown_text(&status.message));
    }
    text.push_str(")\n");
    for detail in status.details.as_array().into_iter().flatten() {
        let _ = writeln!(text, "{}", shown_text(&detail.to_string()));
    }
}

/// Writes the first bytes of a body, or of a line of it, that has `total`.
fn write_body(text: &mut String, first: &[u8], total: usize) {
    text.push_str(&shown_text(&String::from_utf8_lossy(first)));
    if first.len() < total {
        let _ = write!(text, "… ({total} bytes)");
    }
}

/// Bytes of a message of gRPC that is decoded.
const MAX_MESSAGE_BYTES: usize = 32 << 20;

/// Bytes shown of a body, or of a line of a stream.
const MAX_SHOWN_BYTES: usize = 16 << 10;

fn show(direction: char, text: &str) {
    for line in text.lines().filter(|line| !line.is_empty()) {
        note(&format!("{direction} {line}"));
    }
}
