//! The service of A2A 0.3.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::agent::{Agent, Outcome, Until, history_limit};
use crate::error::Error;
use crate::events::{Events, Responses};
use crate::v0_3::a2a_service_server::A2aService;
use crate::v0_3::{
    AgentCard, CancelTaskRequest, CreateTaskPushNotificationConfigRequest,
    DeleteTaskPushNotificationConfigRequest, GetAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigResponse, SendMessageRequest, SendMessageResponse,
    StreamResponse, Task, TaskPushNotificationConfig, TaskSubscriptionRequest,
    send_message_response,
};
use crate::v0_3_conversions::{config_v1_0, zero_as_unset};
use crate::v1_0::stream_response;
use crate::{v1_0, version};

/// Answers by the agent, in the messages of 0.3.
pub(crate) struct ServiceV0_3 {
    pub(crate) agent: Arc<Agent>,
    pub(crate) card: AgentCard,
}

#[tonic::async_trait]
impl A2aService for ServiceV0_3 {
    type SendStreamingMessageStream = Responses<StreamResponse>;
    type TaskSubscriptionStream = Responses<StreamResponse>;

    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let (message, configuration) = turn(read(request)?);
        let outcome = self.agent.send(message, configuration).await;
        let payload = match outcome.map_err(status)? {
            Outcome::Message(message) => send_message_response::Payload::Msg(message.into()),
            Outcome::Task(task) => send_message_response::Payload::Task(task.into()),
        };
        Ok(Response::new(SendMessageResponse {
            payload: Some(payload),
        }))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        let (message, configuration) = turn(read(request)?);
        let events = self.agent.stream(message, configuration);
        let events = events.map_err(status)?;
        Ok(Response::new(events.responses(stream_response)))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let request = read(request)?;
        let id = task_id(&request.name)?;
        let limit = history_limit(zero_as_unset(request.history_length)).map_err(status)?;
        respond(self.agent.task(id, limit))
    }

    async fn cancel_task(
        &self,
        request: Request<CancelTaskRequest>,
    ) -> Result<Response<Task>, Status> {
        respond(self.agent.cancel(task_id(&read(request)?.name)?))
    }

    async fn task_subscription(
        &self,
        request: Request<TaskSubscriptionRequest>,
    ) -> Result<Response<Self::TaskSubscriptionStream>, Status> {
        let request = read(request)?;
        let id = task_id(&request.name)?;
        let events = match self.agent.subscribe(id, Until::Interrupted) {
            // The stream of a task that has ended is the task alone.
            Err(Error::UnsupportedOperation { .. }) => {
                let task = self.agent.task(id, None);
                task.map(|task| Events::from(stream_response::Payload::Task(task)))
            }
            events => events,
        };
        let events = events.map_err(status)?;
        Ok(Response::new(events.responses(stream_response)))
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<CreateTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let request = read(request)?;
        let config = request.config.and_then(|it| it.push_notification_config);
        let mut config = config_v1_0(config.unwrap_or_default());
        config.task_id = task_id(&request.parent)?.to_owned();
        if !request.config_id.is_empty() {
            config.id = request.config_id;
        }
        respond(self.agent.create_config(config))
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let request = read(request)?;
        let (task_id, id) = config_id(&request.name)?;
        respond(self.agent.config(task_id, id))
    }

    async fn list_task_push_notification_config(
        &self,
        request: Request<ListTaskPushNotificationConfigRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigResponse>, Status> {
        let request = read(request)?;
        let (task_id, token) = (task_id(&request.parent)?, &request.page_token);
        let page = self.agent.configs(task_id, request.page_size, token);
        let (configs, next_page_token) = page.map_err(status)?;
        Ok(Response::new(ListTaskPushNotificationConfigResponse {
            configs: configs.into_iter().map(Into::into).collect(),
            next_page_token,
        }))
    }

    async fn get_agent_card(
        &self,
        request: Request<GetAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        read(request)?;
        Ok(Response::new(self.card.clone()))
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        let request = read(request)?;
        let (task_id, id) = config_id(&request.name)?;
        respond(self.agent.delete_config(task_id, id))
    }
}

fn turn(request: SendMessageRequest) -> (Option<v1_0::Message>, v1_0::SendMessageConfiguration) {
    let configuration = request.configuration.unwrap_or_default();
    (request.request.map(Into::into), configuration.into())
}

/// Reads `tasks/{id}`.
fn task_id(name: &str) -> Result<&str, Status> {
    let id = name.strip_prefix("tasks/");
    id.filter(|id| !id.is_empty() && !id.contains('/'))
        .ok_or_else(|| malformed("is not tasks/{id}"))
}

/// Reads `tasks/{id}/pushNotificationConfigs/{config}`.
fn config_id(name: &str) -> Result<(&str, &str), Status> {
    let (task, id) = name
        .split_once("/pushNotificationConfigs/")
        .ok_or_else(|| malformed("is not tasks/{id}/pushNotificationConfigs/{config}"))?;
    Ok((task_id(task)?, id))
}

fn malformed(problem: &'static str) -> Status {
    let field = "name";
    status(Error::InvalidParams { field, problem })
}

fn read<T>(request: Request<T>) -> Result<T, Status> {
    version::read(request, "0.3").map_err(status)
}

fn respond<T, U: From<T>>(result: Result<T, Error>) -> Result<Response<U>, Status> {
    let response = result.map(|it| Response::new(it.into()));
    response.map_err(status)
}

fn status(error: Error) -> Status {
    error.status_v0_3()
}

fn stream_response(event: stream_response::Payload) -> Result<StreamResponse, Status> {
    Ok(StreamResponse {
        payload: Some(event.into()),
    })
}
