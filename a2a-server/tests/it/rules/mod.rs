//! Every rule of behaviour of the four versions, as it is seen on the wire. Each test quotes its rule in our words, with
//! the section of the specification that it comes from.

mod recording_agent;
mod scripted_agent;
mod v0_1;
mod v0_2;
mod v0_3;
mod v1_0;
mod webhooks;
mod wire;
