//! ProtoJSON of 0.3: the bodies of its HTTP+JSON binding and the JSON of its gRPC messages.
//!
//! Reading accepts `a2a.proto` from 0.2.6 to the last commit before 1.0. Writing uses only what
//! every peer of 0.3 can read: parsers of ProtoJSON refuse a member that their proto does not have.

mod card;
mod event;
mod message;
mod one_message;
mod params;
mod push;
mod resource_name;
mod task;
mod wire;

pub use self::card::{AgentCapabilities, AgentCard, AgentInterface, AgentSkill};
pub use self::event::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use self::message::{Content, DataPart, FileContent, FilePart, Message, Part};
pub use self::params::{
    CancelTaskRequest, ListTasksResponse, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse,
};
pub use self::push::{
    AuthenticationInfo, CreateTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigResponse, PushNotificationConfig, TaskPushNotificationConfig,
};
pub use self::task::{Artifact, Task, TaskState, TaskStatus};
pub use self::wire::{
    Empty, Params, Returned, read_event, read_request, read_response, write_event, write_request,
    write_response,
};
