//! Requests and answers on the wire: as data, and the plain caller and servers of the suite.

pub(crate) mod caller;
pub(crate) mod exchange;
pub(crate) mod server;
