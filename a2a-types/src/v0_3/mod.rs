//! Protocol version 0.3, July 2025 to March 2026, in both of its JSON forms.
//!
//! The types of this module are those of ProtoJSON: the bodies of the HTTP+JSON binding and the JSON of
//! gRPC messages. JSON-RPC of the same version has the JSON of [`json`], where every object declares its
//! `kind`. Bodies of HTTP+JSON come in either, and [`Flavour`] distinguishes them.

mod flavour;
pub mod json;
mod proto_json;

pub use self::flavour::Flavour;
pub use self::proto_json::{
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Artifact, AuthenticationInfo,
    CancelTaskRequest, Content, CreateTaskPushNotificationConfigRequest, DataPart, Empty,
    FileContent, FilePart, ListTaskPushNotificationConfigResponse, ListTasksResponse, Message,
    OperationResult, Params, Part, PushNotificationConfig, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent, read_event,
    read_request, read_response, write_event, write_request, write_response,
};
