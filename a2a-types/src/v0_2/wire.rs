//! Conversion between text and the canonical model, by operation.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    AgentCard, DeleteTaskPushNotificationConfigParams, GetTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigParams, ListTasksParams, ListTasksResult, Message,
    MessageSendParams, Task, TaskArtifactUpdateEvent, TaskIdParams, TaskPushNotificationConfig,
    TaskQueryParams, TaskStatusUpdateEvent,
};
use crate::pre_1_0::{read_by_operation, read_configs, write_by_operation};
use crate::reading::{Hints, Mode, StreamItem, Violation, WithRepairs, read};
use crate::{
    Event, GetExtendedAgentCardRequest, Operation, ProtocolVersion, Request, Response,
    SendMessageResponse,
};

write_by_operation! {
    /// Params of an operation.
    pub enum Params = Request {
        /// `message/send`, `message/stream`.
        Send(Box<MessageSendParams>) = SendMessage | SendStreamingMessage;
        /// `tasks/get`.
        Query(TaskQueryParams) = GetTask;
        /// `tasks/cancel`, `tasks/resubscribe`.
        Id(TaskIdParams) = CancelTask | SubscribeToTask;
        /// `tasks/pushNotificationConfig/set`.
        SetPush(TaskPushNotificationConfig) = CreateTaskPushNotificationConfig;
        /// `tasks/pushNotificationConfig/get`.
        GetPush(GetTaskPushNotificationConfigParams) = GetTaskPushNotificationConfig;
        /// `tasks/pushNotificationConfig/list`.
        ListPush(ListTaskPushNotificationConfigParams) = ListTaskPushNotificationConfigs;
        /// `tasks/pushNotificationConfig/delete`.
        DeletePush(DeleteTaskPushNotificationConfigParams) = DeleteTaskPushNotificationConfig;
        /// `tasks/list` (0.3).
        List(Box<ListTasksParams>) = ListTasks;
    }
    empty = GetExtendedAgentCard {
        /// `agent/getAuthenticatedExtendedCard` (0.3), which has none.
        Nothing
    }
}

/// Result of an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OperationResult {
    /// `message/send`, `tasks/get`, `tasks/cancel`.
    Task(Box<Task>),
    /// `message/send`.
    Message(Box<Message>),
    /// `tasks/pushNotificationConfig/set` and `get`.
    Push(TaskPushNotificationConfig),
    /// `tasks/pushNotificationConfig/list`.
    Pushes(Vec<TaskPushNotificationConfig>),
    /// `tasks/pushNotificationConfig/delete`.
    Nothing,
    /// `tasks/list` (0.3).
    List(Box<ListTasksResult>),
    /// The extended card.
    Card(Box<AgentCard>),
}

/// One item of a stream, distinguished by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(untagged)]
pub enum StreamResult {
    /// The task in its current state.
    Task(Box<Task>),
    /// The agent's direct answer.
    Message(Box<Message>),
    /// The task has a new status.
    Status(Box<TaskStatusUpdateEvent>),
    /// An artifact is new, replaced, or longer.
    Artifact(Box<TaskArtifactUpdateEvent>),
}

/// Reads the params of `operation`.
pub fn read_request(
    operation: Operation,
    params: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Request>, Violation> {
    read_by_operation! {
        operation, (params, mode, hints) => Request {
            SendMessage: MessageSendParams,
            SendStreamingMessage: MessageSendParams,
            GetTask: TaskQueryParams,
            ListTasks: ListTasksParams,
            CancelTask: TaskIdParams,
            SubscribeToTask: TaskIdParams,
            CreateTaskPushNotificationConfig: TaskPushNotificationConfig,
            GetTaskPushNotificationConfig: GetTaskPushNotificationConfigParams,
            ListTaskPushNotificationConfigs: ListTaskPushNotificationConfigParams,
            DeleteTaskPushNotificationConfig: DeleteTaskPushNotificationConfigParams,
        }
        Operation::GetExtendedAgentCard => {
            Ok(WithRepairs::unrepaired(
                GetExtendedAgentCardRequest::default().into(),
            ))
        }
    }
}

/// Returns the params of a request; `Some` for every operation, as 0.3 uses these types, too.
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
            ListTasks: ListTasksResult,
            CancelTask: Task,
            CreateTaskPushNotificationConfig: TaskPushNotificationConfig,
            GetTaskPushNotificationConfig: TaskPushNotificationConfig,
            GetExtendedAgentCard: AgentCard,
        }
        Operation::SendMessage => {
            let answer = match Kind::of(json) {
                Kind::Message => read::<Message>(json, mode, hints)?
                    .map(|message| SendMessageResponse::Message(message.into())),
                _ => read::<Task>(json, mode, hints)?
                    .map(|task| SendMessageResponse::Task(task.into())),
            };
            Ok(answer.map(Response::SendMessage))
        }
        Operation::ListTaskPushNotificationConfigs => {
            read_configs::<TaskPushNotificationConfig>(json, mode, hints)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Ok(WithRepairs::unrepaired(
                Response::DeleteTaskPushNotificationConfig(()),
            ))
        }
        other => Err(Violation {
            path: hints.root.to_owned(),
            problem: format!("{} is not answered once in 0.2", other.name()),
        }),
    }
}

/// Returns the result of an operation, `Some` for every one. The card is of 0.3 if that is the
/// protocol version, else of 0.2.
pub fn write_response(
    response: Response,
    protocol_version: ProtocolVersion,
) -> Option<OperationResult> {
    Some(match response {
        Response::SendMessage(SendMessageResponse::Message(message)) => {
            OperationResult::Message(Box::new(message.into()))
        }
        Response::SendMessage(SendMessageResponse::Task(task))
        | Response::GetTask(task)
        | Response::CancelTask(task) => OperationResult::Task(Box::new(task.into())),
        Response::CreateTaskPushNotificationConfig(config)
        | Response::GetTaskPushNotificationConfig(config) => OperationResult::Push(config.into()),
        Response::ListTaskPushNotificationConfigs(list) => {
            OperationResult::Pushes(list.configs.into_iter().map(Into::into).collect())
        }
        Response::DeleteTaskPushNotificationConfig(()) => OperationResult::Nothing,
        Response::GetExtendedAgentCard(card) => {
            let card = AgentCard::from(card);
            OperationResult::Card(Box::new(match protocol_version {
                ProtocolVersion::V0_3 => card,
                _ => card.of_0_2(),
            }))
        }
        Response::ListTasks(list) => OperationResult::List(Box::new(list.into())),
    })
}

/// Reads one item of a stream.
pub fn read_event(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<StreamItem>, Violation> {
    let open = |event| StreamItem { event, last: false };
    match Kind::of(json) {
        Kind::Message => {
            let message = read::<Message>(json, mode, hints)?;
            Ok(message.map(|message| StreamItem {
                event: Event::Message(message.into()),
                last: true,
            }))
        }
        Kind::Status => {
            let update = read::<TaskStatusUpdateEvent>(json, mode, hints)?;
            Ok(update.map(|update| StreamItem {
                last: update.last,
                event: Event::StatusUpdate(update.into()),
            }))
        }
        Kind::Artifact => {
            let update = read::<TaskArtifactUpdateEvent>(json, mode, hints)?;
            Ok(update.map(|update| open(Event::ArtifactUpdate(update.into()))))
        }
        Kind::Task => {
            Ok(read::<Task>(json, mode, hints)?.map(|task| open(Event::Task(task.into()))))
        }
    }
}

/// Converts one event.
pub fn write_event(event: Event) -> StreamResult {
    match event {
        Event::Task(task) => StreamResult::Task(Box::new(task.into())),
        Event::Message(message) => StreamResult::Message(Box::new(message.into())),
        Event::StatusUpdate(update) => StreamResult::Status(Box::new(update.into())),
        Event::ArtifactUpdate(update) => StreamResult::Artifact(Box::new(update.into())),
    }
}

/// Type of an object, by its `kind` or else by its members.
enum Kind {
    Task,
    Message,
    Status,
    Artifact,
}

impl Kind {
    fn of(json: &str) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct KindFields<'a> {
            #[serde(borrow)]
            kind: Option<&'a RawValue>,
            parts: Option<serde::de::IgnoredAny>,
            artifact: Option<serde::de::IgnoredAny>,
            task_id: Option<serde::de::IgnoredAny>,
        }
        let Ok(members) = serde_json::from_str::<KindFields<'_>>(json) else {
            return Self::Task;
        };
        let kind = members
            .kind
            .and_then(|kind| serde_json::from_str::<Cow<'_, str>>(kind.get()).ok());
        match kind.as_deref() {
            Some("message") => Self::Message,
            Some("status-update") => Self::Status,
            Some("artifact-update") => Self::Artifact,
            Some("task") => Self::Task,
            _ if members.artifact.is_some() => Self::Artifact,
            _ if members.parts.is_some() => Self::Message,
            _ if members.task_id.is_some() => Self::Status,
            _ => Self::Task,
        }
    }
}
