//! Tasks of agents, and their webhooks.

use a2a_types::{
    ContextId, ListTasksRequest, ListTasksResponse, Task, TaskPushNotificationConfig, TaskState,
};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use futures_util::{TryStreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agents::Agents;
use crate::event_stream::{answer, task_events};
use crate::input::{JsonBody, Parameters};
use crate::problem::Problem;

pub(crate) fn routes(agents: Agents) -> Router {
    Router::new()
        .route("/api/agents/{id}/tasks", get(list))
        .route("/api/agents/{id}/tasks/{task}", get(one))
        .route("/api/agents/{id}/tasks/{task}/cancel", post(cancel))
        .route("/api/agents/{id}/tasks/{task}/events", get(follow))
        .route(
            "/api/agents/{id}/tasks/{task}/webhooks",
            get(webhooks).post(add_webhook),
        )
        .route(
            "/api/agents/{id}/tasks/{task}/webhooks/{config}",
            delete(remove_webhook),
        )
        .with_state(agents)
}

/// Filter and page of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    state: Option<TaskState>,
    context_id: Option<ContextId>,
    page_size: Option<u32>,
    page_token: Option<String>,
    history_length: Option<u32>,
    #[serde(default)]
    include_artifacts: bool,
}

async fn list(
    State(agents): State<Agents>,
    Path(id): Path<String>,
    Parameters(page): Parameters<ListQuery>,
) -> Result<Json<ListTasksResponse>, Problem> {
    let agent = agents.find(&id)?;
    let request = ListTasksRequest {
        context_id: page.context_id,
        status: page.state,
        page_size: page.page_size,
        page_token: page.page_token.unwrap_or_default(),
        history_length: page.history_length,
        include_artifacts: page.include_artifacts,
        ..ListTasksRequest::default()
    };
    Ok(Json(agent.client.list_tasks(request).await?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    history_length: Option<u32>,
}

async fn one(
    State(agents): State<Agents>,
    Path((id, task)): Path<(String, String)>,
    Parameters(history): Parameters<History>,
) -> Result<Json<Task>, Problem> {
    let agent = agents.find(&id)?;
    let task = agent.client.get_task(task, history.history_length).await?;
    Ok(Json(task))
}

async fn cancel(
    State(agents): State<Agents>,
    Path((id, task)): Path<(String, String)>,
) -> Result<Json<Task>, Problem> {
    let agent = agents.find(&id)?;
    Ok(Json(agent.client.cancel_task(task).await?))
}

#[derive(Deserialize)]
struct After {
    /// Sequence number of the last event that is known.
    after: Option<u64>,
}

async fn follow(
    State(agents): State<Agents>,
    Path((id, task)): Path<(String, String)>,
    Parameters(After { after }): Parameters<After>,
) -> Result<Response, Problem> {
    let agent = agents.find(&id)?;
    let events = stream::once(async move {
        let updates = agent.client.subscribe_after(task, after).await?;
        Ok::<_, Problem>(task_events(updates))
    });
    Ok(answer(events.try_flatten()).into_response())
}

async fn webhooks(
    State(agents): State<Agents>,
    Path((id, task)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let agent = agents.find(&id)?;
    let configs = agent.client.push_configs(task).await?;
    let configs: Vec<_> = configs.into_iter().map(without_secrets).collect();
    Ok(Json(json!({"configs": configs})))
}

async fn add_webhook(
    State(agents): State<Agents>,
    Path((id, task)): Path<(String, String)>,
    JsonBody(config): JsonBody<TaskPushNotificationConfig>,
) -> Result<Json<TaskPushNotificationConfig>, Problem> {
    let agent = agents.find(&id)?;
    let config = TaskPushNotificationConfig {
        task_id: task.into(),
        ..config
    };
    let config = agent.client.create_push_config(config).await?;
    Ok(Json(without_secrets(config)))
}

async fn remove_webhook(
    State(agents): State<Agents>,
    Path((id, task, config)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let agent = agents.find(&id)?;
    agent.client.delete_push_config(task, config).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Hides the secrets of a webhook.
fn without_secrets(mut config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    let hide = |secret: &mut Option<String>| *secret = secret.as_ref().map(|_| HIDDEN.to_owned());
    hide(&mut config.token);
    if let Some(authentication) = &mut config.authentication {
        hide(&mut authentication.credentials);
    }
    config
}

/// Text in place of a secret.
const HIDDEN: &str = "***";
