//! Conversion between text and the canonical model, by operation.

use super::params::CancelBody;
use super::push::CreateBody;
use super::{
    AgentCard, CancelTaskRequest, CreateTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigResponse, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, Task, TaskPushNotificationConfig,
};
use crate::pre_1_0::{read_by_operation, read_configs, read_list, write_by_operation};
use crate::reading::{Hints, JsonPath, Mode, StreamItem, Violation, WithRepairs, read};
use crate::{Event, Operation, Request, Response};

write_by_operation! {
    /// The body of a request, where it has one.
    pub enum Params = Request {
        /// `POST /v1/message:send`, `POST /v1/message:stream`.
        Send(Box<SendMessageRequest>) = SendMessage | SendStreamingMessage;
        /// `POST /v1/tasks/{id}:cancel`.
        Cancel(CancelTaskRequest) = CancelTask;
        /// `POST /v1/tasks/{id}/pushNotificationConfigs`.
        CreatePush(CreateTaskPushNotificationConfigRequest) = CreateTaskPushNotificationConfig;
    }
    none = GetTask | ListTasks | SubscribeToTask | GetTaskPushNotificationConfig
        | ListTaskPushNotificationConfigs | DeleteTaskPushNotificationConfig | GetExtendedAgentCard;
}

write_by_operation! {
    /// The body of an answer.
    pub enum OperationResult = Response {
        /// To a sent message.
        Sent(SendMessageResponse) = SendMessage;
        /// To a task that is read or canceled.
        Task(Box<Task>) = GetTask | CancelTask;
        /// To a listing of tasks.
        List(ListTasksResponse) = ListTasks;
        /// To a webhook that is created or read.
        Push(TaskPushNotificationConfig)
            = CreateTaskPushNotificationConfig | GetTaskPushNotificationConfig;
        /// To a listing of webhooks.
        Pushes(ListTaskPushNotificationConfigResponse) = ListTaskPushNotificationConfigs;
        /// To the extended card.
        Card(Box<AgentCard>) = GetExtendedAgentCard;
    }
    empty = DeleteTaskPushNotificationConfig {
        /// To the deletion of a webhook: `google.protobuf.Empty`, an object without members.
        Nothing {}
    }
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
            let config = read::<CreateBody>(body, mode, hints)?;
            config.try_map(|body| Ok(Request::CreateTaskPushNotificationConfig(body.resolve(hints)?)))
        }
        Operation::CancelTask => {
            let body = match body.trim() {
                "" | "null" => "{}",
                body => body,
            };
            let root = JsonPath::Root(hints.root);
            let cancel = read::<CancelBody>(body, mode, hints)?;
            cancel.try_map(|body| Ok(Request::CancelTask(body.resolve(hints.task, &root)?)))
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
    Params::of(request)
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
        let tasks = read_list::<Task, _>(json, mode, hints)?;
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
    OperationResult::of(response)
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
