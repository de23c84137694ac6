//! Facts about the inspector itself, for the page.

use std::net::SocketAddr;

use axum::routing::get;
use axum::{Extension, Json, Router};
use serde_json::{Value, json};

use crate::Inspector;
use crate::agents::MAX_AGENTS;
use crate::inspector::MAX_REQUEST_BYTES;

/// The address at which the page is served.
#[derive(Clone, Copy)]
pub(crate) struct ListenAddress(pub(crate) SocketAddr);

pub(crate) fn routes() -> Router<Inspector> {
    Router::new().route("/api/info", get(info))
}

async fn info(Extension(ListenAddress(address)): Extension<ListenAddress>) -> Json<Value> {
    let features: &[&str] = match cfg!(feature = "conformance") {
        true => &["conformance"],
        false => &[],
    };
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "listen": address.to_string(),
        "features": features,
        "limits": {"agents": MAX_AGENTS, "requestBytes": MAX_REQUEST_BYTES},
    }))
}
