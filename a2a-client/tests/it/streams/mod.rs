//! Streams survive what happens to their connections, whatever the peer can do.

mod every_version;
mod large;
mod overlap;
mod refusals;
mod retries;
mod scripted_agent;
mod timing;
