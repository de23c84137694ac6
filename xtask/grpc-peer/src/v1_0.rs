//! Messages, client and server of A2A 1.0: package `lf.a2a.v1`.

#![allow(missing_docs, unreachable_pub, rustdoc::all, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/lf.a2a.v1.rs"));
