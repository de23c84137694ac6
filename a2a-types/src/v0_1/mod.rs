//! Protocol version 0.1: the launch documents of April 2025 and the tag v0.1.0.
//!
//! The caller names its tasks, a `sessionId` groups them, parts declare their kind in `type`,
//! artifacts are numbered. There is no direct answer by message, and no list of anything.

mod card;
mod event;
mod message;
mod params;
mod push;
mod task;
mod wire;

pub use card::{AgentAuthentication, AgentCapabilities, AgentCard, AgentProvider, AgentSkill};
pub use event::{EventWriter, TaskArtifactUpdateEvent, TaskEvent, TaskStatusUpdateEvent};
pub use message::{
    DataPart, DataType, FileContent, FilePart, FileType, Message, Part, Role, TextPart, TextType,
};
pub use params::{TaskIdParams, TaskQueryParams, TaskSendParams};
pub use push::{AuthenticationInfo, PushNotificationConfig, TaskPushNotificationConfig};
pub use task::{Artifact, ArtifactIndices, Task, TaskState, TaskStatus};
pub use wire::{
    OperationResult, Params, read_event, read_request, read_response, write_request, write_response,
};
