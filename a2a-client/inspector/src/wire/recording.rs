//! Recording of one exchange.

use std::error::Error;
use std::time::Instant;

use a2a_client::{ResponseObserver, causes};
use bytes::Bytes;
use http::{HeaderMap, response};
use jiff::Timestamp;

use super::event_boundary::EventBoundary;
use super::exchange::{Body, Exchange, Piece, Request, Response, Source, State};
use super::grpc::{MessageBoundary, is_grpc};
use super::log::ExchangeLog;

/// An exchange in progress. Dropped before its end, it counts as done if its answer had begun.
pub(crate) struct Recording {
    log: ExchangeLog,
    number: u64,
    operation: Option<&'static str>,
    began: Instant,
    has_response: bool,
    /// Path of the method, if the request is by gRPC.
    grpc_path: Option<String>,
    /// Counter of the events of a stream.
    events: Option<Counter>,
    has_ended: bool,
}

/// Returns the number of events that end in some bytes.
type Counter = Box<dyn FnMut(&[u8]) -> u64 + Send + Sync>;

impl Recording {
    /// Begins an exchange in the log. It is open until its recording ends.
    pub(crate) fn begin(log: &ExchangeLog, source: Source, request: Request) -> Self {
        let call = request.call_kind();
        let operation = call.as_ref().map(|call| call.operation);
        let grpc_path = request.grpc_path();
        let number = log.add(Exchange {
            number: 0,
            source,
            began_at: Timestamp::now(),
            call,
            request,
            response: None,
            state: State::Open,
            failure: None,
            duration: None,
        });
        Self {
            log: log.clone(),
            number,
            operation,
            began: Instant::now(),
            has_response: false,
            grpc_path,
            events: None,
            has_ended: false,
        }
    }

    /// Returns the number of the exchange.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the operation of the request, if it is a call; `GetAgentCard` for the public card.
    pub(crate) fn operation(&self) -> Option<&'static str> {
        self.operation
    }

    /// Ends the exchange, with a failure if there was one.
    pub(crate) fn finish(&mut self, failure: Option<String>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let duration = self.began.elapsed();
        self.log.update(self.number, |exchange| {
            exchange.duration = Some(duration);
            exchange.state = match failure {
                Some(_) => State::Failed,
                None => State::Done,
            };
            if let Some(response) = &mut exchange.response {
                response.body.bytes.shrink_to_fit();
                response.pieces.shrink_to_fit();
            }
            let weight = failure.as_ref().map_or(0, String::len);
            exchange.failure = failure;
            weight
        });
    }
}

impl ResponseObserver for Recording {
    fn head(&mut self, head: &response::Parts) {
        let response = Response {
            status: head.status,
            http_version: head.version,
            headers: head.headers.clone(),
            body: Body::default(),
            trailers: HeaderMap::new(),
            grpc_path: self.grpc_path.take().filter(|_| is_grpc(&head.headers)),
            head_after: self.began.elapsed(),
            frames: 0,
            pieces: Vec::new(),
        };
        self.has_response = true;
        self.events = match (response.is_stream(), &response.grpc_path) {
            (false, _) => None,
            (true, None) => {
                let mut boundary = EventBoundary::default();
                Some(Box::new(move |data| boundary.count(data)))
            }
            (true, Some(_)) => {
                let mut boundary = MessageBoundary::default();
                Some(Box::new(move |data| boundary.count(data)))
            }
        };
        self.log.update(self.number, |exchange| {
            let before = exchange.weight();
            exchange.response = Some(response);
            exchange.weight() - before
        });
    }

    fn data(&mut self, data: &Bytes) {
        let after = self.began.elapsed();
        let events = self.events.as_mut();
        let events = events.map_or(0, |count| count(data));
        self.log.update(self.number, |exchange| {
            let Some(response) = &mut exchange.response else {
                return 0;
            };
            let before = response.body.bytes.len();
            response.body.append(data);
            response.frames += events;
            let added = response.body.bytes.len() - before;
            if added == 0 || !(response.is_stream() || response.grpc_path.is_some()) {
                return added;
            }
            let end = response.body.bytes.len();
            match response.pieces.last_mut() {
                // At most one piece per millisecond, because an agent may send byte by byte.
                Some(last) if last.after.as_millis() == after.as_millis() => {
                    last.end = end;
                    added
                }
                _ => {
                    response.pieces.push(Piece { after, end });
                    added + size_of::<Piece>()
                }
            }
        });
    }

    fn trailers(&mut self, trailers: &HeaderMap) {
        self.log.update(self.number, |exchange| {
            let before = exchange.weight();
            if let Some(response) = &mut exchange.response {
                response.trailers = trailers.clone();
            }
            exchange.weight() - before
        });
    }

    fn end(&mut self, failure: Option<&(dyn Error + 'static)>) {
        self.finish(failure.map(causes));
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // A follower may stop reading when the task has ended.
        let is_failure = !self.has_response;
        self.finish(is_failure.then(|| "the caller did not wait for the answer".to_owned()));
    }
}
