//! Requests by gRPC. Where HTTP+JSON has a path and a query, they have the name of a resource.

use serde::{Deserialize, Serialize};

use super::resource_name::{config_of, resource, task_of};
use super::wire::{read_request, write_request};
use crate::reading::{Hints, JsonPath, Mode, Violation, WithRepairs, read_canonical};
use crate::{
    ConfigId, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    Operation, Request, SubscribeToTaskRequest, TaskId,
};

/// A request about a task or a webhook: the members of all of them.
#[derive(Default, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
struct NamedRequest {
    /// `tasks/{task}`, or `tasks/{task}/pushNotificationConfigs/{config}`
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    /// `tasks/{task}`, the task of the webhooks that are listed.
    #[serde(skip_serializing_if = "String::is_empty")]
    parent: String,
    #[serde(skip_serializing_if = "is_zero")]
    history_length: u32,
    #[serde(skip_serializing_if = "is_zero")]
    page_size: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    page_token: String,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Reads a request by gRPC, in ProtoJSON.
///
/// Errors: 0.3 has no such operation by gRPC, or a name is not that of a resource.
pub fn read_grpc_request(
    operation: Operation,
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<WithRepairs<Request>, Violation> {
    let root = JsonPath::Root(hints.root);
    let named = || read_canonical::<NamedRequest>(json, hints);
    let task = |member: &str, name: &str| -> Result<TaskId, Violation> {
        let expected = || root.member(member).violation("expected `tasks/{task}`");
        task_of(name).ok_or_else(expected)
    };
    let config = |name: &str| -> Result<(TaskId, ConfigId), Violation> {
        let expected = "expected `tasks/{task}/pushNotificationConfigs/{config}`";
        let ids = task_of(name).zip(config_of(name));
        ids.ok_or_else(|| root.member("name").violation(expected))
    };
    let request: Request = match operation {
        Operation::SendMessage
        | Operation::SendStreamingMessage
        | Operation::CancelTask
        | Operation::CreateTaskPushNotificationConfig => {
            return read_request(operation, json, mode, hints);
        }
        Operation::GetTask => {
            let named = named()?;
            Request::GetTask(GetTaskRequest {
                id: task("name", &named.name)?,
                // 0 is the same as absent.
                history_length: Some(named.history_length).filter(|length| *length > 0),
                ..GetTaskRequest::default()
            })
        }
        Operation::SubscribeToTask => Request::SubscribeToTask(SubscribeToTaskRequest {
            id: task("name", &named()?.name)?,
            ..SubscribeToTaskRequest::default()
        }),
        Operation::GetTaskPushNotificationConfig => {
            let (task_id, id) = config(&named()?.name)?;
            Request::GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest {
                task_id,
                id,
                ..GetTaskPushNotificationConfigRequest::default()
            })
        }
        Operation::DeleteTaskPushNotificationConfig => {
            let (task_id, id) = config(&named()?.name)?;
            Request::DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest {
                task_id,
                id,
                ..DeleteTaskPushNotificationConfigRequest::default()
            })
        }
        Operation::ListTaskPushNotificationConfigs => {
            let named = named()?;
            Request::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest {
                task_id: task("parent", &named.parent)?,
                page_size: Some(named.page_size).filter(|size| *size > 0),
                page_token: named.page_token,
                ..ListTaskPushNotificationConfigsRequest::default()
            })
        }
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(GetExtendedAgentCardRequest::default())
        }
        Operation::ListTasks => {
            return Err(root.violation("0.3 does not list tasks by gRPC"));
        }
    };
    Ok(WithRepairs::unrepaired(request))
}

/// Writes a request by gRPC, in ProtoJSON. `None` if 0.3 has no such operation by gRPC.
pub fn write_grpc_request(request: Request) -> Option<serde_json::Result<Vec<u8>>> {
    let named = match request {
        Request::ListTasks(_) => return None,
        Request::GetTask(params) => NamedRequest {
            name: resource(params.id.as_str(), ""),
            history_length: params.history_length.unwrap_or_default(),
            ..NamedRequest::default()
        },
        Request::SubscribeToTask(params) => NamedRequest {
            name: resource(params.id.as_str(), ""),
            ..NamedRequest::default()
        },
        Request::GetTaskPushNotificationConfig(params) => NamedRequest {
            name: resource(params.task_id.as_str(), params.id.as_str()),
            ..NamedRequest::default()
        },
        Request::DeleteTaskPushNotificationConfig(params) => NamedRequest {
            name: resource(params.task_id.as_str(), params.id.as_str()),
            ..NamedRequest::default()
        },
        Request::ListTaskPushNotificationConfigs(params) => NamedRequest {
            parent: resource(params.task_id.as_str(), ""),
            page_size: params.page_size.unwrap_or_default(),
            page_token: params.page_token,
            ..NamedRequest::default()
        },
        Request::GetExtendedAgentCard(_) => NamedRequest::default(),
        other => return write_request(other).map(|params| serde_json::to_vec(&params)),
    };
    Some(serde_json::to_vec(&named))
}
