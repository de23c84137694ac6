//! The edge of a server: what peers may do to it before and after the protocol is spoken.

mod busy;
