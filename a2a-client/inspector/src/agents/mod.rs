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

pub use self::connection::SettingsError;
pub(crate) use self::registry::{Agents, ConnectedAgent, MAX_AGENTS};
use self::settings::Preferences;
pub use self::settings::{ClientCertificate, OAuthDevice, Secret, Settings};
use self::summary::summary;
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;

pub(crate) fn routes(agents: Agents) -> Router {
    let connect = post(connect).layer(DefaultBodyLimit::max(MAX_SETTINGS_BYTES));
    Router::new()
        .route("/api/agents", get(list).merge(connect))
        .route(
            "/api/agents/{id}",
            get(one).put(reconnect).delete(disconnect),
        )
        .route("/api/saved", delete(remove_saved))
        .with_state(agents)
}

async fn list(State(agents): State<Agents>) -> Json<Value> {
    let all = agents.all();
    let all: Vec<_> = all.iter().map(|agent| summary(agent)).collect();
    Json(json!({"agents": all, "saved": agents.saved()}))
}

async fn connect(
    State(agents): State<Agents>,
    JsonBody(settings): JsonBody<Settings>,
) -> Result<Json<Value>, Problem> {
    let agent = agents.connect(settings).await?;
    Ok(Json(summary(&agent)))
}

async fn one(State(agents): State<Agents>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(summary(&*agents.find(&id)?)))
}

async fn reconnect(
    State(agents): State<Agents>,
    Path(id): Path<String>,
    JsonBody(preferences): JsonBody<Preferences>,
) -> Result<Json<Value>, Problem> {
    let agent = agents.reconnect(&id, preferences).await?;
    Ok(Json(summary(&agent)))
}

async fn disconnect(
    State(agents): State<Agents>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    agents.remove(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct SavedUrl {
    url: String,
}

async fn remove_saved(
    State(agents): State<Agents>,
    Parameters(saved): Parameters<SavedUrl>,
) -> Result<StatusCode, Problem> {
    agents.remove_saved(&saved.url)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Bytes of the settings of one connection, with its certificates.
const MAX_SETTINGS_BYTES: usize = 256 << 10;
