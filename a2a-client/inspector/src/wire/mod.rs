//! Exchanges: requests and answers, as they go over the wire.

mod answer;
mod curl;
mod event_boundary;
mod exchange;
mod grpc;
mod har;
mod log;
mod observer;
mod recording;
mod resend;
mod routes;
mod summary;
mod versions;

pub(crate) use self::event_boundary::EventBoundary;
#[cfg(feature = "conformance")]
pub(crate) use self::exchange::MASK;
pub(crate) use self::exchange::{Body, Request, Source, is_event_stream, shown_headers};
pub(crate) use self::log::ExchangeLog;
pub(crate) use self::recording::Recording;
pub(crate) use self::routes::routes;
pub(crate) use self::summary::shown_deviation;
