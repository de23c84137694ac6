//! Conversion between text and the canonical model, by operation.

use serde::Serialize;

use super::params::CancelBody;
use super::push::CreateBody;
use super::{
    AgentCard, CancelTaskRequest, CreateTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigResponse, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, Task, TaskPushNotificationConfig,
};
use crate::pre_1_0::convert::list;
use crate::pre_1_0::{read_by_operation, read_configs, read_list};
use crate::reading::{Hints, JsonPath, Mode, StreamItem, Violation, WithRepairs, read};
use crate::{Event, Operation, Request, Response};

/// The body of a request, where it has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Params {
    /// `POST /v1/message:send`, `POST /v1/message:stream`.
    Send(Box<SendMessageRequest>),
    /// `POST /v1/tasks/{id}:cancel`.
    Cancel(CancelTaskRequest),
    /// `POST /v1/tasks/{id}/pushNotificationConfigs`.
    CreatePush(CreateTaskPushNotificationConfigRequest),
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OperationResult {
    /// To a sent message.
    Sent(SendMessageResponse),
    /// To a task that is read or canceled.
    Task(Box<Task>),
    /// To a listing of tasks.
    List(ListTasksResponse),
    /// To a webhook that is created or read.
    Push(TaskPushNotificationConfig),
    /// To a listing of webhooks.
    Pushes(ListTaskPushNotificationConfigResponse),
    /// To the deletion of a webhook: `google.protobuf.Empty`, an object without members.
    Nothing {},
    /// To the extended card.
    Card(Box<AgentCard>),
}

/// Reads the body of a request; the task of its path is in the hints. A task named in the body has
/// to be the same.
///
/// The body of `message:send` and `message:stream` is ProtoJSON, that of the others is understood
/// in either flavour and every shape that peers send. Operations without a body are refused.
pub fn read_request(
    operation: Operation,
    body: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Request>, Violation> {
    read_by_operation! {
        operation, (body, mode, hints) => Request {
            SendMessage: SendMessageRequest,
            SendStreamingMessage: SendMessageRequest,
        }
        Operation::CreateTaskPushNotificationConfig => {
            let WithRepairs { value, repairs } = read::<CreateBody>(body, mode, hints)?;
            let value = Request::CreateTaskPushNotificationConfig(value.resolve(hints)?);
            Ok(WithRepairs { value, repairs })
        }
        Operation::CancelTask => {
            let body = match body.trim() {
                "" | "null" => "{}",
                body => body,
            };
            let WithRepairs { value, repairs } = read::<CancelBody>(body, mode, hints)?;
            let value = value.resolve(hints.task, &JsonPath::Root(hints.root))?;
            let value = Request::CancelTask(value);
            Ok(WithRepairs { value, repairs })
        }
        other => Err(Violation {
            path: hints.root.to_owned(),
            problem: format!("{} has no body in 0.3, its path says all", other.name()),
        }),
    }
}

/// Returns the body of a request, or `None` if the operation has none: its path and query suffice.
///
/// A webhook is created by the proto's whole request, `{parent, configId, config}`: servers in
/// Python take that and refuse every other member, so that no body can have the shape that others
/// expect as well. The one in JavaScript, which wants the `config` alone, is left out.
pub fn write_request(request: Request) -> Option<Params> {
    Some(match request {
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
            Params::Send(Box::new(params.into()))
        }
        Request::CancelTask(params) => Params::Cancel(params.into()),
        Request::CreateTaskPushNotificationConfig(config) => Params::CreatePush(config.into()),
        Request::GetTask(_)
        | Request::ListTasks(_)
        | Request::SubscribeToTask(_)
        | Request::GetTaskPushNotificationConfig(_)
        | Request::ListTaskPushNotificationConfigs(_)
        | Request::DeleteTaskPushNotificationConfig(_)
        | Request::GetExtendedAgentCard(_) => return None,
    })
}

/// Reads the answer to `operation`. Lists may come without the object around them, as the text of
/// 0.3.0 has them.
pub fn read_response(
    operation: Operation,
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Response>, Violation> {
    let is_bare_list = json.trim_start().starts_with('[');
    if is_bare_list && operation == Operation::ListTasks {
        let tasks = read_list::<Task>(json, mode, hints)?.map(list::read);
        let list = tasks.map(|tasks| crate::ListTasksResponse {
            tasks,
            ..Default::default()
        });
        return Ok(list.map(Response::ListTasks));
    }
    if is_bare_list && operation == Operation::ListTaskPushNotificationConfigs {
        return read_configs::<TaskPushNotificationConfig>(json, mode, hints);
    }
    read_by_operation! {
        operation, (json, mode, hints) => Response {
            SendMessage: SendMessageResponse,
            GetTask: Task,
            ListTasks: ListTasksResponse,
            CancelTask: Task,
            CreateTaskPushNotificationConfig: TaskPushNotificationConfig,
            GetTaskPushNotificationConfig: TaskPushNotificationConfig,
            ListTaskPushNotificationConfigs: ListTaskPushNotificationConfigResponse,
            GetExtendedAgentCard: AgentCard,
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Ok(WithRepairs::unrepaired(
                Response::DeleteTaskPushNotificationConfig(()),
            ))
        }
        Operation::SendStreamingMessage | Operation::SubscribeToTask => Err(Violation {
            path: hints.root.to_owned(),
            problem: format!("{} is not answered once in 0.3", operation.name()),
        }),
    }
}

/// Returns the body of an answer; there is one to every operation that is answered once.
pub fn write_response(response: Response) -> Option<OperationResult> {
    Some(match response {
        Response::SendMessage(answer) => OperationResult::Sent(answer.into()),
        Response::GetTask(task) | Response::CancelTask(task) => {
            OperationResult::Task(Box::new(task.into()))
        }
        Response::ListTasks(list) => OperationResult::List(list.into()),
        Response::CreateTaskPushNotificationConfig(config)
        | Response::GetTaskPushNotificationConfig(config) => OperationResult::Push(config.into()),
        Response::ListTaskPushNotificationConfigs(list) => OperationResult::Pushes(list.into()),
        Response::DeleteTaskPushNotificationConfig(()) => OperationResult::Nothing {},
        Response::GetExtendedAgentCard(card) => OperationResult::Card(Box::new(card.into())),
    })
}

/// Reads one item of a stream.
pub fn read_event(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<StreamItem>, Violation> {
    let event = read::<StreamResponse>(json, mode, hints)?;
    Ok(event.map(|event| StreamItem {
        last: match &event {
            StreamResponse::Message(_) => true,
            StreamResponse::StatusUpdate(update) => update.last,
            StreamResponse::Task(_) | StreamResponse::ArtifactUpdate(_) => false,
        },
        event: event.into(),
    }))
}

/// Converts one event.
pub fn write_event(event: Event) -> StreamResponse {
    event.into()
}
