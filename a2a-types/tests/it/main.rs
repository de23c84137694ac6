//! Integration tests of the wire types.

mod cards;
mod conversions;
mod everything;
mod fold;
mod golden;
mod hybrid;
mod proto_0_3;
mod protojson;
mod reading;
mod schema;
mod trpc;
