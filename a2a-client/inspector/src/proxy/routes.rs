//! Routes of proxies.

use axum::extract::{Path, State};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::Fault;
use super::{ProxySettings, ProxyView};
use crate::Inspector;
use crate::input::JsonBody;
use crate::problem::Problem;

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
        .route("/api/proxies", get(list).post(start))
        .route("/api/proxies/{id}", delete(stop))
        .route("/api/proxies/{id}/fault", put(set_fault))
        .route("/api/proxies/{id}/origins", post(confirm))
}

async fn list(State(inspector): State<Inspector>) -> Json<Value> {
    Json(json!({"proxies": inspector.proxies.views()}))
}

async fn start(
    State(inspector): State<Inspector>,
    JsonBody(settings): JsonBody<ProxySettings>,
) -> Result<Json<ProxyView>, Problem> {
    inspector.proxies.start(settings).await.map(Json)
}

async fn stop(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    inspector.proxies.stop(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// An origin to which requests are passed on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirmation {
    origin: String,
}

async fn confirm(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
    JsonBody(Confirmation { origin }): JsonBody<Confirmation>,
) -> Result<Json<ProxyView>, Problem> {
    let proxy = inspector.proxies.find(&id)?;
    proxy.confirm(&origin)?;
    Ok(Json(proxy.view()))
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
