//! Exchanges: requests and answers, as they go over the wire.

mod curl;
mod exchange;
mod har;
mod log;
mod observer;
mod resend;
mod routes;
mod summary;
mod versions;

pub(crate) use self::exchange::{
    Body, MASK, Request, Source, is_credential, is_event_stream, shown_headers,
};
pub(crate) use self::log::{ExchangeLog, Recording};
pub(crate) use self::routes::routes;
