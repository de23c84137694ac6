//! Protocol version 0.2, from 0.2.0 to 0.2.6: May to July 2025.
//!
//! The server names tasks, a `contextId` groups them, every object declares its type in `kind`,
//! a message may be answered by a message. The JSON of version 0.3 is the same, with a few members
//! more in the card: what is new there is marked (0.3).

mod card;
mod event;
mod list;
mod message;
mod params;
mod push;
mod skill;
mod task;
mod wire;

pub use card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
};
pub use event::{
    ArtifactUpdateKind, StatusUpdateKind, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
};
pub use list::{ListTasksParams, ListTasksResult};
pub use message::{
    DataKind, DataPart, File, FileKind, FilePart, FileWithBytes, FileWithUri, Message, MessageKind,
    Part, Role, TextKind, TextPart,
};
pub use params::{
    DeleteTaskPushNotificationConfigParams, GetTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigParams, MessageSendConfiguration, MessageSendParams,
    TaskIdParams, TaskQueryParams,
};
pub use push::{
    PushNotificationAuthenticationInfo, PushNotificationConfig, TaskPushNotificationConfig,
};
pub use skill::AgentSkill;
pub use task::{Artifact, Task, TaskKind, TaskState, TaskStatus};
pub use wire::{
    OperationResult, Params, StreamResult, read_event, read_request, read_response, write_event,
    write_request, write_response,
};

pub use crate::pre_1_0::security::{
    ApiKeyIn, ApiKeySecurityScheme, ApiKeyType, AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow, HttpAuthSecurityScheme, HttpType, ImplicitOAuthFlow,
    MutualTlsSecurityScheme, MutualTlsType, OAuth2SecurityScheme, OAuth2Type, OAuthFlows,
    OpenIdConnectSecurityScheme, OpenIdConnectType, PasswordOAuthFlow, SecurityRequirement,
    SecurityScheme,
};
