//! JSON of 0.3 on JSON-RPC: that of 0.2, and a few members and operations more.
//!
//! The types and functions that both versions use are those of [`v0_2`](crate::v0_2), where a member that
//! is new in 0.3 is marked (0.3).

mod list;

pub use self::list::{ListTasksParams, ListTasksResult};
pub use crate::v0_2::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface,
    AgentProvider, AgentSkill, ApiKeyIn, ApiKeySecurityScheme, ApiKeyType, Artifact,
    ArtifactUpdateKind, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, DataKind, DataPart,
    DeleteTaskPushNotificationConfigParams, File, FileKind, FilePart, FileWithBytes, FileWithUri,
    GetTaskPushNotificationConfigParams, HttpAuthSecurityScheme, HttpType, ImplicitOAuthFlow,
    ListTaskPushNotificationConfigParams, Message, MessageKind, MessageSendConfiguration,
    MessageSendParams, MutualTlsSecurityScheme, MutualTlsType, OAuth2SecurityScheme, OAuth2Type,
    OAuthFlows, OpenIdConnectSecurityScheme, OpenIdConnectType, OperationResult, Params, Part,
    PasswordOAuthFlow, PushNotificationAuthenticationInfo, PushNotificationConfig, Role,
    SecurityRequirement, SecurityScheme, StatusUpdateKind, StreamResult, Task,
    TaskArtifactUpdateEvent, TaskIdParams, TaskKind, TaskPushNotificationConfig, TaskQueryParams,
    TaskState, TaskStatus, TaskStatusUpdateEvent, TextKind, TextPart, read_event, read_request,
    read_response, write_event, write_request, write_response,
};
