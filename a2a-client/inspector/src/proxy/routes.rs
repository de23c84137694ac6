//! Routes of proxies.

use axum::extract::{Path, State};
use axum::routing::{delete, get, put};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ProxyView;
use super::fault::Fault;
use crate::Inspector;
use crate::input::JsonBody;
use crate::problem::Problem;

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
        .route("/api/proxies", get(list).post(start))
        .route("/api/proxies/{id}", delete(stop))
        .route("/api/proxies/{id}/fault", put(set_fault))
}

async fn list(State(inspector): State<Inspector>) -> Json<Value> {
    Json(json!({"proxies": inspector.proxies.views()}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// An address, or a port on loopback.
    #[serde(default = "any_port")]
    listen: String,
    upstream: String,
}

fn any_port() -> String {
    "127.0.0.1:0".to_owned()
}

async fn start(
    State(inspector): State<Inspector>,
    JsonBody(settings): JsonBody<Settings>,
) -> Result<Json<ProxyView>, Problem> {
    let listen = match settings.listen.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => settings.listen,
    };
    let started = inspector.proxies.start(&listen, &settings.upstream).await;
    started.map(Json)
}

async fn stop(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    inspector.proxies.stop(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn set_fault(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
    JsonBody(fault): JsonBody<Option<Fault>>,
) -> Result<Json<ProxyView>, Problem> {
    let proxy = inspector.proxies.find(&id)?;
    if let Some(fault) = &fault {
        fault.check()?;
    }
    proxy.set_fault(fault);
    Ok(Json(proxy.view()))
}
