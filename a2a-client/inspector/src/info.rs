//! Facts about the inspector itself, for the page.

use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::Inspector;

pub(crate) fn routes() -> Router<Inspector> {
    Router::new().route("/api/info", get(info))
}

async fn info() -> Json<Value> {
    let features: &[&str] = match cfg!(feature = "conformance") {
        true => &["conformance"],
        false => &[],
    };
    Json(json!({"version": env!("CARGO_PKG_VERSION"), "features": features}))
}
