//! The socket of a connection.
//!
//! It finds out the version of HTTP itself: with `hyper_util::server::conn::auto`, an idle stream takes 23 %
//! more memory.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Version;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_io_timeout::TimeoutWriter;

use super::connection_timer::{ConnectionTimer, Phase};

/// A socket that reports reads and writes, and breaks when a write times out.
pub(super) struct Socket<I> {
    stream: Pin<Box<TimeoutWriter<I>>>,
    timer: Arc<ConnectionTimer>,
    /// Bytes that were read to detect the HTTP version.
    first_bytes: FirstBytes,
    /// Error that was read together with the last of those bytes: sockets report one only once.
    broken: Option<io::Error>,
}

/// The first bytes of a connection.
#[derive(Default)]
struct FirstBytes {
    bytes: [u8; PREFACE.len()],
    length: usize,
}

/// First bytes of a connection of HTTP/2. RFC 9113 §3.4.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

impl<I: AsyncWrite> Socket<I> {
    pub(super) fn new(stream: I, write_timeout: Duration, timer: Arc<ConnectionTimer>) -> Self {
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(write_timeout));
        Self {
            stream: Box::pin(stream),
            timer,
            first_bytes: FirstBytes::default(),
            broken: None,
        }
    }

    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(1..)) = written {
            self.timer.moved(Phase::Idle);
        }
        written
    }
}

impl<I: AsyncRead> Socket<I> {
    /// Returns the version of HTTP that the peer speaks, by its first bytes. They are read again later,
    /// together with the bytes that follow: hyper would allocate a buffer for each of the two.
    pub(super) async fn version(&mut self) -> io::Result<Version> {
        while self.first_bytes.length < PREFACE.len() {
            let read = std::future::poll_fn(|cx| self.poll_begin(cx)).await?;
            if read == 0 || !PREFACE.starts_with(self.first_bytes.bytes()) {
                return Ok(Version::HTTP_11);
            }
        }
        Ok(Version::HTTP_2)
    }

    /// Reads more of the first bytes; 0 means that there are no more.
    fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let first_bytes = &mut self.first_bytes;
        let mut buffer = ReadBuf::new(&mut first_bytes.bytes);
        buffer.set_filled(first_bytes.length);
        ready!(self.stream.as_mut().poll_read(cx, &mut buffer))?;
        let before = std::mem::replace(&mut first_bytes.length, buffer.filled().len());
        Poll::Ready(Ok(first_bytes.length - before))
    }
}

impl FirstBytes {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Gives as many bytes as there is room for; returns whether there were any.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let length = self.length.min(buffer.remaining());
        buffer.put_slice(&self.bytes[..length]);
        self.bytes.copy_within(length..self.length, 0);
        self.length -= length;
        length > 0
    }
}

impl<I: AsyncRead> AsyncRead for Socket<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let gave = self.first_bytes.give(buffer);
        if !gave && let Some(error) = self.broken.take() {
            return Poll::Ready(Err(error));
        }
        let before = buffer.filled().len();
        let read = self.stream.as_mut().poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.timer.moved(Phase::Head);
        }
        match (gave, read) {
            (true, Poll::Ready(Err(error))) => {
                self.broken.get_or_insert(error);
                Poll::Ready(Ok(()))
            }
            (true, _) => Poll::Ready(Ok(())),
            (false, read) => read,
        }
    }
}

impl<I: AsyncWrite> AsyncWrite for Socket<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.stream.as_mut().poll_write(cx, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.stream.as_mut().poll_write_vectored(cx, slices);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::ServeOptions;
    use crate::request_budget::RequestBudget;

    fn timer() -> Arc<ConnectionTimer> {
        let (options, requests) = (ServeOptions::default(), RequestBudget::new(1 << 20));
        Arc::new(ConnectionTimer::new(&options, requests))
    }

    /// Reads a connection that begins with these bytes, which come in pieces of this length, with this
    /// much room at a time: nothing is lost.
    async fn check(bytes: &[u8], piece: usize, room: usize, expected: Version) {
        let (mut theirs, ours) = tokio::io::duplex(piece);
        let sent = bytes.to_vec();
        tokio::spawn(async move { theirs.write_all(&sent).await });
        let timer = timer();
        let mut wire = Socket::new(ours, Duration::from_secs(1), timer);
        assert_eq!(wire.version().await.unwrap(), expected);
        let mut all = Vec::new();
        let mut buffer = vec![0; room];
        while let read @ 1.. = wire.read(&mut buffer).await.unwrap() {
            all.extend_from_slice(&buffer[..read]);
        }
        assert_eq!(all, bytes);
    }

    /// A socket that is reset after its first bytes, and reports that once.
    struct Reset<'b>(Option<&'b [u8]>, bool);

    impl AsyncRead for Reset<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if let Some(bytes) = self.0.take() {
                buffer.put_slice(bytes);
            } else if std::mem::replace(&mut self.1, false) {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Reset<'_> {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// All bytes come first, with any room for them at a time.
    #[tokio::test]
    async fn an_error_behind_the_first_bytes_is_reported_after_them() {
        for room in [1, 2, 3, 100] {
            let timer = timer();
            let socket = Reset(Some(b"GET"), true);
            let mut wire = Socket::new(socket, Duration::from_secs(1), timer);
            assert_eq!(wire.version().await.unwrap(), Version::HTTP_11);
            let (mut all, mut buffer) = (Vec::new(), vec![0; room]);
            let error = loop {
                match wire.read(&mut buffer).await {
                    Ok(0) => panic!("the error is lost"),
                    Ok(read) => all.extend_from_slice(&buffer[..read]),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
            assert_eq!(all, b"GET");
        }
    }

    #[tokio::test]
    async fn the_first_bytes_tell_the_version_and_are_read_again() {
        let http_2 = [&PREFACE[..], b"more"].concat();
        for piece in [1, 5, 24, 100] {
            for room in [1, 7, 24, 100] {
                check(&http_2, piece, room, Version::HTTP_2).await;
                check(PREFACE, piece, room, Version::HTTP_2).await;
                for bytes in ["GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/1.1", "PRI", ""] {
                    check(bytes.as_bytes(), piece, room, Version::HTTP_11).await;
                }
            }
        }
    }
}
