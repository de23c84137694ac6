//! The tables of version 0.1, as in the schema of the tag v0.1.0.

use serde_json::Value;

use super::envelope;
use super::version::{VersionSchema, errors, exchanges, of};
use crate::v0_1::{
    AgentCard, Task, TaskEvent, TaskIdParams, TaskPushNotificationConfig, TaskQueryParams,
    TaskSendParams,
};
use crate::{Object, ProtocolVersion};

pub(super) static SCHEMA: VersionSchema = VersionSchema {
    protocol_version: ProtocolVersion::V0_1,
    exchanges: exchanges! {
        SendMessage: "SendTaskRequest"(TaskSendParams) -> "SendTaskResponse"(Task);
        SendStreamingMessage: "SendTaskStreamingRequest"(TaskSendParams) -> "SendTaskStreamingResponse"(TaskEvent);
        GetTask: "GetTaskRequest"(TaskQueryParams) -> "GetTaskResponse"(Task);
        CancelTask: "CancelTaskRequest"(TaskIdParams) -> "CancelTaskResponse"(Task);
        CreateTaskPushNotificationConfig: "SetTaskPushNotificationRequest"(TaskPushNotificationConfig) -> "SetTaskPushNotificationResponse"(TaskPushNotificationConfig);
        GetTaskPushNotificationConfig: "GetTaskPushNotificationRequest"(TaskIdParams) -> "GetTaskPushNotificationResponse"(TaskPushNotificationConfig);
        SubscribeToTask: "TaskResubscriptionRequest"(TaskQueryParams) -> "SendTaskStreamingResponse"(TaskEvent);
    },
    errors: errors! {
        JsonParse: "JSONParseError"(Object);
        InvalidRequest: "InvalidRequestError"(Object);
        MethodNotFound: "MethodNotFoundError"(Value);
        InvalidParams: "InvalidParamsError"(Object);
        Internal: "InternalError"(Object);
        TaskNotFound: "TaskNotFoundError"(Value);
        TaskNotCancelable: "TaskNotCancelableError"(Value);
        PushNotificationNotSupported: "PushNotificationNotSupportedError"(Value);
        UnsupportedOperation: "UnsupportedOperationError"(Value);
        ContentTypeNotSupported: "ContentTypeNotSupportedError"(Value);
    },
    others: &[of::<AgentCard>],
    envelopes: envelope::one_response,
    without: &[],
    required: &[],
};
