//! Messages of both ends: answers, bodies, budgets, headers.

pub(super) mod address;
pub(super) mod answer;
pub(super) mod body;
pub(super) mod challenge;
pub(super) mod extensions;
#[cfg(feature = "grpc")]
pub(super) mod grpc;
#[cfg(not(feature = "grpc"))]
#[path = "no_grpc.rs"]
pub(super) mod grpc;
pub(super) mod media;
pub(super) mod receive;
pub(super) mod response_budget;
pub(super) mod server_span;
