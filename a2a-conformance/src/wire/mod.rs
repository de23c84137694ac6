//! What goes over the wire, as data.

pub(crate) mod exchange;
