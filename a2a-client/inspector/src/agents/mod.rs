//! Agents: their connections, and the settings that are saved.

mod connection;
mod registry;
mod saved;
mod settings;
mod summary;

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use self::registry::{Agents, ConnectedAgent, MAX_AGENTS};
use self::settings::Preferences;
pub use self::settings::{ClientCertificate, OAuthDevice, Secret, Settings};
use self::summary::summary;
use crate::Inspector;
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;

pub(crate) fn routes() -> Router<Inspector> {
    let connect = post(connect).layer(DefaultBodyLimit::max(MAX_SETTINGS_BYTES));
    Router::new()
        .route("/api/agents", get(list).merge(connect))
        .route(
            "/api/agents/{id}",
            get(one).put(reconnect).delete(disconnect),
        )
        .route("/api/saved", delete(remove_saved))
}

async fn list(State(inspector): State<Inspector>) -> Json<Value> {
    let agents = inspector.agents.all();
    let agents: Vec<_> = agents.iter().map(|agent| summary(agent)).collect();
    Json(json!({"agents": agents, "saved": inspector.agents.saved()}))
}

async fn connect(
    State(inspector): State<Inspector>,
    JsonBody(settings): JsonBody<Settings>,
) -> Result<Json<Value>, Problem> {
    let agent = inspector.agents.connect(settings).await?;
    Ok(Json(summary(&agent)))
}

async fn one(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(summary(&*inspector.agents.find(&id)?)))
}

async fn reconnect(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
    JsonBody(preferences): JsonBody<Preferences>,
) -> Result<Json<Value>, Problem> {
    let agent = inspector.agents.reconnect(&id, preferences).await?;
    Ok(Json(summary(&agent)))
}

async fn disconnect(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    inspector.agents.remove(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct SavedUrl {
    url: String,
}

async fn remove_saved(
    State(inspector): State<Inspector>,
    Parameters(saved): Parameters<SavedUrl>,
) -> Result<StatusCode, Problem> {
    inspector.agents.remove_saved(&saved.url)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Bytes of the settings of one connection, with its certificates.
const MAX_SETTINGS_BYTES: usize = 256 << 10;
