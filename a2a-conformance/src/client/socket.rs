//! HTTP/1.1 by hand: requests are read as they come, answers written byte by byte, and connections
//! ended in every way there is.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// One end of a connection, and what was read ahead.
pub(super) struct Socket {
    stream: Stream,
    ahead: BytesMut,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    /// In order, the names in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// The message of a call by gRPC is in JSON here.
    pub(super) body: Bytes,
    /// Why the message of a call by gRPC could not be read.
    pub(super) problem: Option<String>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(other, value)| (other == name).then_some(value.as_str()))
    }

    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(super) fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }
}

impl Socket {
    pub(super) fn plain(stream: TcpStream) -> Self {
        Self::new(Stream::Plain(stream))
    }

    pub(super) fn tls(stream: TlsStream<TcpStream>) -> Self {
        Self::new(Stream::Tls(Box::new(stream)))
    }

    fn new(stream: Stream) -> Self {
        let ahead = BytesMut::new();
        Self { stream, ahead }
    }

    /// Returns whether the peer begins with HTTP/2.
    pub(super) async fn is_http2(&mut self) -> io::Result<bool> {
        loop {
            let length = self.ahead.len().min(PREFACE.len());
            if self.ahead[..length] != PREFACE[..length] {
                return Ok(false);
            }
            if length == PREFACE.len() {
                return Ok(true);
            }
            if self.more().await? == 0 {
                return Ok(false);
            }
        }
    }

    /// Returns the next request, or `None` once the peer has closed the connection.
    pub(super) async fn request(&mut self) -> io::Result<Option<Request>> {
        let end = loop {
            if let Some(end) = find(&self.ahead, b"\r\n\r\n") {
                break end;
            }
            if self.ahead.len() > MAX_HEAD {
                return Err(bad("the head of the request is too long"));
            }
            if self.more().await? == 0 {
                return Ok(None);
            }
        };
        let head = self.ahead.split_to(end + 4);
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let mut start = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (start.next(), start.next());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        let mut request = Request {
            method: method.unwrap_or_default().to_owned(),
            target: origin_form(target.unwrap_or_default()).to_owned(),
            headers: headers.collect(),
            ..Request::default()
        };
        request.body = match request.header("transfer-encoding") {
            Some(_) => self.chunked().await?,
            None => {
                let length = request.header("content-length").unwrap_or("0");
                let length = length
                    .parse()
                    .map_err(|_| bad("Content-Length is not a number"))?;
                self.take(length).await?
            }
        };
        Ok(Some(request))
    }

    async fn chunked(&mut self) -> io::Result<Bytes> {
        let mut body = BytesMut::new();
        loop {
            let line = self.line().await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
            if size > MAX_BODY - body.len() {
                return Err(bad("the body is too large"));
            }
            if size == 0 {
                // Trailers may follow.
                while !self.line().await?.is_empty() {}
                return Ok(body.freeze());
            }
            body.extend_from_slice(&self.take(size).await?);
            self.line().await?;
        }
    }

    /// Reads a line, without its end.
    async fn line(&mut self) -> io::Result<String> {
        let end = loop {
            match find(&self.ahead, b"\r\n") {
                Some(end) => break end,
                None if self.ahead.len() > MAX_BODY => return Err(bad("a line is too long")),
                None if self.more().await? == 0 => return Err(bad("the body is cut")),
                None => {}
            }
        };
        let line = self.ahead.split_to(end + 2);
        Ok(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    async fn take(&mut self, length: usize) -> io::Result<Bytes> {
        if length > MAX_BODY {
            return Err(bad("the body is too large"));
        }
        while self.ahead.len() < length {
            if self.more().await? == 0 {
                return Err(bad("the body is cut"));
            }
        }
        Ok(self.ahead.split_to(length).freeze())
    }

    async fn more(&mut self) -> io::Result<usize> {
        let Self { stream, ahead } = self;
        stream.read_buf(ahead).await
    }

    /// Waits until the peer has closed the connection, or broken it.
    pub(super) async fn closed(&mut self) {
        while let Ok(1..) = self.more().await {
            if self.ahead.len() > MAX_BODY {
                return;
            }
        }
    }

    /// Resets the connection.
    pub(super) fn reset(self) {
        if let Stream::Plain(stream) = self.stream {
            // Without zero linger, the peer would see an orderly end. If setting it fails, the case
            // reports the difference.
            let _ = stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let length = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead.split_to(length));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// Returns the path and query of a target, which may be a whole URL (RFC 9112, 3.2.2).
fn origin_form(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://") else {
        return target;
    };
    match rest.find('/') {
        _ if target.starts_with('/') => target,
        Some(slash) => &rest[slash..],
        None => "/",
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn bad(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// First bytes of a connection by HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const MAX_HEAD: usize = 64 << 10;
/// Maximum bytes of the body of a request.
pub(super) const MAX_BODY: usize = 16 << 20;
