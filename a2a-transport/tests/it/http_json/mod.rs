//! HTTP+JSON as it goes over the wire, in 1.0 and in both kinds of JSON of 0.3.

mod client;
mod refused;
mod requests;

use std::sync::{Arc, Mutex};

use a2a_transport::http::{Body, HttpService};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport, Update};
use a2a_types::{
    AgentCard, Artifact, Event, ListTaskPushNotificationConfigsResponse, ListTasksResponse, Part,
    Request as A2aRequest, Response as A2aResponse, SendMessageResponse, Task,
    TaskArtifactUpdateEvent, TaskPushNotificationConfig, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;

/// An agent that answers everything with the same task, and records its calls.
#[derive(Clone, Default)]
pub(crate) struct Scripted(Arc<Mutex<Vec<CallRequest>>>);

impl Scripted {
    /// Removes and returns the last call.
    pub(crate) fn last_call(&self) -> CallRequest {
        self.0.lock().unwrap().pop().expect("a call came through")
    }
}

pub(crate) fn task() -> Task {
    Task {
        id: "t".into(),
        context_id: Some("c".into()),
        status: TaskStatus::from(TaskState::Canceled),
        ..Task::default()
    }
}

pub(crate) fn config() -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        id: "p".into(),
        task_id: "t".into(),
        url: "https://w.example/".to_owned(),
        ..TaskPushNotificationConfig::default()
    }
}

/// Returns one event of each kind that follows a task.
fn events() -> Vec<Event> {
    let artifact = Artifact {
        artifact_id: "a".into(),
        parts: vec![Part::text("hi")],
        ..Artifact::default()
    };
    vec![
        Event::Task(Task {
            status: TaskStatus::from(TaskState::Working),
            ..task()
        }),
        Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: "t".into(),
            context_id: Some("c".into()),
            artifact,
            append: false,
            last_chunk: true,
            metadata: None,
        }),
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: Some("c".into()),
            status: TaskStatus::from(TaskState::Completed),
            metadata: None,
        }),
    ]
}

impl Transport for Scripted {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        self.0.lock().unwrap().push(call.clone());
        let response = match call.request {
            A2aRequest::SendMessage(_) => {
                A2aResponse::SendMessage(SendMessageResponse::Task(task()))
            }
            A2aRequest::GetTask(_) => A2aResponse::GetTask(task()),
            A2aRequest::CancelTask(_) => A2aResponse::CancelTask(task()),
            A2aRequest::ListTasks(_) => A2aResponse::ListTasks(ListTasksResponse {
                tasks: vec![task()],
                page_size: 50,
                total_size: 1,
                ..ListTasksResponse::default()
            }),
            A2aRequest::CreateTaskPushNotificationConfig(_) => {
                A2aResponse::CreateTaskPushNotificationConfig(config())
            }
            A2aRequest::GetTaskPushNotificationConfig(_) => {
                A2aResponse::GetTaskPushNotificationConfig(config())
            }
            A2aRequest::ListTaskPushNotificationConfigs(_) => {
                A2aResponse::ListTaskPushNotificationConfigs(
                    ListTaskPushNotificationConfigsResponse {
                        configs: vec![config()],
                        ..ListTaskPushNotificationConfigsResponse::default()
                    },
                )
            }
            A2aRequest::DeleteTaskPushNotificationConfig(_) => {
                A2aResponse::DeleteTaskPushNotificationConfig(())
            }
            A2aRequest::GetExtendedAgentCard(_) => {
                A2aResponse::GetExtendedAgentCard(AgentCard::new("n", "d").at("http://h/"))
            }
            A2aRequest::SendStreamingMessage(_) | A2aRequest::SubscribeToTask(_) => {
                let updates = (1..)
                    .zip(events())
                    .map(|(sequence, event)| Ok(Update::new(event, Some(sequence))));
                let reply = CallResponse::stream(tokio_stream::iter(updates));
                return Box::pin(std::future::ready(Ok(reply)));
            }
        };
        Box::pin(std::future::ready(Ok(CallResponse::once(response))))
    }
}

/// Response received.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl HttpReply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns the data of each event.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.headers["content-type"], "text/event-stream");
        let data = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.map(|json| serde_json::from_str(json).unwrap())
            .collect()
    }
}

/// Sends a request to a service: `asked` is a method and a target, `headers` are lines of a head.
pub(crate) async fn ask(
    service: &HttpService<Scripted>,
    asked: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> HttpReply {
    let (verb, target) = asked.split_once(' ').unwrap();
    let mut request = Request::builder().method(verb).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Full::from(body.to_owned())).unwrap();
    let response: Response<Body> = service.handle(request).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    HttpReply {
        status: head.status,
        headers: head.headers,
        text: String::from_utf8(body.into()).unwrap(),
    }
}
