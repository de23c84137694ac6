//! Requests and answers on the wire, as data.

pub(crate) mod exchange;
