//! Conversion between text and the canonical model, by operation.

use serde::Serialize;

use super::{
    Task, TaskArtifactUpdateEvent, TaskIdParams, TaskPushNotificationConfig, TaskQueryParams,
    TaskSendParams, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use crate::pre_1_0::{read_by_operation, write_by_operation};
use crate::reading::{Hints, Mode, StreamItem, Violation, WithRepairs, read};
use crate::{Operation, Request, Response, SendMessageResponse, TaskId};

write_by_operation! {
    /// Params of an operation.
    pub enum Params = Request {
        /// `tasks/send`, `tasks/sendSubscribe`.
        Send(TaskSendParams) = SendMessage | SendStreamingMessage;
        /// `tasks/get`, `tasks/resubscribe`.
        Query(TaskQueryParams) = GetTask | SubscribeToTask;
        /// `tasks/cancel`, `tasks/pushNotification/get`.
        Id(TaskIdParams) = CancelTask | GetTaskPushNotificationConfig;
        /// `tasks/pushNotification/set`.
        Push(TaskPushNotificationConfig) = CreateTaskPushNotificationConfig;
    }
    none = ListTasks | ListTaskPushNotificationConfigs | DeleteTaskPushNotificationConfig
        | GetExtendedAgentCard;
}

/// Result of an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OperationResult {
    /// `tasks/send`, `tasks/get`, `tasks/cancel`.
    Task(Box<Task>),
    /// `tasks/pushNotification/set`, `tasks/pushNotification/get`.
    Push(TaskPushNotificationConfig),
}

/// Reads the params of `operation`.
pub fn read_request(
    operation: Operation,
    params: &str,
    mode: Mode,
) -> Result<WithRepairs<Request>, Violation> {
    let hints = &Hints::at("$.params");
    read_by_operation! {
        operation, (params, mode, hints) => Request {
            SendMessage: TaskSendParams,
            SendStreamingMessage: TaskSendParams,
            GetTask: TaskQueryParams,
            SubscribeToTask: TaskQueryParams,
            CancelTask: TaskIdParams,
            GetTaskPushNotificationConfig: TaskIdParams,
            CreateTaskPushNotificationConfig: TaskPushNotificationConfig,
        }
        other => Err(unknown(other)),
    }
}

/// Returns the params of a request, or `None` if 0.1 has no such operation.
pub fn write_request(request: Request) -> Option<Params> {
    Params::of(request)
}

/// Reads the result of `operation`.
pub fn read_response(
    operation: Operation,
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Response>, Violation> {
    read_by_operation! {
        operation, (json, mode, hints) => Response {
            GetTask: Task,
            CancelTask: Task,
            CreateTaskPushNotificationConfig: TaskPushNotificationConfig,
            GetTaskPushNotificationConfig: TaskPushNotificationConfig,
        }
        Operation::SendMessage => {
            let task = read::<Task>(json, mode, hints)?;
            Ok(task.map(|task| Response::SendMessage(SendMessageResponse::Task(task.into()))))
        }
        other => Err(unknown(other)),
    }
}

/// Returns the result of an operation on `task`, or `None` if 0.1 has no such operation.
///
/// A direct answer becomes the task, completed with the message.
pub fn write_response(response: Response, task: &TaskId) -> Option<OperationResult> {
    Some(match response {
        Response::SendMessage(SendMessageResponse::Message(message)) => {
            OperationResult::Task(Box::new(Task {
                id: message.task_id.clone().unwrap_or_else(|| task.clone()),
                session_id: message.context_id.clone(),
                status: TaskStatus {
                    state: TaskState::Completed,
                    message: Some(message.into()),
                    timestamp: None,
                },
                artifacts: None,
                history: None,
                metadata: None,
            }))
        }
        Response::SendMessage(SendMessageResponse::Task(task))
        | Response::GetTask(task)
        | Response::CancelTask(task) => OperationResult::Task(Box::new(task.into())),
        Response::CreateTaskPushNotificationConfig(config)
        | Response::GetTaskPushNotificationConfig(config) => OperationResult::Push(config.into()),
        Response::ListTasks(_)
        | Response::ListTaskPushNotificationConfigs(_)
        | Response::DeleteTaskPushNotificationConfig(())
        | Response::GetExtendedAgentCard(_) => return None,
    })
}

/// Reads one event of a stream.
pub fn read_event(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<StreamItem>, Violation> {
    /// Members that distinguish the two events.
    #[derive(serde::Deserialize)]
    struct EventFields {
        artifact: Option<serde::de::IgnoredAny>,
    }
    let is_artifact =
        serde_json::from_str::<EventFields>(json).is_ok_and(|members| members.artifact.is_some());
    if is_artifact {
        let event = read::<TaskArtifactUpdateEvent>(json, mode, hints)?;
        return Ok(event.map(|event| StreamItem {
            event: event.into(),
            last: false,
        }));
    }
    let event = read::<TaskStatusUpdateEvent>(json, mode, hints)?;
    Ok(event.map(|event| StreamItem {
        last: event.last,
        event: event.into(),
    }))
}

fn unknown(operation: Operation) -> Violation {
    Violation {
        path: "$.method".to_owned(),
        problem: format!("{} does not exist in 0.1", operation.name()),
    }
}
