//! Integration tests of the transport.

mod cors;
mod edge;
mod envelope;
mod hostile;
mod http_json;
mod malformed;
mod proxies;
mod read_slots;
mod signed_cards;
mod tls;
