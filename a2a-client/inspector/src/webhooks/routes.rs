//! Routes of receivers and notifications.

use axum::extract::{Path, State};
use axum::routing::{delete, get};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::log::NotificationPage;
use super::{ReceiverSettings, ReceiverView};
use crate::Inspector;
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;

pub(crate) fn routes() -> Router<Inspector> {
    Router::new()
        .route("/api/receivers", get(list).post(start))
        .route("/api/receivers/{id}", delete(stop))
        .route("/api/notifications", get(notifications))
}

async fn list(State(inspector): State<Inspector>) -> Json<Value> {
    Json(json!({"receivers": inspector.receivers.views()}))
}

async fn start(
    State(inspector): State<Inspector>,
    JsonBody(settings): JsonBody<ReceiverSettings>,
) -> Result<Json<ReceiverView>, Problem> {
    inspector.receivers.start(settings).await.map(Json)
}

async fn stop(
    State(inspector): State<Inspector>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    inspector.receivers.stop(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    after: u64,
}

async fn notifications(
    State(inspector): State<Inspector>,
    Parameters(range): Parameters<Range>,
) -> Json<NotificationPage> {
    Json(inspector.receivers.0.notifications.page(range.after))
}
