//! Exchanges: requests and answers, as they go over the wire.

use a2a_client::{ResponseObserver, WireObserver};
use axum::Router;
use bytes::Bytes;
use http::{request, response};

use crate::Inspector;
use crate::call_scope;
use crate::changes::Changes;

/// The log of exchanges, bounded. Clones share it.
#[derive(Clone)]
pub(crate) struct ExchangeLog {
    _changes: Changes,
}

impl ExchangeLog {
    pub(crate) fn new(changes: Changes) -> Self {
        Self { _changes: changes }
    }

    /// Returns an observer that logs the exchanges with an agent, by its id. With each request it calls
    /// [`call_scope::started`], on the task that makes the request.
    pub(crate) fn observer(&self, _agent: &str) -> impl WireObserver + use<> {
        Observer
    }
}

#[derive(Debug)]
struct Observer;

impl WireObserver for Observer {
    fn request(&self, _: &request::Parts, _: &Bytes) -> Box<dyn ResponseObserver> {
        call_scope::started(1);
        Box::new(Self)
    }
}

impl ResponseObserver for Observer {
    fn head(&mut self, _: &response::Parts) {}
    fn data(&mut self, _: &Bytes) {}
    fn end(&mut self, _: Option<&(dyn std::error::Error + 'static)>) {}
}

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
}
