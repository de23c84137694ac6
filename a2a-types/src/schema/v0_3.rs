//! The tables of version 0.3, as in the schema of the tag v0.3.0; and listing, of its main line.

use serde_json::Value;

use super::envelope;
use super::version::{Either, VersionSchema, errors, exchanges, of};
use crate::ProtocolVersion;
use crate::v0_3::json::{
    AgentCard, DeleteTaskPushNotificationConfigParams, GetTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigParams, ListTasksParams, ListTasksResult, Message,
    MessageSendParams, StreamResult, Task, TaskIdParams, TaskPushNotificationConfig,
    TaskQueryParams,
};

pub(super) static SCHEMA: VersionSchema = VersionSchema {
    protocol_version: ProtocolVersion::V0_3,
    exchanges: exchanges! {
        SendMessage: "SendMessageRequest"(MessageSendParams) -> "SendMessageResponse"(Either<Task, Message>);
        SendStreamingMessage: "SendStreamingMessageRequest"(MessageSendParams) -> "SendStreamingMessageResponse"(StreamResult);
        GetTask: "GetTaskRequest"(TaskQueryParams) -> "GetTaskResponse"(Task);
        CancelTask: "CancelTaskRequest"(TaskIdParams) -> "CancelTaskResponse"(Task);
        CreateTaskPushNotificationConfig: "SetTaskPushNotificationConfigRequest"(TaskPushNotificationConfig) -> "SetTaskPushNotificationConfigResponse"(TaskPushNotificationConfig);
        GetTaskPushNotificationConfig: "GetTaskPushNotificationConfigRequest"(Either<TaskIdParams, GetTaskPushNotificationConfigParams>) -> "GetTaskPushNotificationConfigResponse"(TaskPushNotificationConfig);
        SubscribeToTask: "TaskResubscriptionRequest"(TaskIdParams) -> "SendStreamingMessageResponse"(StreamResult);
        ListTaskPushNotificationConfigs: "ListTaskPushNotificationConfigRequest"(ListTaskPushNotificationConfigParams) -> "ListTaskPushNotificationConfigResponse"(Vec<TaskPushNotificationConfig>);
        DeleteTaskPushNotificationConfig: "DeleteTaskPushNotificationConfigRequest"(DeleteTaskPushNotificationConfigParams) -> "DeleteTaskPushNotificationConfigResponse"(());
        GetExtendedAgentCard: "GetAuthenticatedExtendedCardRequest"() -> "GetAuthenticatedExtendedCardResponse"(AgentCard);
        ListTasks: "ListTasksRequest"(ListTasksParams) -> "ListTasksResponse"(ListTasksResult);
    },
    errors: errors! {
        JsonParse: "JSONParseError"(Value);
        InvalidRequest: "InvalidRequestError"(Value);
        MethodNotFound: "MethodNotFoundError"(Value);
        InvalidParams: "InvalidParamsError"(Value);
        Internal: "InternalError"(Value);
        TaskNotFound: "TaskNotFoundError"(Value);
        TaskNotCancelable: "TaskNotCancelableError"(Value);
        PushNotificationNotSupported: "PushNotificationNotSupportedError"(Value);
        UnsupportedOperation: "UnsupportedOperationError"(Value);
        ContentTypeNotSupported: "ContentTypeNotSupportedError"(Value);
        InvalidAgentResponse: "InvalidAgentResponseError"(Value);
        ExtendedAgentCardNotConfigured: "AuthenticatedExtendedCardNotConfiguredError"(Value);
    },
    others: &[of::<AgentCard>],
    envelopes: envelope::success_or_error,
    without: &[],
    required: &[],
};
