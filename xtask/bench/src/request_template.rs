//! Requests as bytes, made once and stamped with a new id each time they are sent.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;

/// Kind of request, and its protocol version.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum RequestKind {
    Send,
    Stream,
    Get,
    Follow,
    Send02,
    Send01,
}

impl RequestKind {
    /// The request, with `ID` and `TEXT` in it.
    fn document(self) -> &'static str {
        match self {
            Self::Send => include_str!("../requests/send-1.0.json"),
            Self::Stream => include_str!("../requests/stream-1.0.json"),
            Self::Get => include_str!("../requests/get-1.0.json"),
            Self::Follow => include_str!("../requests/follow-1.0.json"),
            Self::Send02 => include_str!("../requests/send-0.2.json"),
            Self::Send01 => include_str!("../requests/send-0.1.json"),
        }
    }

    /// Returns whether it is about a task that is there already.
    fn is_about_a_task(self) -> bool {
        matches!(self, Self::Get | Self::Follow)
    }

    /// The body; of a task that is there, `id` is its id.
    pub(crate) fn body(self, id: &str, text: &str) -> String {
        let document = self.document().trim_end();
        document.replacen("ID", id, 1).replacen("TEXT", text, 1)
    }

    fn version(self) -> &'static str {
        match self {
            Self::Send | Self::Stream | Self::Get | Self::Follow => "a2a-version: 1.0\r\n",
            Self::Send02 | Self::Send01 => "",
        }
    }
}

/// A request of HTTP/1.1, or the body of one.
#[derive(Clone, Debug)]
pub(crate) struct RequestTemplate {
    bytes: Vec<u8>,
    /// Position of the digits of the id that change.
    slot: Option<Range<usize>>,
}

impl RequestTemplate {
    /// Asks for something new; the id is another one each time.
    pub(crate) fn new(ask: RequestKind, address: SocketAddr, text: &str) -> Self {
        let order = Self::with_id(ask, address, FIRST_ID, text);
        match ask.is_about_a_task() {
            true => order,
            false => Self::with_new_ids(order.bytes),
        }
    }

    /// Sends these bytes, in which [`FIRST_ID`] is replaced by another id each time.
    pub(crate) fn with_new_ids(bytes: Vec<u8>) -> Self {
        let start = memchr::memmem::find(&bytes, FIRST_ID.as_bytes());
        let start = start.map(|at| at + FIRST_ID.len() - DIGITS);
        let slot = start.map(|start| start..start + DIGITS);
        Self { bytes, slot }
    }

    /// Asks for the same each time.
    pub(crate) fn with_id(ask: RequestKind, address: SocketAddr, id: &str, text: &str) -> Self {
        let (body, version) = (ask.body(id, text), ask.version());
        let length = body.len();
        let bytes = format!(
            "POST / HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{version}content-length: {length}\r\n\r\n{body}"
        );
        Self {
            bytes: bytes.into_bytes(),
            slot: None,
        }
    }

    /// Returns the next request, with a new id.
    pub(crate) fn next(&mut self) -> &[u8] {
        if let Some(slot) = self.slot.clone().and_then(|slot| self.bytes.get_mut(slot)) {
            let mut number = NEXT.fetch_add(1, Ordering::Relaxed);
            for digit in slot.iter_mut().rev() {
                *digit = b"0123456789abcdef"[(number % 16) as usize];
                number /= 16;
            }
        }
        &self.bytes
    }
}

/// The id of a message that is new.
pub(crate) fn next_id() -> String {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let kept = &FIRST_ID[..FIRST_ID.len() - DIGITS];
    format!("{kept}{number:0DIGITS$x}")
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The id of a message, as long as the ids that clients make.
pub(crate) const FIRST_ID: &str = "5d2fd1e4-8c53-4b40-9bd7-000000000000";

/// Number of its digits that change.
const DIGITS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_an_id_of_its_own() {
        let address = ([127, 0, 0, 1], 80).into();
        for ask in RequestKind::value_variants() {
            let mut order = RequestTemplate::new(*ask, address, "hello");
            let (first, second) = (order.next().to_vec(), order.next().to_vec());
            assert_eq!(first != second, !ask.is_about_a_task(), "{ask:?}");
            let text = String::from_utf8(second).expect("it is text");
            let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
            assert!(
                head.contains(&format!("content-length: {}", body.len())),
                "{text}"
            );
            let body: serde_json::Value = serde_json::from_str(body).expect("it is JSON");
            assert_eq!(body["jsonrpc"], "2.0");
        }
    }
}
