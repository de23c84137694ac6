//! Server-Sent Events: bytes to events and back, bounded, without I/O.

use std::io::Write;

use bytes::Bytes;

use crate::Error;

/// Comment that keeps an idle stream alive. Every tested client accepts it.
pub const PING: &[u8] = b": ping\n\n";

/// Writes one event: `[id: N\n][event: name\n]data: <one line>\n\n`.
///
/// `data` must hold no line break, as compact JSON never does. The line with the id is left out for
/// clients of 0.1, some of which read only blocks that begin with `data: `.
pub fn encode(id: Option<u64>, name: Option<&str>, data: &[u8]) -> Bytes {
    let mut block = Vec::with_capacity(data.len() + 64);
    encode_into(&mut block, id, name, |block| block.extend_from_slice(data));
    block.into()
}

/// Writes one event behind others, as [`encode`] does.
pub(crate) fn encode_into(
    blocks: &mut Vec<u8>,
    id: Option<u64>,
    name: Option<&str>,
    data: impl FnOnce(&mut Vec<u8>),
) {
    if let Some(id) = id {
        // There is always room.
        let _ = writeln!(blocks, "id: {id}");
    }
    if let Some(name) = name {
        blocks.extend_from_slice(b"event: ");
        blocks.extend_from_slice(name.as_bytes());
        blocks.extend_from_slice(b"\n");
    }
    blocks.extend_from_slice(b"data: ");
    data(blocks);
    blocks.extend_from_slice(b"\n\n");
}

/// One event as read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ServerSentEvent {
    /// The `id` field: the sequence number, from peers that send it.
    pub id: Option<String>,
    /// The `event` field.
    pub name: Option<String>,
    /// The `data` fields, joined by line breaks; never empty.
    pub data: Vec<u8>,
}

/// Limits of an event that is not complete yet, made with [`Default`]; then their fields are set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// Bytes to a line; by default enough for the largest event in one line.
    pub line: usize,
    /// Bytes of data to an event; [`DEFAULT_MAX_EVENT`] by default.
    pub event: usize,
}

/// The default limit of an event that is read, in bytes: 128 MiB.
///
/// The largest event of `a2a-server` is a whole task. It holds 64 MiB by default, which JSON can
/// double by its escapes (control characters take more).
pub const DEFAULT_MAX_EVENT: usize = 128 << 20;

impl Default for Bounds {
    fn default() -> Self {
        Self {
            line: DEFAULT_MAX_EVENT + "data: ".len(),
            event: DEFAULT_MAX_EVENT,
        }
    }
}

/// Cuts a stream of bytes into events.
///
/// Tolerant of what peers send: LF, CRLF and lone CR, a byte order mark, comments, blanks before
/// the colon (`data : {`), chunks that end anywhere, a last event without the blank line.
#[derive(Debug, Default)]
pub struct Decoder {
    bounds: Bounds,
    line: Vec<u8>,
    event: ServerSentEvent,
    has_data: bool,
    after_cr: bool,
    is_started: bool,
    failed: Option<Error>,
}

impl Decoder {
    /// Makes a decoder with these bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            ..Self::default()
        }
    }

    /// Reads the next bytes and returns the events that they complete. An error that comes after such events
    /// is returned by the next call, even one without bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ServerSentEvent>, Error> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut events = Vec::new();
        match self.push_into(&mut events, bytes) {
            Err(error) if events.is_empty() => return Err(error),
            Err(error) => self.failed = Some(error),
            Ok(()) => {}
        }
        Ok(events)
    }

    fn push_into(&mut self, events: &mut Vec<ServerSentEvent>, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.extend_line(rest)?;
                break;
            };
            self.extend_line(&rest[..end])?;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line()?);
        }
        Ok(())
    }

    /// Returns the event that the end of the stream completes: peers forget the last blank line.
    pub fn finish(&mut self) -> Result<Option<ServerSentEvent>, Error> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let complete = self.end_line()?;
        Ok(complete.or_else(|| self.dispatch()))
    }

    /// Returns the number of bytes of the event that is not complete yet.
    pub(crate) fn buffered(&self) -> usize {
        self.line.len() + self.event.data.len()
    }

    /// Returns whether the stream is within a line of data: if it ends here, it was broken off.
    pub fn is_within_data(&self) -> bool {
        self.line.starts_with(b"data")
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.line.len() + bytes.len() > self.bounds.line {
            let limit = self.bounds.line;
            return Err(Error::TooLarge {
                what: "line",
                limit,
            });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<ServerSentEvent>, Error> {
        let mut line = std::mem::take(&mut self.line);
        let mark = "\u{feff}".as_bytes();
        if !std::mem::replace(&mut self.is_started, true) && line.starts_with(mark) {
            line.drain(..mark.len());
        }
        let text = line.as_slice();
        if text.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = match text.iter().position(|&byte| byte == b':') {
            Some(colon) => (text[..colon].trim_ascii_end(), &text[colon + 1..]),
            None => (text, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                let joint = usize::from(self.has_data);
                if self.event.data.len() + joint + value.len() > self.bounds.event {
                    let limit = self.bounds.event;
                    return Err(Error::TooLarge {
                        what: "event",
                        limit,
                    });
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                    self.event.data.extend_from_slice(value);
                } else {
                    // Events may be large: most have one line, which is not copied.
                    let before = line.len() - value.len();
                    line.drain(..before);
                    self.event.data = line;
                }
            }
            b"id" => self.event.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"event" => self.event.name = Some(String::from_utf8_lossy(value).into_owned()),
            // Comments, `retry`, and unknown fields.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<ServerSentEvent> {
        self.has_data = false;
        let event = std::mem::take(&mut self.event);
        (!event.data.is_empty()).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for chunk in chunks {
            events.extend(decoder.push(chunk).unwrap());
        }
        events.extend(decoder.finish().unwrap());
        events
            .into_iter()
            .map(|event| String::from_utf8(event.data).unwrap())
            .collect()
    }

    /// Reads the text whole, and cut in two at every byte.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let bytes = text.as_bytes();
        assert_eq!(decode(&[bytes]), expected, "{text:?}");
        for split in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(split);
            assert_eq!(decode(&[head, tail]), expected, "{text:?} cut at {split}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), expected, "{text:?} byte by byte");
    }

    #[test]
    fn bytes_are_cut_into_events() {
        check("data: {}\n\n", &["{}"]);
        check("data:{}\r\n\r\n", &["{}"]);
        check("data: 1\r\rdata: 2\r\r", &["1", "2"]);
        check("\u{feff}data: 1\n\n", &["1"]);
        check("data : {}\n\n", &["{}"]);
        check(": ping\n\ndata: 1\n\n: ping\n\n", &["1"]);
        check("id: 7\nevent: message\nretry: 5\ndata: 1\n\n", &["1"]);
        check("data: 1\ndata: 2\n\n", &["1\n2"]);
        check("data: 1", &["1"]);
        check("data: 1\n", &["1"]);
        check("data:\n\n\n\ndata: ä€😀\n\n", &["ä€😀"]);
        check("", &[]);
        check("{\"no\": \"field\"}\n\n", &[]);
    }

    #[test]
    fn ids_and_names_are_written() {
        let events = Decoder::default()
            .push(b"id: 7\nevent: x\ndata: 1\n\n")
            .unwrap();
        assert_eq!(events[0].id.as_deref(), Some("7"));
        assert_eq!(events[0].name.as_deref(), Some("x"));
    }

    #[test]
    fn encoded_event_is_decoded() {
        let block = encode(Some(3), Some("n"), b"{\"a\":1}");
        assert_eq!(&block[..], b"id: 3\nevent: n\ndata: {\"a\":1}\n\n");
        let events = Decoder::default().push(&block).unwrap();
        assert_eq!(events[0].data, b"{\"a\":1}");
    }

    #[test]
    fn events_before_a_line_that_is_too_long_are_yielded() {
        let bounds = Bounds {
            line: 16,
            event: 16,
        };
        let mut decoder = Decoder::new(bounds);
        let events = decoder
            .push(b"data: 1\n\ndata: 2\n\ndata: 345678901234567")
            .unwrap();
        assert_eq!(events.len(), 2);
        assert!(matches!(decoder.push(b""), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn a_line_and_an_event_have_a_bound() {
        let bounds = Bounds {
            line: 16,
            event: 24,
        };
        let too_long = Decoder::new(bounds).push(&[b'x'; 17]);
        assert!(matches!(
            too_long,
            Err(Error::TooLarge {
                what: "line",
                limit: 16
            })
        ));
        let too_many = Decoder::new(bounds).push(&b"data: 123456789\n".repeat(3));
        assert!(matches!(
            too_many,
            Err(Error::TooLarge {
                what: "event",
                limit: 24
            })
        ));
    }
}
