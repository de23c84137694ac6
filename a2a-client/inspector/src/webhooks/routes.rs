//! Routes of receivers and notifications.

use axum::extract::{Path, State};
use axum::routing::{delete, get};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::log::NotificationPage;
use super::{ReceiverSettings, ReceiverView, Receivers};
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;

pub(crate) fn routes(receivers: Receivers) -> Router {
    Router::new()
        .route("/api/receivers", get(list).post(start))
        .route("/api/receivers/{id}", delete(stop))
        .route("/api/notifications", get(notifications))
        .with_state(receivers)
}

async fn list(State(receivers): State<Receivers>) -> Json<Value> {
    Json(json!({"receivers": receivers.views()}))
}

async fn start(
    State(receivers): State<Receivers>,
    JsonBody(settings): JsonBody<ReceiverSettings>,
) -> Result<Json<ReceiverView>, Problem> {
    receivers.start(settings).await.map(Json)
}

async fn stop(
    State(receivers): State<Receivers>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    receivers.stop(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    after: u64,
}

async fn notifications(
    State(receivers): State<Receivers>,
    Parameters(range): Parameters<Range>,
) -> Json<NotificationPage> {
    Json(receivers.0.notifications.page(range.after))
}
