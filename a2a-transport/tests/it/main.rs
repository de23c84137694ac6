//! Integration tests of the transport.

mod edge;
mod envelope;
mod gateway;
mod gateway_access;
mod gateway_rules;
mod hostile;
mod http_json;
mod malformed;
mod otlp;
mod proxies;
mod read_slots;
mod signed_cards;
mod tls;
