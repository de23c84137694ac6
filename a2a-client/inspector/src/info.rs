//! Facts about the inspector itself, for the page.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::routing::get;
use axum::{Extension, Json, Router};
use serde_json::{Value, json};

use crate::agents::MAX_AGENTS;
use crate::input::MAX_REQUEST_BYTES;
use crate::problem::Problem;

/// The address at which the page is served.
#[derive(Clone, Copy)]
pub(crate) struct ListenAddress(pub(crate) SocketAddr);

/// Reason for which the agent that was named at the launch is not connected, with its URL. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct LaunchFailure(Arc<Mutex<Option<Value>>>);

impl LaunchFailure {
    pub(crate) fn set(&self, url: &str, problem: &Problem) {
        let failure = json!({"url": url, "error": problem});
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    fn get(&self) -> Option<Value> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

pub(crate) fn routes(failure: LaunchFailure) -> Router {
    Router::new()
        .route("/api/info", get(info))
        .with_state(failure)
}

async fn info(
    State(failure): State<LaunchFailure>,
    Extension(ListenAddress(address)): Extension<ListenAddress>,
) -> Json<Value> {
    let features: &[&str] = match cfg!(feature = "conformance") {
        true => &["conformance"],
        false => &[],
    };
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "listen": address.to_string(),
        "features": features,
        "limits": {"agents": MAX_AGENTS, "requestBytes": MAX_REQUEST_BYTES},
        "notConnected": failure.get(),
    }))
}
