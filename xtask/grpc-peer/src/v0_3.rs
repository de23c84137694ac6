//! Messages, client and server of A2A 0.3: package `a2a.v1`.

#![allow(missing_docs, unreachable_pub, rustdoc::all, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/a2a.v1.rs"));
