//! Messages to agents.

use a2a_client::{Event, SendMessageResponse};
use a2a_types::reading::JsonPath;
use a2a_types::{Message, Object, SendMessageConfiguration, SendMessageRequest};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use serde::Deserialize;

use crate::agents::Agents;
use crate::event_stream::{TaskEvent, answer, task_events};
use crate::input::JsonBody;
use crate::problem::Problem;

pub(crate) fn routes(agents: Agents) -> Router {
    Router::new()
        .route("/api/agents/{id}/messages", post(send))
        .with_state(agents)
}

/// A message, and how it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewMessage {
    message: Message,
    configuration: Option<SendMessageConfiguration>,
    metadata: Option<Object>,
    /// URIs of the extensions to request.
    #[serde(default)]
    extensions: Vec<String>,
    /// Follows the events of the task, instead of waiting for the answer.
    #[serde(default)]
    stream: bool,
    /// Requests the steps on the way to the answer, if the agent reports them.
    #[serde(default)]
    steps: bool,
}

async fn send(
    State(agents): State<Agents>,
    Path(id): Path<String>,
    JsonBody(new): JsonBody<NewMessage>,
) -> Result<Response, Problem> {
    let agent = agents.find(&id)?;
    let request = SendMessageRequest {
        tenant: None,
        message: new.message,
        configuration: new.configuration,
        metadata: new.metadata,
    };
    let checked = request.check(&JsonPath::Root("$"));
    checked.map_err(|violation| Problem::bad_request(violation.to_string()))?;
    let mut sending = agent.client.send(request).extensions(new.extensions);
    if new.steps {
        sending = sending.steps();
    }
    if new.stream {
        return Ok(answer(task_events(sending.follow())).into_response());
    }
    let events = stream::once(async {
        let event = match sending.await? {
            SendMessageResponse::Task(task) => Event::Task(task),
            SendMessageResponse::Message(message) => Event::Message(message),
        };
        Ok(TaskEvent::from(event))
    });
    Ok(answer(events).into_response())
}
