//! Budget of open requests.

use http::Request;

use super::budget::{Budget, Exhausted, Share};

/// Bytes that all open requests of a server may hold together, until they are answered. Clones are the same
/// budget.
///
/// Without it, a peer could open 100 requests on each of 10,000 connections of HTTP/2, each with a large head.
#[derive(Clone, Debug)]
pub(super) struct RequestBudget {
    budget: Budget,
    /// Number of requests with small heads that fit into it.
    requests: usize,
}

impl RequestBudget {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            budget: Budget::new(bytes),
            requests: bytes / OPEN_REQUEST,
        }
    }

    /// Returns the share of a request.
    ///
    /// The only open request of a connection takes none while its head is small, so that other connections
    /// cannot keep it out: the number of connections is limited.
    pub(super) fn admit(&self, size: HeadSize, is_alone: bool) -> Result<Share, Exhausted> {
        let mut share = self.budget.share();
        let is_free = is_alone && size.bytes <= SMALL_HEAD;
        if !is_free {
            share.grow(size.in_memory())?;
        }
        Ok(share)
    }

    /// Returns how many requests a further HTTP/2 connection may have open while `connections` are open:
    /// fewer than `at_most` if that many on each connection would not fit.
    pub(super) fn streams(&self, connections: usize, at_most: u32) -> u32 {
        let share = u32::try_from(self.requests / connections.max(1)).unwrap_or(u32::MAX);
        share.max(MIN_STREAMS).min(at_most)
    }
}

/// Size of the head of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadSize {
    /// Bytes of the head in HTTP/1.1, without optional white space.
    pub(super) bytes: usize,
    /// Number of headers.
    pub(super) headers: usize,
}

impl HeadSize {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let target = request.uri().path_and_query();
        let target = target.map_or(0, |target| target.as_str().len());
        let first = request.method().as_str().len() + target + "  HTTP/1.1\r\n".len();
        let mut bytes = first + "\r\n".len();
        for (name, value) in request.headers() {
            bytes += name.as_str().len() + value.len() + ": \r\n".len();
        }
        Self {
            bytes,
            headers: request.headers().len(),
        }
    }

    /// Returns the bytes that an open request takes with such a head.
    fn in_memory(self) -> usize {
        OPEN_REQUEST + 2 * self.bytes + HEADER * self.headers
    }
}

/// Bytes that hyper, h2 and this crate hold of an open request, besides its headers: about 5 KiB in
/// HTTP/2, and more while it is being answered.
const OPEN_REQUEST: usize = 8 * 1024;
/// Bytes of the entry of a header, besides its text.
const HEADER: usize = 128;
/// Bytes of a head that every connection may send.
const SMALL_HEAD: usize = 4 * 1024;
/// Requests that every connection of HTTP/2 may have open.
const MIN_STREAMS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: usize) -> HeadSize {
        HeadSize { bytes, headers: 4 }
    }

    #[test]
    fn the_first_request_of_a_connection_is_admitted_whatever_others_hold() {
        let requests = RequestBudget::new(1 << 20);
        let admit = |bytes, is_alone| requests.admit(head(bytes), is_alone);
        let mut held = Vec::new();
        while let Ok(share) = admit(100, false) {
            held.push(share);
        }
        assert!((100..128).contains(&held.len()), "{}", held.len());
        assert!(admit(SMALL_HEAD, true).is_ok());
        // Large heads are within the budget, even the first of a connection.
        assert!(admit(SMALL_HEAD + 1, true).is_err());
        held.truncate(held.len() / 2);
        assert!(admit(SMALL_HEAD + 1, true).is_ok() && admit(100, false).is_ok());
    }

    #[test]
    fn connections_have_fewer_streams_when_they_are_many() {
        let requests = RequestBudget::new(256 << 20);
        for (connections, streams) in [(0, 100), (300, 100), (1000, 32), (10_000, 8)] {
            assert_eq!(requests.streams(connections, 100), streams, "{connections}");
        }
        assert_eq!(requests.streams(10_000, 4), 4);
    }
}
