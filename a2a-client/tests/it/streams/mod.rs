//! Streams survive what happens to their connections, whatever the peer can do.

mod large;
mod overlap;
mod patience;
mod peer;
mod refusals;
mod retries;
mod wire;
