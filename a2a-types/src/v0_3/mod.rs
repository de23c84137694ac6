//! Protocol version 0.3 in ProtoJSON, July 2025 to March 2026: the bodies of its HTTP+JSON binding and
//! the JSON of its gRPC messages.
//!
//! JSON-RPC of the same version uses the JSON of [`v0_2`](crate::v0_2), where every object
//! declares its `kind`; bodies of HTTP+JSON come in either, and [`Flavour`] distinguishes them.
//!
//! Reading accepts `a2a.proto` from 0.2.6 to the last commit before 1.0. Writing uses only what
//! every peer of 0.3 can read: parsers of ProtoJSON refuse a member that their proto does not have.

mod card;
mod event;
mod flavour;
mod message;
mod params;
mod push;
mod resource_name;
mod security;
mod task;
mod wire;

pub use card::{AgentCapabilities, AgentCard, AgentInterface, AgentSkill};
pub use event::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use flavour::Flavour;
pub use message::{Content, DataPart, FileContent, FilePart, Message, Part};
pub use params::{
    CancelTaskRequest, ListTasksResponse, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse,
};
pub use push::{
    AuthenticationInfo, CreateTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigResponse, PushNotificationConfig, TaskPushNotificationConfig,
};
pub use task::{Artifact, Task, TaskState, TaskStatus};
pub use wire::{
    Empty, Params, Returned, read_event, read_request, read_response, write_event, write_request,
    write_response,
};
