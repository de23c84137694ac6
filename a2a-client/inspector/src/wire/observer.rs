//! Observer of the exchanges with an agent.

use std::fmt;

use a2a_client::credentials::shown_url;
use a2a_client::{ResponseObserver, WireObserver};
use bytes::Bytes;
use http::request;

use super::exchange::{Body, Request, Source};
use super::log::ExchangeLog;
use super::recording::Recording;
use crate::call_scope;

/// Observer that logs the exchanges with one agent.
pub(crate) struct Observer {
    log: ExchangeLog,
    agent: String,
}

impl ExchangeLog {
    /// Returns an observer that logs the exchanges with an agent, by its id. With each request it calls
    /// [`call_scope::started`], on the task that makes the request.
    pub(crate) fn observer(&self, agent: &str) -> Observer {
        Observer {
            log: self.clone(),
            agent: agent.to_owned(),
        }
    }
}

impl WireObserver for Observer {
    fn request(&self, head: &request::Parts, body: &Bytes) -> Box<dyn ResponseObserver> {
        let request = Request {
            method: head.method.clone(),
            url: head.uri.to_string(),
            shown_url: shown_url(head),
            // Known by the answer: the connection may negotiate another one.
            http_version: None,
            headers: head.headers.clone(),
            body: Body::of(body),
        };
        let recording = Recording::begin(&self.log, Source::Client(self.agent.clone()), request);
        call_scope::started(recording.number());
        Box::new(recording)
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}
