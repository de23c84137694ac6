//! The service of A2A 1.0.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::agent::{Agent, Outcome, Until, history_limit};
use crate::error::Error;
use crate::events::Responses;
use crate::v1_0::a2a_service_server::A2aService;
use crate::v1_0::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse, StreamResponse,
    SubscribeToTaskRequest, Task, TaskPushNotificationConfig, send_message_response,
    stream_response,
};
use crate::version;

/// Answers by the agent.
pub(crate) struct ServiceV1_0 {
    pub(crate) agent: Arc<Agent>,
    pub(crate) card: AgentCard,
}

#[tonic::async_trait]
impl A2aService for ServiceV1_0 {
    type SendStreamingMessageStream = Responses<StreamResponse>;
    type SubscribeToTaskStream = Responses<StreamResponse>;

    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let request = read(request)?;
        let configuration = request.configuration.unwrap_or_default();
        let outcome = self.agent.send(request.message, configuration).await;
        let payload = match outcome.map_err(status)? {
            Outcome::Message(message) => send_message_response::Payload::Message(message),
            Outcome::Task(task) => send_message_response::Payload::Task(task),
        };
        Ok(Response::new(SendMessageResponse {
            payload: Some(payload),
        }))
    }

    async fn send_streaming_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<Self::SendStreamingMessageStream>, Status> {
        let request = read(request)?;
        let configuration = request.configuration.unwrap_or_default();
        let events = self.agent.stream(request.message, configuration);
        let events = events.map_err(status)?;
        Ok(Response::new(events.responses(stream_response)))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let request = read(request)?;
        let limit = history_limit(request.history_length).map_err(status)?;
        respond(self.agent.task(&request.id, limit))
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        respond(self.agent.list(&read(request)?))
    }

    async fn cancel_task(
        &self,
        request: Request<CancelTaskRequest>,
    ) -> Result<Response<Task>, Status> {
        respond(self.agent.cancel(&read(request)?.id))
    }

    async fn subscribe_to_task(
        &self,
        request: Request<SubscribeToTaskRequest>,
    ) -> Result<Response<Self::SubscribeToTaskStream>, Status> {
        let events = self.agent.subscribe(&read(request)?.id, Until::Terminal);
        let events = events.map_err(status)?;
        Ok(Response::new(events.responses(stream_response)))
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        respond(self.agent.create_config(read(request)?))
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let request = read(request)?;
        respond(self.agent.config(&request.task_id, &request.id))
    }

    async fn list_task_push_notification_configs(
        &self,
        request: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        let request = read(request)?;
        let (task_id, token) = (&request.task_id, &request.page_token);
        let page = self.agent.configs(task_id, request.page_size, token);
        let (configs, next_page_token) = page.map_err(status)?;
        Ok(Response::new(ListTaskPushNotificationConfigsResponse {
            configs,
            next_page_token,
        }))
    }

    async fn get_extended_agent_card(
        &self,
        request: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        read(request)?;
        Ok(Response::new(self.card.clone()))
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<()>, Status> {
        let request = read(request)?;
        respond(self.agent.delete_config(&request.task_id, &request.id))
    }
}

fn read<T>(request: Request<T>) -> Result<T, Status> {
    version::read(request, "1.0").map_err(status)
}

fn respond<T>(result: Result<T, Error>) -> Result<Response<T>, Status> {
    result.map(Response::new).map_err(status)
}

fn status(error: Error) -> Status {
    error.status_v1_0()
}

fn stream_response(event: stream_response::Payload) -> Result<StreamResponse, Status> {
    Ok(StreamResponse {
        payload: Some(event),
    })
}
