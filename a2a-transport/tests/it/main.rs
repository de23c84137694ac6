//! Integration tests of the transport.

mod edge;
mod envelope;
mod hostile;
mod http_json;
mod malformed;
mod proxies;
mod read_slots;
#[cfg(feature = "card-signature")]
mod signed_cards;
#[cfg(feature = "tls")]
mod tls;
