//! Routes of proxies.

use axum::extract::{Path, State};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ProxyView;
use super::fault::Fault;
use super::registry::{Proxies, ProxySettings};
use crate::input::JsonBody;
use crate::problem::Problem;

pub(crate) fn routes(proxies: Proxies) -> Router {
    Router::new()
        .route("/api/proxies", get(list).post(start))
        .route("/api/proxies/{id}", delete(stop))
        .route("/api/proxies/{id}/fault", put(set_fault))
        .route("/api/proxies/{id}/origins", post(confirm))
        .with_state(proxies)
}

async fn list(State(proxies): State<Proxies>) -> Json<Value> {
    Json(json!({"proxies": proxies.views()}))
}

async fn start(
    State(proxies): State<Proxies>,
    JsonBody(settings): JsonBody<ProxySettings>,
) -> Result<Json<ProxyView>, Problem> {
    proxies.start(settings).await.map(Json)
}

async fn stop(
    State(proxies): State<Proxies>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    proxies.stop(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// An origin to which requests are passed on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirmation {
    origin: String,
}

async fn confirm(
    State(proxies): State<Proxies>,
    Path(id): Path<String>,
    JsonBody(Confirmation { origin }): JsonBody<Confirmation>,
) -> Result<Json<ProxyView>, Problem> {
    let proxy = proxies.find(&id)?;
    proxy.confirm(&origin)?;
    Ok(Json(proxy.view()))
}

async fn set_fault(
    State(proxies): State<Proxies>,
    Path(id): Path<String>,
    JsonBody(fault): JsonBody<Option<Fault>>,
) -> Result<Json<ProxyView>, Problem> {
    let proxy = proxies.find(&id)?;
    if let Some(fault) = &fault {
        fault.check()?;
    }
    proxy.set_fault(fault);
    Ok(Json(proxy.view()))
}
