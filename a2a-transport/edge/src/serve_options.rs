//! Limits of the connections of a server.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::probes::Probes;

/// Limits of connections, made with [`Default`]; then their fields are set. Nothing that a peer does or
/// leaves undone outlasts these limits:
///
/// | of what | limit | default | on reaching it |
/// |---|---|---|---|
/// | connections at once | `connections` | 10,000, or 7/8 of the file descriptors of the process | the one without a request for the longest time is closed; without any, further ones get 503, but for `probes`, and are closed |
/// | connections of one address (IPv6: of 64 bits), but not of loopback addresses and `proxies` | `connections_per_address` | 1,000 | the same among its own; without any, further ones are closed |
/// | the first request of a connection; the head of a request from its first byte on | `header_timeout` | 10 s | the connection is closed |
/// | headers of a request, their number | `headers` | 64 | 431 |
/// | headers of a request, their bytes | `header_bytes` | 32 KiB | 431 |
/// | an answer that the peer does not take | `write_timeout` | 30 s | the connection is closed, or the stream of HTTP/2 reset |
/// | between requests | `idle_timeout` | 75 s | the connection is closed |
/// | requests of a connection at once, in HTTP/2 | `streams` | 100, fewer when more than 327 connections are open, at least 8 | further ones are refused |
/// | open requests, together | `request_budget` | 256 MiB | 503, but for the only one of a connection |
/// | requests that are open at shutdown | `grace` | 30 s | they are dropped |
/// | no more file descriptors | `accept_pause` | 50 ms | the next connection is accepted after it |
///
/// The bodies of requests and answers are limited by the service, which knows what they are for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Maximum number of connections; 10,000 by default, and at most 7/8 of the file descriptors that the
    /// process may have (on Linux). A further one takes the place of the connection that has had no request
    /// for the longest time. If all have one, it gets an answer to one request, 503 with `Retry-After` unless
    /// that is one of [`probes`](Self::probes), and is closed. Such connections are a 32nd more, at least 8 and
    /// at most 256; beyond them connections are closed at once.
    pub connections: usize,
    /// Paths that are answered even if there are too many connections; `/healthz` and `/readyz` by default.
    pub probes: Probes,
    /// Maximum number of connections of one address, in IPv6 a network of 64 bits; 1,000 by default. A
    /// further one takes the place of one of the same address in the same way, or is closed. Loopback
    /// addresses have no such limit.
    pub connections_per_address: usize,
    /// The addresses of proxies before this server, which have no such limit either; none by default.
    pub proxies: Arc<[IpAddr]>,
    /// Time for the head of a request from its first byte on, even if bytes arrive steadily, and for a new
    /// connection's first request; 10 s by default.
    pub header_timeout: Duration,
    /// Time that a connection may be without a request; 75 s by default.
    pub idle_timeout: Duration,
    /// Time in which a peer must take some of an answer: a byte of a connection, or, where the rest of the
    /// connection goes on, 16 KiB of a stream of HTTP/2. 30 s by default.
    pub write_timeout: Duration,
    /// Maximum number of headers of a request; 64 by default.
    pub headers: usize,
    /// Maximum head of a request in bytes; 32 KiB by default.
    pub header_bytes: usize,
    /// Maximum number of open requests of an HTTP/2 connection; 100 by default. A new connection may have
    /// fewer, at least 8, if that many on each open connection would not fit into
    /// [`request_budget`](Self::request_budget).
    pub streams: u32,
    /// Bytes that open requests may have together until they are answered; 256 MiB by default. Each counts 8 KiB,
    /// twice its head, and 128 bytes for each header. Further ones get 503 and `Retry-After`. The only open request of a connection does
    /// not count while its head has up to 4 KiB.
    pub request_budget: usize,
    /// Time that open requests may go on after shutdown; 30 s by default.
    pub grace: Duration,
    /// Pause in which connections may close when there is no file descriptor for another; 50 ms by default.
    pub accept_pause: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            connections: 10_000,
            probes: Probes::default(),
            connections_per_address: 1000,
            proxies: Arc::new([]),
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            headers: 64,
            header_bytes: 32 * 1024,
            streams: 100,
            request_budget: 256 << 20,
            grace: Duration::from_secs(30),
            accept_pause: Duration::from_millis(50),
        }
    }
}
