//! The tables of version 1.0, for the messages of `a2a.proto` at the tag v1.0.1.

use super::envelope;
use super::version::{VersionSchema, exchanges};
use crate::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Event,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, Object, ProtocolVersion, SendMessageRequest,
    SendMessageResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

pub(super) static SCHEMA: VersionSchema = VersionSchema {
    protocol_version: ProtocolVersion::V1_0,
    exchanges: exchanges! {
        SendMessage: "JSONRPCSendMessageRequest"(SendMessageRequest) -> "JSONRPCSendMessageResponse"(SendMessageResponse);
        SendStreamingMessage: "JSONRPCSendStreamingMessageRequest"(SendMessageRequest) -> "JSONRPCSendStreamingMessageResponse"(Event);
        GetTask: "JSONRPCGetTaskRequest"(GetTaskRequest) -> "JSONRPCGetTaskResponse"(Task);
        ListTasks: "JSONRPCListTasksRequest"(ListTasksRequest) -> "JSONRPCListTasksResponse"(ListTasksResponse);
        CancelTask: "JSONRPCCancelTaskRequest"(CancelTaskRequest) -> "JSONRPCCancelTaskResponse"(Task);
        SubscribeToTask: "JSONRPCSubscribeToTaskRequest"(SubscribeToTaskRequest) -> "JSONRPCSubscribeToTaskResponse"(Event);
        CreateTaskPushNotificationConfig: "JSONRPCCreateTaskPushNotificationConfigRequest"(TaskPushNotificationConfig) -> "JSONRPCCreateTaskPushNotificationConfigResponse"(TaskPushNotificationConfig);
        GetTaskPushNotificationConfig: "JSONRPCGetTaskPushNotificationConfigRequest"(GetTaskPushNotificationConfigRequest) -> "JSONRPCGetTaskPushNotificationConfigResponse"(TaskPushNotificationConfig);
        ListTaskPushNotificationConfigs: "JSONRPCListTaskPushNotificationConfigsRequest"(ListTaskPushNotificationConfigsRequest) -> "JSONRPCListTaskPushNotificationConfigsResponse"(ListTaskPushNotificationConfigsResponse);
        DeleteTaskPushNotificationConfig: "JSONRPCDeleteTaskPushNotificationConfigRequest"(DeleteTaskPushNotificationConfigRequest) -> "JSONRPCDeleteTaskPushNotificationConfigResponse"(Object);
        GetExtendedAgentCard: "JSONRPCGetExtendedAgentCardRequest"(GetExtendedAgentCardRequest) -> "JSONRPCGetExtendedAgentCardResponse"(AgentCard);
    },
    errors: &[],
    others: &[],
    envelopes: envelope::around_messages,
    without: &[],
    required: &[
        "AgentProvider.url",
        "Artifact.parts",
        "AuthorizationCodeOAuthFlow.scopes",
        "ClientCredentialsOAuthFlow.scopes",
        "DeviceCodeOAuthFlow.scopes",
        "GetTaskPushNotificationConfigRequest.id",
        "ListTasksResponse.nextPageToken",
        "ListTasksResponse.pageSize",
        "ListTasksResponse.tasks",
        "ListTasksResponse.totalSize",
        "Message.parts",
        "TaskArtifactUpdateEvent.contextId",
        "TaskStatusUpdateEvent.contextId",
    ],
};
