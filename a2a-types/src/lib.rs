//! The Agent2Agent (A2A) protocol as data.
//!
//! A2A lets one agent call another: it sends a [`Message`], the other side answers with a message
//! or opens a [`Task`], whose [`Artifact`]s and status changes arrive as [`Event`]s. An agent
//! describes itself in an [`AgentCard`].
//!
//! [The introduction](https://github.com/a2a-rust/a2a/blob/main/docs/introduction.md) of the book explains the terms.
//!
//! The types at the root of this crate are the **canonical model**: protocol 1.0, spelled as its
//! ProtoJSON is. Each older version has wire types of its own ([`v0_1`], [`v0_2`], [`v0_3`]) with
//! conversions to and from the canonical model; [`ProtocolVersion`] names the versions, [`Operation`]
//! the operations, [`ErrorKind`] the errors. [`reading`] reads a peer's text, strictly, leniently or tolerantly;
//! [`extension`] types what extensions add; [`steps`] separates an agent's steps from its answer.
//!
//! Version 0.3 has two kinds of JSON: that of JSON-RPC is [`v0_3::json`], which is [`v0_2`]'s and a little
//! more; the ProtoJSON of its HTTP+JSON binding is [`v0_3`].
//!
//! Nothing here does I/O or is asynchronous.
//!
//! ```
//! use a2a_types::reading::{Hints, Mode, read};
//! use a2a_types::{Message, v0_1};
//!
//! // A message of version 0.1, as an article of 2025 prints it: `data` should be `parts`.
//! let printed = r#"{"role": "user", "data": [{"type": "text", "text": "Tell me a joke"}]}"#;
//! assert!(read::<v0_1::Message>(printed, Mode::Strict, &Hints::at("$")).is_err());
//!
//! let read = read::<v0_1::Message>(printed, Mode::Lenient, &Hints::at("$")).unwrap();
//! assert_eq!(read.repairs[0].quirk.code(), "DATA4PARTS");
//! assert_eq!(read.repairs[0].path, "$.data");
//!
//! let message = Message::from(read.value);
//! assert_eq!(message.text(), "Tell me a joke");
//! ```
//!
//! With the feature `schema`, the module `schema` derives JSON Schemas from the same types.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The conversions of the crate use a part only of the modules that the feature opens.
#![cfg_attr(
    not(feature = "unstable-wire"),
    allow(dead_code, unreachable_pub, unused_imports)
)]

mod artifact;
mod base64;
mod by_name;
mod card;
mod error;
mod event;
pub mod extension;
mod fold;
mod hybrid;
mod id;
mod message;
mod method;
mod operation;
mod params;
mod part;
mod pre_1_0;
mod proto;
mod protocol_version;
mod push;
pub mod reading;
#[cfg(feature = "schema")]
pub mod schema;
mod secret;
mod security;
pub mod size;
pub mod steps;
mod task;
mod timestamp;
#[cfg(feature = "unstable-wire")]
pub mod v0_1;
#[cfg(feature = "unstable-wire")]
pub mod v0_2;
#[cfg(feature = "unstable-wire")]
pub mod v0_3;
mod wire_types;

#[cfg(not(feature = "unstable-wire"))]
mod v0_1;
#[cfg(not(feature = "unstable-wire"))]
mod v0_2;
#[cfg(not(feature = "unstable-wire"))]
mod v0_3;

/// A JSON object with any members.
pub type Object = serde_json::Map<String, serde_json::Value>;

pub use crate::artifact::{Artifact, ArtifactIndex};
pub use crate::base64::{Base64, InvalidBase64};
pub use crate::card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface,
    AgentProvider, AgentSkill,
};
pub use crate::error::{Error, ErrorKind};
pub use crate::event::{Event, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use crate::fold::IllegalEvent;
pub use crate::id::{ArtifactId, ConfigId, ContextId, MessageId, TaskId};
pub use crate::message::{Message, Role};
pub use crate::method::Method;
pub use crate::operation::{Operation, Request, Response};
pub use crate::params::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse,
    SendMessageConfiguration, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest,
};
pub use crate::part::{Content, Part};
pub use crate::protocol_version::{ProtocolVersion, Rules, UnknownVersion};
pub use crate::push::{AuthenticationInfo, TaskPushNotificationConfig};
pub use crate::security::{
    ApiKeySecurityScheme, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow,
    DeviceCodeOAuthFlow, HttpAuthSecurityScheme, ImplicitOAuthFlow, MutualTlsSecurityScheme,
    OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme, PasswordOAuthFlow,
    SecurityRequirement, SecurityScheme, StringList,
};
pub use crate::task::{Task, TaskState, TaskStatus};
pub use crate::timestamp::{InvalidTimestamp, Timestamp};
