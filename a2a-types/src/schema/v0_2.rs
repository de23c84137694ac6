//! The tables of version 0.2, as in the schema of the tag v0.2.6.

use serde_json::Value;

use super::envelope;
use super::version::{Either, VersionSchema, errors, exchanges, of};
use crate::ProtocolVersion;
use crate::v0_2::{
    AgentCard, DeleteTaskPushNotificationConfigParams, GetTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigParams, Message, MessageSendParams, StreamResult, Task,
    TaskIdParams, TaskPushNotificationConfig, TaskQueryParams,
};

pub(super) static SCHEMA: VersionSchema = VersionSchema {
    protocol_version: ProtocolVersion::V0_2,
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
    },
    others: &[of::<AgentCard>],
    envelopes: envelope::success_or_error,
    // New in 0.3, whose JSON the same types read and write.
    without: &[
        "AgentCard.signatures",
        "AgentCardSignature",
        "AgentSkill.security",
        "MutualTLSSecurityScheme",
        "OAuth2SecurityScheme.oauth2MetadataUrl",
    ],
    required: &[],
};
