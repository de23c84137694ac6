//! Messages in frames: a byte of flags, the length in four bytes, the message.

use std::borrow::Cow;
use std::io::{Read, Write};

use bytes::{Buf, Bytes, BytesMut};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Bytes before each message.
const HEAD: usize = 5;
/// Flag of a message that is compressed.
const COMPRESSED: u8 = 1;

/// Reason for which a message cannot be taken from its frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("the message is larger than {0} bytes")]
    TooLarge(usize),
    #[error("expected one message, found {0}")]
    Count(&'static str),
    #[error("the message ends before its length")]
    Truncated,
    #[error("a frame has the flags {0}: expected 0, or 1 for a compressed message")]
    Flags(u8),
    #[error("the message is compressed, and `grpc-encoding` does not name gzip")]
    Encoding,
    #[error("the message is not compressed by gzip, as `grpc-encoding` says")]
    Gzip,
}

/// Returns the only message of a body.
pub(crate) fn read_message(
    body: &[u8],
    is_gzip: bool,
    limit: usize,
) -> Result<Cow<'_, [u8]>, FrameError> {
    if body.is_empty() {
        return Err(FrameError::Count("none"));
    }
    let (head, rest) = body.split_first_chunk().ok_or(FrameError::Truncated)?;
    let length = length(head, limit)?;
    let (message, rest) = rest.split_at_checked(length).ok_or(FrameError::Truncated)?;
    if !rest.is_empty() {
        return Err(FrameError::Count("more bytes after it"));
    }
    match head[0] {
        0 => Ok(Cow::Borrowed(message)),
        _ => decompress(message, is_gzip, limit).map(Cow::Owned),
    }
}

/// Returns the length of the message that follows a head.
fn length(head: &[u8; HEAD], limit: usize) -> Result<usize, FrameError> {
    let [flags, length @ ..] = *head;
    if flags > COMPRESSED {
        return Err(FrameError::Flags(flags));
    }
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    match length <= limit {
        true => Ok(length),
        false => Err(FrameError::TooLarge(limit)),
    }
}

fn decompress(message: &[u8], is_gzip: bool, limit: usize) -> Result<Vec<u8>, FrameError> {
    if !is_gzip {
        return Err(FrameError::Encoding);
    }
    let mut decompressed = Vec::new();
    let mut decoder = GzDecoder::new(message).take(limit as u64 + 1);
    match decoder.read_to_end(&mut decompressed) {
        Ok(length) if length > limit => Err(FrameError::TooLarge(limit)),
        Ok(_) => Ok(decompressed),
        Err(_) => Err(FrameError::Gzip),
    }
}

/// Appends a message in its frame. Errors: it is larger than a frame, or the limit, allows.
pub(crate) fn write_message(
    message: &[u8],
    gzip: bool,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), FrameError> {
    if message.len() > limit {
        return Err(FrameError::TooLarge(limit));
    }
    let start = out.len();
    out.reserve(HEAD + message.len());
    out.extend_from_slice(&[u8::from(gzip), 0, 0, 0, 0]);
    match gzip {
        false => out.extend_from_slice(message),
        true => {
            let mut encoder = GzEncoder::new(&mut *out, Compression::fast());
            // A `Vec` takes everything.
            let written = encoder
                .write_all(message)
                .and_then(|()| encoder.finish().map(drop));
            written.map_err(|_| FrameError::Gzip)?;
        }
    }
    let length = out.len() - start - HEAD;
    let length = u32::try_from(length).map_err(|_| FrameError::TooLarge(limit))?;
    out[start + 1..start + HEAD].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Messages of a stream, as its bytes arrive. At most one message and what came with its end is kept.
#[derive(Debug)]
pub(crate) struct Frames {
    received: BytesMut,
    is_gzip: bool,
    limit: usize,
}

impl Frames {
    /// Creates a reader of messages of at most `limit` bytes each.
    pub(crate) fn new(is_gzip: bool, limit: usize) -> Self {
        Self {
            received: BytesMut::new(),
            is_gzip,
            limit,
        }
    }

    /// Adds bytes that arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// Returns the next message, if it is there as a whole.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(head) = self.received.first_chunk() else {
            return Ok(None);
        };
        let (is_compressed, length) = (head[0] == COMPRESSED, length(head, self.limit)?);
        if self.received.len() < HEAD + length {
            return Ok(None);
        }
        self.received.advance(HEAD);
        let message = self.received.split_to(length).freeze();
        match is_compressed {
            false => Ok(Some(message)),
            true => decompress(&message, self.is_gzip, self.limit).map(|it| Some(it.into())),
        }
    }

    /// Returns the number of bytes that are kept.
    pub(crate) fn buffered(&self) -> usize {
        self.received.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(message: &[u8], gzip: bool) -> Vec<u8> {
        let mut out = b"before".to_vec();
        write_message(message, gzip, 1 << 20, &mut out).unwrap();
        out.split_off(6)
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for gzip in [false, true] {
            for message in [&b""[..], b"m", &[7; 100_000]] {
                let frame = framed(message, gzip);
                assert_eq!(read_message(&frame, gzip, 1 << 20).unwrap(), message);
                let mut frames = Frames::new(gzip, 1 << 20);
                for byte in frame.iter().chain(&frame) {
                    assert_eq!(frames.next().unwrap(), None);
                    frames.push(&[*byte]);
                    if frames.buffered() == frame.len() {
                        assert_eq!(frames.next().unwrap().unwrap(), message);
                    }
                }
            }
        }
    }

    #[track_caller]
    fn check(body: &[u8], is_gzip: bool, expected: FrameError) {
        assert_eq!(read_message(body, is_gzip, 1000), Err(expected));
    }

    #[test]
    fn malformed_frames_are_refused_by_name() {
        check(b"", false, FrameError::Count("none"));
        check(&[0, 0, 0], false, FrameError::Truncated);
        check(&[0, 0, 0, 0, 2, 7], false, FrameError::Truncated);
        check(
            &[0, 0, 0, 0, 0, 7],
            false,
            FrameError::Count("more bytes after it"),
        );
        check(&[2, 0, 0, 0, 0], false, FrameError::Flags(2));
        check(&[0, 255, 255, 255, 255], false, FrameError::TooLarge(1000));
        check(&[1, 0, 0, 0, 1, 7], false, FrameError::Encoding);
        check(&[1, 0, 0, 0, 1, 7], true, FrameError::Gzip);
        // A megabyte of the same byte, compressed to a few kilobytes.
        let bomb = framed(&vec![0; 1 << 20], true);
        assert!(bomb.len() < 20_000);
        assert_eq!(
            read_message(&bomb, true, 20_000),
            Err(FrameError::TooLarge(20_000))
        );
        let mut out = Vec::new();
        assert_eq!(
            write_message(&[0; 11], false, 10, &mut out),
            Err(FrameError::TooLarge(10))
        );
    }
}
