//! Protocol version 0.3, July 2025 to March 2026, in both of its JSON forms.
//!
//! The types of this module are ProtoJSON types: the bodies of the HTTP+JSON binding and the JSON of
//! gRPC messages. JSON-RPC of the same version has the JSON of [`json`], where every object declares its
//! `kind`. Bodies of HTTP+JSON come in either, and [`Flavour`] distinguishes them.
//!
//! Reading ProtoJSON accepts `a2a.proto` from 0.2.6 to the last commit before 1.0. Writing uses only what
//! every peer of 0.3 can read: parsers of ProtoJSON refuse a member that their proto does not have.

mod card;
mod event;
mod flavour;
mod grpc;
mod message;
mod one_message;
mod params;
mod push;
mod resource_name;
mod task;
mod wire;

/// JSON of 0.3 on JSON-RPC: that of 0.2, where a member or an operation that is new in 0.3 is marked (0.3).
#[cfg(feature = "unstable-wire")]
pub use crate::v0_2 as json;
#[cfg(not(feature = "unstable-wire"))]
pub(crate) use crate::v0_2 as json;

pub use self::card::{AgentCapabilities, AgentCard, AgentInterface, AgentSkill};
pub use self::event::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use self::flavour::Flavour;
pub use self::grpc::{read_grpc_request, write_grpc_request};
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
    OperationResult, Params, read_event, read_request, read_response, write_event, write_request,
    write_response,
};
