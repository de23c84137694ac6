//! Messages, methods and files of the `.proto` files. Written by `cargo xtask protobuf`.

use a2a_types::ProtocolVersion;

use crate::schema::{Field, FileDescriptor, Kind, MessageType, Method, Rule};

static LF_A2A_V1_SEND_MESSAGE_CONFIGURATION: MessageType = MessageType {
    name: "lf.a2a.v1.SendMessageConfiguration",
    fields: &[
        Field {
            number: 1,
            name: "acceptedOutputModes",
            proto_name: "accepted_output_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 2,
            name: "taskPushNotificationConfig",
            proto_name: "task_push_notification_config",
            kind: Kind::Message(&LF_A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "historyLength",
            proto_name: "history_length",
            kind: Kind::Int32,
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "returnImmediately",
            proto_name: "return_immediately",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_TASK: MessageType = MessageType {
    name: "lf.a2a.v1.Task",
    fields: &[
        Field {
            number: 1,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "status",
            proto_name: "status",
            kind: Kind::Message(&LF_A2A_V1_TASK_STATUS),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "artifacts",
            proto_name: "artifacts",
            kind: Kind::Message(&LF_A2A_V1_ARTIFACT),
            rule: Rule::Repeated,
        },
        Field {
            number: 5,
            name: "history",
            proto_name: "history",
            kind: Kind::Message(&LF_A2A_V1_MESSAGE),
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_TASK_STATUS: MessageType = MessageType {
    name: "lf.a2a.v1.TaskStatus",
    fields: &[
        Field {
            number: 1,
            name: "state",
            proto_name: "state",
            kind: Kind::Enum(LF_A2A_V1_TASK_STATE),
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "message",
            kind: Kind::Message(&LF_A2A_V1_MESSAGE),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "timestamp",
            proto_name: "timestamp",
            kind: Kind::Timestamp,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_PART: MessageType = MessageType {
    name: "lf.a2a.v1.Part",
    fields: &[
        Field {
            number: 1,
            name: "text",
            proto_name: "text",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "raw",
            proto_name: "raw",
            kind: Kind::Bytes,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "data",
            proto_name: "data",
            kind: Kind::Value,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 5,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
        Field {
            number: 6,
            name: "filename",
            proto_name: "filename",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 7,
            name: "mediaType",
            proto_name: "media_type",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_MESSAGE: MessageType = MessageType {
    name: "lf.a2a.v1.Message",
    fields: &[
        Field {
            number: 1,
            name: "messageId",
            proto_name: "message_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "role",
            proto_name: "role",
            kind: Kind::Enum(LF_A2A_V1_ROLE),
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "parts",
            proto_name: "parts",
            kind: Kind::Message(&LF_A2A_V1_PART),
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
        Field {
            number: 7,
            name: "extensions",
            proto_name: "extensions",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 8,
            name: "referenceTaskIds",
            proto_name: "reference_task_ids",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
    ],
};

static LF_A2A_V1_ARTIFACT: MessageType = MessageType {
    name: "lf.a2a.v1.Artifact",
    fields: &[
        Field {
            number: 1,
            name: "artifactId",
            proto_name: "artifact_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "parts",
            proto_name: "parts",
            kind: Kind::Message(&LF_A2A_V1_PART),
            rule: Rule::Repeated,
        },
        Field {
            number: 5,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
        Field {
            number: 6,
            name: "extensions",
            proto_name: "extensions",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
    ],
};

static LF_A2A_V1_TASK_STATUS_UPDATE_EVENT: MessageType = MessageType {
    name: "lf.a2a.v1.TaskStatusUpdateEvent",
    fields: &[
        Field {
            number: 1,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "status",
            proto_name: "status",
            kind: Kind::Message(&LF_A2A_V1_TASK_STATUS),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_TASK_ARTIFACT_UPDATE_EVENT: MessageType = MessageType {
    name: "lf.a2a.v1.TaskArtifactUpdateEvent",
    fields: &[
        Field {
            number: 1,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "artifact",
            proto_name: "artifact",
            kind: Kind::Message(&LF_A2A_V1_ARTIFACT),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "append",
            proto_name: "append",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "lastChunk",
            proto_name: "last_chunk",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_AUTHENTICATION_INFO: MessageType = MessageType {
    name: "lf.a2a.v1.AuthenticationInfo",
    fields: &[
        Field {
            number: 1,
            name: "scheme",
            proto_name: "scheme",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "credentials",
            proto_name: "credentials",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_AGENT_INTERFACE: MessageType = MessageType {
    name: "lf.a2a.v1.AgentInterface",
    fields: &[
        Field {
            number: 1,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "protocolBinding",
            proto_name: "protocol_binding",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "protocolVersion",
            proto_name: "protocol_version",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_AGENT_CARD: MessageType = MessageType {
    name: "lf.a2a.v1.AgentCard",
    fields: &[
        Field {
            number: 1,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "supportedInterfaces",
            proto_name: "supported_interfaces",
            kind: Kind::Message(&LF_A2A_V1_AGENT_INTERFACE),
            rule: Rule::Repeated,
        },
        Field {
            number: 4,
            name: "provider",
            proto_name: "provider",
            kind: Kind::Message(&LF_A2A_V1_AGENT_PROVIDER),
            rule: Rule::Explicit,
        },
        Field {
            number: 5,
            name: "version",
            proto_name: "version",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 6,
            name: "documentationUrl",
            proto_name: "documentation_url",
            kind: Kind::Text,
            rule: Rule::Explicit,
        },
        Field {
            number: 7,
            name: "capabilities",
            proto_name: "capabilities",
            kind: Kind::Message(&LF_A2A_V1_AGENT_CAPABILITIES),
            rule: Rule::Explicit,
        },
        Field {
            number: 8,
            name: "securitySchemes",
            proto_name: "security_schemes",
            kind: Kind::Message(&LF_A2A_V1_SECURITY_SCHEME),
            rule: Rule::Map,
        },
        Field {
            number: 9,
            name: "securityRequirements",
            proto_name: "security_requirements",
            kind: Kind::Message(&LF_A2A_V1_SECURITY_REQUIREMENT),
            rule: Rule::Repeated,
        },
        Field {
            number: 10,
            name: "defaultInputModes",
            proto_name: "default_input_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 11,
            name: "defaultOutputModes",
            proto_name: "default_output_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 12,
            name: "skills",
            proto_name: "skills",
            kind: Kind::Message(&LF_A2A_V1_AGENT_SKILL),
            rule: Rule::Repeated,
        },
        Field {
            number: 13,
            name: "signatures",
            proto_name: "signatures",
            kind: Kind::Message(&LF_A2A_V1_AGENT_CARD_SIGNATURE),
            rule: Rule::Repeated,
        },
        Field {
            number: 14,
            name: "iconUrl",
            proto_name: "icon_url",
            kind: Kind::Text,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_AGENT_PROVIDER: MessageType = MessageType {
    name: "lf.a2a.v1.AgentProvider",
    fields: &[
        Field {
            number: 1,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "organization",
            proto_name: "organization",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_AGENT_CAPABILITIES: MessageType = MessageType {
    name: "lf.a2a.v1.AgentCapabilities",
    fields: &[
        Field {
            number: 1,
            name: "streaming",
            proto_name: "streaming",
            kind: Kind::Bool,
            rule: Rule::Explicit,
        },
        Field {
            number: 2,
            name: "pushNotifications",
            proto_name: "push_notifications",
            kind: Kind::Bool,
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "extensions",
            proto_name: "extensions",
            kind: Kind::Message(&LF_A2A_V1_AGENT_EXTENSION),
            rule: Rule::Repeated,
        },
        Field {
            number: 4,
            name: "extendedAgentCard",
            proto_name: "extended_agent_card",
            kind: Kind::Bool,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_AGENT_EXTENSION: MessageType = MessageType {
    name: "lf.a2a.v1.AgentExtension",
    fields: &[
        Field {
            number: 1,
            name: "uri",
            proto_name: "uri",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "required",
            proto_name: "required",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "params",
            proto_name: "params",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_AGENT_SKILL: MessageType = MessageType {
    name: "lf.a2a.v1.AgentSkill",
    fields: &[
        Field {
            number: 1,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "tags",
            proto_name: "tags",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 5,
            name: "examples",
            proto_name: "examples",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "inputModes",
            proto_name: "input_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 7,
            name: "outputModes",
            proto_name: "output_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 8,
            name: "securityRequirements",
            proto_name: "security_requirements",
            kind: Kind::Message(&LF_A2A_V1_SECURITY_REQUIREMENT),
            rule: Rule::Repeated,
        },
    ],
};

static LF_A2A_V1_AGENT_CARD_SIGNATURE: MessageType = MessageType {
    name: "lf.a2a.v1.AgentCardSignature",
    fields: &[
        Field {
            number: 1,
            name: "protected",
            proto_name: "protected",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "signature",
            proto_name: "signature",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "header",
            proto_name: "header",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG: MessageType = MessageType {
    name: "lf.a2a.v1.TaskPushNotificationConfig",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "token",
            proto_name: "token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 6,
            name: "authentication",
            proto_name: "authentication",
            kind: Kind::Message(&LF_A2A_V1_AUTHENTICATION_INFO),
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_STRING_LIST: MessageType = MessageType {
    name: "lf.a2a.v1.StringList",
    fields: &[Field {
        number: 1,
        name: "list",
        proto_name: "list",
        kind: Kind::Text,
        rule: Rule::Repeated,
    }],
};

static LF_A2A_V1_SECURITY_REQUIREMENT: MessageType = MessageType {
    name: "lf.a2a.v1.SecurityRequirement",
    fields: &[Field {
        number: 1,
        name: "schemes",
        proto_name: "schemes",
        kind: Kind::Message(&LF_A2A_V1_STRING_LIST),
        rule: Rule::Map,
    }],
};

static LF_A2A_V1_SECURITY_SCHEME: MessageType = MessageType {
    name: "lf.a2a.v1.SecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "apiKeySecurityScheme",
            proto_name: "api_key_security_scheme",
            kind: Kind::Message(&LF_A2A_V1_APIKEY_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "httpAuthSecurityScheme",
            proto_name: "http_auth_security_scheme",
            kind: Kind::Message(&LF_A2A_V1_HTTPAUTH_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "oauth2SecurityScheme",
            proto_name: "oauth2_security_scheme",
            kind: Kind::Message(&LF_A2A_V1_OAUTH2_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "openIdConnectSecurityScheme",
            proto_name: "open_id_connect_security_scheme",
            kind: Kind::Message(&LF_A2A_V1_OPEN_ID_CONNECT_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 5,
            name: "mtlsSecurityScheme",
            proto_name: "mtls_security_scheme",
            kind: Kind::Message(&LF_A2A_V1_MUTUAL_TLS_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
    ],
};

static LF_A2A_V1_APIKEY_SECURITY_SCHEME: MessageType = MessageType {
    name: "lf.a2a.v1.APIKeySecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "location",
            proto_name: "location",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_HTTPAUTH_SECURITY_SCHEME: MessageType = MessageType {
    name: "lf.a2a.v1.HTTPAuthSecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "scheme",
            proto_name: "scheme",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "bearerFormat",
            proto_name: "bearer_format",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_OAUTH2_SECURITY_SCHEME: MessageType = MessageType {
    name: "lf.a2a.v1.OAuth2SecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "flows",
            proto_name: "flows",
            kind: Kind::Message(&LF_A2A_V1_OAUTH_FLOWS),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "oauth2MetadataUrl",
            proto_name: "oauth2_metadata_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_OPEN_ID_CONNECT_SECURITY_SCHEME: MessageType = MessageType {
    name: "lf.a2a.v1.OpenIdConnectSecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "openIdConnectUrl",
            proto_name: "open_id_connect_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_MUTUAL_TLS_SECURITY_SCHEME: MessageType = MessageType {
    name: "lf.a2a.v1.MutualTlsSecurityScheme",
    fields: &[Field {
        number: 1,
        name: "description",
        proto_name: "description",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static LF_A2A_V1_OAUTH_FLOWS: MessageType = MessageType {
    name: "lf.a2a.v1.OAuthFlows",
    fields: &[
        Field {
            number: 1,
            name: "authorizationCode",
            proto_name: "authorization_code",
            kind: Kind::Message(&LF_A2A_V1_AUTHORIZATION_CODE_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "clientCredentials",
            proto_name: "client_credentials",
            kind: Kind::Message(&LF_A2A_V1_CLIENT_CREDENTIALS_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "implicit",
            proto_name: "implicit",
            kind: Kind::Message(&LF_A2A_V1_IMPLICIT_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "password",
            proto_name: "password",
            kind: Kind::Message(&LF_A2A_V1_PASSWORD_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 5,
            name: "deviceCode",
            proto_name: "device_code",
            kind: Kind::Message(&LF_A2A_V1_DEVICE_CODE_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
    ],
};

static LF_A2A_V1_AUTHORIZATION_CODE_OAUTH_FLOW: MessageType = MessageType {
    name: "lf.a2a.v1.AuthorizationCodeOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "authorizationUrl",
            proto_name: "authorization_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
        Field {
            number: 5,
            name: "pkceRequired",
            proto_name: "pkce_required",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_CLIENT_CREDENTIALS_OAUTH_FLOW: MessageType = MessageType {
    name: "lf.a2a.v1.ClientCredentialsOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static LF_A2A_V1_IMPLICIT_OAUTH_FLOW: MessageType = MessageType {
    name: "lf.a2a.v1.ImplicitOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "authorizationUrl",
            proto_name: "authorization_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static LF_A2A_V1_PASSWORD_OAUTH_FLOW: MessageType = MessageType {
    name: "lf.a2a.v1.PasswordOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static LF_A2A_V1_DEVICE_CODE_OAUTH_FLOW: MessageType = MessageType {
    name: "lf.a2a.v1.DeviceCodeOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "deviceAuthorizationUrl",
            proto_name: "device_authorization_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static LF_A2A_V1_SEND_MESSAGE_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.SendMessageRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "message",
            kind: Kind::Message(&LF_A2A_V1_MESSAGE),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "configuration",
            proto_name: "configuration",
            kind: Kind::Message(&LF_A2A_V1_SEND_MESSAGE_CONFIGURATION),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_GET_TASK_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.GetTaskRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "historyLength",
            proto_name: "history_length",
            kind: Kind::Int32,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_LIST_TASKS_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.ListTasksRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "status",
            proto_name: "status",
            kind: Kind::Enum(LF_A2A_V1_TASK_STATE),
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "pageSize",
            proto_name: "page_size",
            kind: Kind::Int32,
            rule: Rule::Explicit,
        },
        Field {
            number: 5,
            name: "pageToken",
            proto_name: "page_token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 6,
            name: "historyLength",
            proto_name: "history_length",
            kind: Kind::Int32,
            rule: Rule::Explicit,
        },
        Field {
            number: 7,
            name: "statusTimestampAfter",
            proto_name: "status_timestamp_after",
            kind: Kind::Timestamp,
            rule: Rule::Explicit,
        },
        Field {
            number: 8,
            name: "includeArtifacts",
            proto_name: "include_artifacts",
            kind: Kind::Bool,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_LIST_TASKS_RESPONSE: MessageType = MessageType {
    name: "lf.a2a.v1.ListTasksResponse",
    fields: &[
        Field {
            number: 1,
            name: "tasks",
            proto_name: "tasks",
            kind: Kind::Message(&LF_A2A_V1_TASK),
            rule: Rule::Repeated,
        },
        Field {
            number: 2,
            name: "nextPageToken",
            proto_name: "next_page_token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "pageSize",
            proto_name: "page_size",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "totalSize",
            proto_name: "total_size",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_CANCEL_TASK_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.CancelTaskRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static LF_A2A_V1_GET_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.GetTaskPushNotificationConfigRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_DELETE_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.DeleteTaskPushNotificationConfigRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_SUBSCRIBE_TO_TASK_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.SubscribeToTaskRequest",
    fields: &[
        Field {
            number: 1,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIGS_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.ListTaskPushNotificationConfigsRequest",
    fields: &[
        Field {
            number: 1,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "pageSize",
            proto_name: "page_size",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "pageToken",
            proto_name: "page_token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "tenant",
            proto_name: "tenant",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static LF_A2A_V1_GET_EXTENDED_AGENT_CARD_REQUEST: MessageType = MessageType {
    name: "lf.a2a.v1.GetExtendedAgentCardRequest",
    fields: &[Field {
        number: 1,
        name: "tenant",
        proto_name: "tenant",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static LF_A2A_V1_SEND_MESSAGE_RESPONSE: MessageType = MessageType {
    name: "lf.a2a.v1.SendMessageResponse",
    fields: &[
        Field {
            number: 1,
            name: "task",
            proto_name: "task",
            kind: Kind::Message(&LF_A2A_V1_TASK),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "message",
            kind: Kind::Message(&LF_A2A_V1_MESSAGE),
            rule: Rule::OneOf(0),
        },
    ],
};

static LF_A2A_V1_STREAM_RESPONSE: MessageType = MessageType {
    name: "lf.a2a.v1.StreamResponse",
    fields: &[
        Field {
            number: 1,
            name: "task",
            proto_name: "task",
            kind: Kind::Message(&LF_A2A_V1_TASK),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "message",
            kind: Kind::Message(&LF_A2A_V1_MESSAGE),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "statusUpdate",
            proto_name: "status_update",
            kind: Kind::Message(&LF_A2A_V1_TASK_STATUS_UPDATE_EVENT),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "artifactUpdate",
            proto_name: "artifact_update",
            kind: Kind::Message(&LF_A2A_V1_TASK_ARTIFACT_UPDATE_EVENT),
            rule: Rule::OneOf(0),
        },
    ],
};

static LF_A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIGS_RESPONSE: MessageType = MessageType {
    name: "lf.a2a.v1.ListTaskPushNotificationConfigsResponse",
    fields: &[
        Field {
            number: 1,
            name: "configs",
            proto_name: "configs",
            kind: Kind::Message(&LF_A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG),
            rule: Rule::Repeated,
        },
        Field {
            number: 2,
            name: "nextPageToken",
            proto_name: "next_page_token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

const LF_A2A_V1_ROLE: &[(i32, &str)] =
    &[(0, "ROLE_UNSPECIFIED"), (1, "ROLE_USER"), (2, "ROLE_AGENT")];

const LF_A2A_V1_TASK_STATE: &[(i32, &str)] = &[
    (0, "TASK_STATE_UNSPECIFIED"),
    (1, "TASK_STATE_SUBMITTED"),
    (2, "TASK_STATE_WORKING"),
    (3, "TASK_STATE_COMPLETED"),
    (4, "TASK_STATE_FAILED"),
    (5, "TASK_STATE_CANCELED"),
    (6, "TASK_STATE_INPUT_REQUIRED"),
    (7, "TASK_STATE_REJECTED"),
    (8, "TASK_STATE_AUTH_REQUIRED"),
];

static A2A_V1_SEND_MESSAGE_CONFIGURATION: MessageType = MessageType {
    name: "a2a.v1.SendMessageConfiguration",
    fields: &[
        Field {
            number: 1,
            name: "acceptedOutputModes",
            proto_name: "accepted_output_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 2,
            name: "pushNotification",
            proto_name: "push_notification",
            kind: Kind::Message(&A2A_V1_PUSH_NOTIFICATION_CONFIG),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "historyLength",
            proto_name: "history_length",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "blocking",
            proto_name: "blocking",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_TASK: MessageType = MessageType {
    name: "a2a.v1.Task",
    fields: &[
        Field {
            number: 1,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "status",
            proto_name: "status",
            kind: Kind::Message(&A2A_V1_TASK_STATUS),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "artifacts",
            proto_name: "artifacts",
            kind: Kind::Message(&A2A_V1_ARTIFACT),
            rule: Rule::Repeated,
        },
        Field {
            number: 5,
            name: "history",
            proto_name: "history",
            kind: Kind::Message(&A2A_V1_MESSAGE),
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_TASK_STATUS: MessageType = MessageType {
    name: "a2a.v1.TaskStatus",
    fields: &[
        Field {
            number: 1,
            name: "state",
            proto_name: "state",
            kind: Kind::Enum(A2A_V1_TASK_STATE),
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "update",
            kind: Kind::Message(&A2A_V1_MESSAGE),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "timestamp",
            proto_name: "timestamp",
            kind: Kind::Timestamp,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_PART: MessageType = MessageType {
    name: "a2a.v1.Part",
    fields: &[
        Field {
            number: 1,
            name: "text",
            proto_name: "text",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "file",
            proto_name: "file",
            kind: Kind::Message(&A2A_V1_FILE_PART),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "data",
            proto_name: "data",
            kind: Kind::Message(&A2A_V1_DATA_PART),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_FILE_PART: MessageType = MessageType {
    name: "a2a.v1.FilePart",
    fields: &[
        Field {
            number: 1,
            name: "fileWithUri",
            proto_name: "file_with_uri",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "fileWithBytes",
            proto_name: "file_with_bytes",
            kind: Kind::Bytes,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "mimeType",
            proto_name: "mime_type",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_DATA_PART: MessageType = MessageType {
    name: "a2a.v1.DataPart",
    fields: &[Field {
        number: 1,
        name: "data",
        proto_name: "data",
        kind: Kind::Struct,
        rule: Rule::Explicit,
    }],
};

static A2A_V1_MESSAGE: MessageType = MessageType {
    name: "a2a.v1.Message",
    fields: &[
        Field {
            number: 1,
            name: "messageId",
            proto_name: "message_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "role",
            proto_name: "role",
            kind: Kind::Enum(A2A_V1_ROLE),
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "content",
            proto_name: "content",
            kind: Kind::Message(&A2A_V1_PART),
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
        Field {
            number: 7,
            name: "extensions",
            proto_name: "extensions",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
    ],
};

static A2A_V1_ARTIFACT: MessageType = MessageType {
    name: "a2a.v1.Artifact",
    fields: &[
        Field {
            number: 1,
            name: "artifactId",
            proto_name: "artifact_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "parts",
            proto_name: "parts",
            kind: Kind::Message(&A2A_V1_PART),
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
        Field {
            number: 7,
            name: "extensions",
            proto_name: "extensions",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
    ],
};

static A2A_V1_TASK_STATUS_UPDATE_EVENT: MessageType = MessageType {
    name: "a2a.v1.TaskStatusUpdateEvent",
    fields: &[
        Field {
            number: 1,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "status",
            proto_name: "status",
            kind: Kind::Message(&A2A_V1_TASK_STATUS),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "final",
            proto_name: "final",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_TASK_ARTIFACT_UPDATE_EVENT: MessageType = MessageType {
    name: "a2a.v1.TaskArtifactUpdateEvent",
    fields: &[
        Field {
            number: 1,
            name: "taskId",
            proto_name: "task_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "contextId",
            proto_name: "context_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "artifact",
            proto_name: "artifact",
            kind: Kind::Message(&A2A_V1_ARTIFACT),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "append",
            proto_name: "append",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 5,
            name: "lastChunk",
            proto_name: "last_chunk",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 6,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_PUSH_NOTIFICATION_CONFIG: MessageType = MessageType {
    name: "a2a.v1.PushNotificationConfig",
    fields: &[
        Field {
            number: 1,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "token",
            proto_name: "token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "authentication",
            proto_name: "authentication",
            kind: Kind::Message(&A2A_V1_AUTHENTICATION_INFO),
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_AUTHENTICATION_INFO: MessageType = MessageType {
    name: "a2a.v1.AuthenticationInfo",
    fields: &[
        Field {
            number: 1,
            name: "schemes",
            proto_name: "schemes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 2,
            name: "credentials",
            proto_name: "credentials",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_AGENT_INTERFACE: MessageType = MessageType {
    name: "a2a.v1.AgentInterface",
    fields: &[
        Field {
            number: 1,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "transport",
            proto_name: "transport",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_AGENT_CARD: MessageType = MessageType {
    name: "a2a.v1.AgentCard",
    fields: &[
        Field {
            number: 1,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "provider",
            proto_name: "provider",
            kind: Kind::Message(&A2A_V1_AGENT_PROVIDER),
            rule: Rule::Explicit,
        },
        Field {
            number: 5,
            name: "version",
            proto_name: "version",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 6,
            name: "documentationUrl",
            proto_name: "documentation_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 7,
            name: "capabilities",
            proto_name: "capabilities",
            kind: Kind::Message(&A2A_V1_AGENT_CAPABILITIES),
            rule: Rule::Explicit,
        },
        Field {
            number: 8,
            name: "securitySchemes",
            proto_name: "security_schemes",
            kind: Kind::Message(&A2A_V1_SECURITY_SCHEME),
            rule: Rule::Map,
        },
        Field {
            number: 9,
            name: "security",
            proto_name: "security",
            kind: Kind::Message(&A2A_V1_SECURITY),
            rule: Rule::Repeated,
        },
        Field {
            number: 10,
            name: "defaultInputModes",
            proto_name: "default_input_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 11,
            name: "defaultOutputModes",
            proto_name: "default_output_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 12,
            name: "skills",
            proto_name: "skills",
            kind: Kind::Message(&A2A_V1_AGENT_SKILL),
            rule: Rule::Repeated,
        },
        Field {
            number: 13,
            name: "supportsAuthenticatedExtendedCard",
            proto_name: "supports_authenticated_extended_card",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 14,
            name: "preferredTransport",
            proto_name: "preferred_transport",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 15,
            name: "additionalInterfaces",
            proto_name: "additional_interfaces",
            kind: Kind::Message(&A2A_V1_AGENT_INTERFACE),
            rule: Rule::Repeated,
        },
        Field {
            number: 16,
            name: "protocolVersion",
            proto_name: "protocol_version",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 17,
            name: "signatures",
            proto_name: "signatures",
            kind: Kind::Message(&A2A_V1_AGENT_CARD_SIGNATURE),
            rule: Rule::Repeated,
        },
        Field {
            number: 18,
            name: "iconUrl",
            proto_name: "icon_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_AGENT_PROVIDER: MessageType = MessageType {
    name: "a2a.v1.AgentProvider",
    fields: &[
        Field {
            number: 1,
            name: "url",
            proto_name: "url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "organization",
            proto_name: "organization",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_AGENT_CAPABILITIES: MessageType = MessageType {
    name: "a2a.v1.AgentCapabilities",
    fields: &[
        Field {
            number: 1,
            name: "streaming",
            proto_name: "streaming",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "pushNotifications",
            proto_name: "push_notifications",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "extensions",
            proto_name: "extensions",
            kind: Kind::Message(&A2A_V1_AGENT_EXTENSION),
            rule: Rule::Repeated,
        },
    ],
};

static A2A_V1_AGENT_EXTENSION: MessageType = MessageType {
    name: "a2a.v1.AgentExtension",
    fields: &[
        Field {
            number: 1,
            name: "uri",
            proto_name: "uri",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "required",
            proto_name: "required",
            kind: Kind::Bool,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "params",
            proto_name: "params",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_AGENT_SKILL: MessageType = MessageType {
    name: "a2a.v1.AgentSkill",
    fields: &[
        Field {
            number: 1,
            name: "id",
            proto_name: "id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "tags",
            proto_name: "tags",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 5,
            name: "examples",
            proto_name: "examples",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 6,
            name: "inputModes",
            proto_name: "input_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 7,
            name: "outputModes",
            proto_name: "output_modes",
            kind: Kind::Text,
            rule: Rule::Repeated,
        },
        Field {
            number: 8,
            name: "security",
            proto_name: "security",
            kind: Kind::Message(&A2A_V1_SECURITY),
            rule: Rule::Repeated,
        },
    ],
};

static A2A_V1_AGENT_CARD_SIGNATURE: MessageType = MessageType {
    name: "a2a.v1.AgentCardSignature",
    fields: &[
        Field {
            number: 1,
            name: "protected",
            proto_name: "protected",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "signature",
            proto_name: "signature",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "header",
            proto_name: "header",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG: MessageType = MessageType {
    name: "a2a.v1.TaskPushNotificationConfig",
    fields: &[
        Field {
            number: 1,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "pushNotificationConfig",
            proto_name: "push_notification_config",
            kind: Kind::Message(&A2A_V1_PUSH_NOTIFICATION_CONFIG),
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_STRING_LIST: MessageType = MessageType {
    name: "a2a.v1.StringList",
    fields: &[Field {
        number: 1,
        name: "list",
        proto_name: "list",
        kind: Kind::Text,
        rule: Rule::Repeated,
    }],
};

static A2A_V1_SECURITY: MessageType = MessageType {
    name: "a2a.v1.Security",
    fields: &[Field {
        number: 1,
        name: "schemes",
        proto_name: "schemes",
        kind: Kind::Message(&A2A_V1_STRING_LIST),
        rule: Rule::Map,
    }],
};

static A2A_V1_SECURITY_SCHEME: MessageType = MessageType {
    name: "a2a.v1.SecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "apiKeySecurityScheme",
            proto_name: "api_key_security_scheme",
            kind: Kind::Message(&A2A_V1_APIKEY_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "httpAuthSecurityScheme",
            proto_name: "http_auth_security_scheme",
            kind: Kind::Message(&A2A_V1_HTTPAUTH_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "oauth2SecurityScheme",
            proto_name: "oauth2_security_scheme",
            kind: Kind::Message(&A2A_V1_OAUTH2_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "openIdConnectSecurityScheme",
            proto_name: "open_id_connect_security_scheme",
            kind: Kind::Message(&A2A_V1_OPEN_ID_CONNECT_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 5,
            name: "mtlsSecurityScheme",
            proto_name: "mtls_security_scheme",
            kind: Kind::Message(&A2A_V1_MUTUAL_TLS_SECURITY_SCHEME),
            rule: Rule::OneOf(0),
        },
    ],
};

static A2A_V1_APIKEY_SECURITY_SCHEME: MessageType = MessageType {
    name: "a2a.v1.APIKeySecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "location",
            proto_name: "location",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_HTTPAUTH_SECURITY_SCHEME: MessageType = MessageType {
    name: "a2a.v1.HTTPAuthSecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "scheme",
            proto_name: "scheme",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "bearerFormat",
            proto_name: "bearer_format",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_OAUTH2_SECURITY_SCHEME: MessageType = MessageType {
    name: "a2a.v1.OAuth2SecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "flows",
            proto_name: "flows",
            kind: Kind::Message(&A2A_V1_OAUTH_FLOWS),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "oauth2MetadataUrl",
            proto_name: "oauth2_metadata_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_OPEN_ID_CONNECT_SECURITY_SCHEME: MessageType = MessageType {
    name: "a2a.v1.OpenIdConnectSecurityScheme",
    fields: &[
        Field {
            number: 1,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "openIdConnectUrl",
            proto_name: "open_id_connect_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_MUTUAL_TLS_SECURITY_SCHEME: MessageType = MessageType {
    name: "a2a.v1.MutualTlsSecurityScheme",
    fields: &[Field {
        number: 1,
        name: "description",
        proto_name: "description",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static A2A_V1_OAUTH_FLOWS: MessageType = MessageType {
    name: "a2a.v1.OAuthFlows",
    fields: &[
        Field {
            number: 1,
            name: "authorizationCode",
            proto_name: "authorization_code",
            kind: Kind::Message(&A2A_V1_AUTHORIZATION_CODE_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "clientCredentials",
            proto_name: "client_credentials",
            kind: Kind::Message(&A2A_V1_CLIENT_CREDENTIALS_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "implicit",
            proto_name: "implicit",
            kind: Kind::Message(&A2A_V1_IMPLICIT_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "password",
            proto_name: "password",
            kind: Kind::Message(&A2A_V1_PASSWORD_OAUTH_FLOW),
            rule: Rule::OneOf(0),
        },
    ],
};

static A2A_V1_AUTHORIZATION_CODE_OAUTH_FLOW: MessageType = MessageType {
    name: "a2a.v1.AuthorizationCodeOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "authorizationUrl",
            proto_name: "authorization_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static A2A_V1_CLIENT_CREDENTIALS_OAUTH_FLOW: MessageType = MessageType {
    name: "a2a.v1.ClientCredentialsOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static A2A_V1_IMPLICIT_OAUTH_FLOW: MessageType = MessageType {
    name: "a2a.v1.ImplicitOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "authorizationUrl",
            proto_name: "authorization_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static A2A_V1_PASSWORD_OAUTH_FLOW: MessageType = MessageType {
    name: "a2a.v1.PasswordOAuthFlow",
    fields: &[
        Field {
            number: 1,
            name: "tokenUrl",
            proto_name: "token_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "refreshUrl",
            proto_name: "refresh_url",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "scopes",
            proto_name: "scopes",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static A2A_V1_SEND_MESSAGE_REQUEST: MessageType = MessageType {
    name: "a2a.v1.SendMessageRequest",
    fields: &[
        Field {
            number: 1,
            name: "message",
            proto_name: "request",
            kind: Kind::Message(&A2A_V1_MESSAGE),
            rule: Rule::Explicit,
        },
        Field {
            number: 2,
            name: "configuration",
            proto_name: "configuration",
            kind: Kind::Message(&A2A_V1_SEND_MESSAGE_CONFIGURATION),
            rule: Rule::Explicit,
        },
        Field {
            number: 3,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Struct,
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_GET_TASK_REQUEST: MessageType = MessageType {
    name: "a2a.v1.GetTaskRequest",
    fields: &[
        Field {
            number: 1,
            name: "name",
            proto_name: "name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "historyLength",
            proto_name: "history_length",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_CANCEL_TASK_REQUEST: MessageType = MessageType {
    name: "a2a.v1.CancelTaskRequest",
    fields: &[Field {
        number: 1,
        name: "name",
        proto_name: "name",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static A2A_V1_GET_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST: MessageType = MessageType {
    name: "a2a.v1.GetTaskPushNotificationConfigRequest",
    fields: &[Field {
        number: 1,
        name: "name",
        proto_name: "name",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static A2A_V1_DELETE_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST: MessageType = MessageType {
    name: "a2a.v1.DeleteTaskPushNotificationConfigRequest",
    fields: &[Field {
        number: 1,
        name: "name",
        proto_name: "name",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static A2A_V1_CREATE_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST: MessageType = MessageType {
    name: "a2a.v1.CreateTaskPushNotificationConfigRequest",
    fields: &[
        Field {
            number: 1,
            name: "parent",
            proto_name: "parent",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "configId",
            proto_name: "config_id",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "config",
            proto_name: "config",
            kind: Kind::Message(&A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG),
            rule: Rule::Explicit,
        },
    ],
};

static A2A_V1_TASK_SUBSCRIPTION_REQUEST: MessageType = MessageType {
    name: "a2a.v1.TaskSubscriptionRequest",
    fields: &[Field {
        number: 1,
        name: "name",
        proto_name: "name",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST: MessageType = MessageType {
    name: "a2a.v1.ListTaskPushNotificationConfigRequest",
    fields: &[
        Field {
            number: 1,
            name: "parent",
            proto_name: "parent",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "pageSize",
            proto_name: "page_size",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "pageToken",
            proto_name: "page_token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static A2A_V1_GET_AGENT_CARD_REQUEST: MessageType = MessageType {
    name: "a2a.v1.GetAgentCardRequest",
    fields: &[],
};

static A2A_V1_SEND_MESSAGE_RESPONSE: MessageType = MessageType {
    name: "a2a.v1.SendMessageResponse",
    fields: &[
        Field {
            number: 1,
            name: "task",
            proto_name: "task",
            kind: Kind::Message(&A2A_V1_TASK),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "msg",
            kind: Kind::Message(&A2A_V1_MESSAGE),
            rule: Rule::OneOf(0),
        },
    ],
};

static A2A_V1_STREAM_RESPONSE: MessageType = MessageType {
    name: "a2a.v1.StreamResponse",
    fields: &[
        Field {
            number: 1,
            name: "task",
            proto_name: "task",
            kind: Kind::Message(&A2A_V1_TASK),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "msg",
            kind: Kind::Message(&A2A_V1_MESSAGE),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 3,
            name: "statusUpdate",
            proto_name: "status_update",
            kind: Kind::Message(&A2A_V1_TASK_STATUS_UPDATE_EVENT),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "artifactUpdate",
            proto_name: "artifact_update",
            kind: Kind::Message(&A2A_V1_TASK_ARTIFACT_UPDATE_EVENT),
            rule: Rule::OneOf(0),
        },
    ],
};

static A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIG_RESPONSE: MessageType = MessageType {
    name: "a2a.v1.ListTaskPushNotificationConfigResponse",
    fields: &[
        Field {
            number: 1,
            name: "configs",
            proto_name: "configs",
            kind: Kind::Message(&A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG),
            rule: Rule::Repeated,
        },
        Field {
            number: 2,
            name: "nextPageToken",
            proto_name: "next_page_token",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

const A2A_V1_ROLE: &[(i32, &str)] = &[(0, "ROLE_UNSPECIFIED"), (1, "ROLE_USER"), (2, "ROLE_AGENT")];

const A2A_V1_TASK_STATE: &[(i32, &str)] = &[
    (0, "TASK_STATE_UNSPECIFIED"),
    (1, "TASK_STATE_SUBMITTED"),
    (2, "TASK_STATE_WORKING"),
    (3, "TASK_STATE_COMPLETED"),
    (4, "TASK_STATE_FAILED"),
    (5, "TASK_STATE_CANCELLED"),
    (6, "TASK_STATE_INPUT_REQUIRED"),
    (7, "TASK_STATE_REJECTED"),
    (8, "TASK_STATE_AUTH_REQUIRED"),
];

/// Error of a call, with its details: `google.rpc.Status`.
pub static STATUS: MessageType = MessageType {
    name: "google.rpc.Status",
    fields: &[
        Field {
            number: 1,
            name: "code",
            proto_name: "code",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "message",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "details",
            proto_name: "details",
            kind: Kind::Any,
            rule: Rule::Repeated,
        },
    ],
};

static GOOGLE_RPC_ERROR_INFO: MessageType = MessageType {
    name: "google.rpc.ErrorInfo",
    fields: &[
        Field {
            number: 1,
            name: "reason",
            proto_name: "reason",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "domain",
            proto_name: "domain",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "metadata",
            proto_name: "metadata",
            kind: Kind::Text,
            rule: Rule::Map,
        },
    ],
};

static GOOGLE_RPC_RETRY_INFO: MessageType = MessageType {
    name: "google.rpc.RetryInfo",
    fields: &[Field {
        number: 1,
        name: "retryDelay",
        proto_name: "retry_delay",
        kind: Kind::Duration,
        rule: Rule::Explicit,
    }],
};

static GOOGLE_RPC_BAD_REQUEST: MessageType = MessageType {
    name: "google.rpc.BadRequest",
    fields: &[Field {
        number: 1,
        name: "fieldViolations",
        proto_name: "field_violations",
        kind: Kind::Message(&GOOGLE_RPC_BAD_REQUEST_FIELD_VIOLATION),
        rule: Rule::Repeated,
    }],
};

static GOOGLE_RPC_BAD_REQUEST_FIELD_VIOLATION: MessageType = MessageType {
    name: "google.rpc.BadRequest.FieldViolation",
    fields: &[
        Field {
            number: 1,
            name: "field",
            proto_name: "field",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "description",
            proto_name: "description",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "reason",
            proto_name: "reason",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 4,
            name: "localizedMessage",
            proto_name: "localized_message",
            kind: Kind::Message(&GOOGLE_RPC_LOCALIZED_MESSAGE),
            rule: Rule::Explicit,
        },
    ],
};

static GOOGLE_RPC_LOCALIZED_MESSAGE: MessageType = MessageType {
    name: "google.rpc.LocalizedMessage",
    fields: &[
        Field {
            number: 1,
            name: "locale",
            proto_name: "locale",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "message",
            proto_name: "message",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

/// Request of both methods of `grpc.health.v1.Health`.
pub static HEALTH_CHECK_REQUEST: MessageType = MessageType {
    name: "grpc.health.v1.HealthCheckRequest",
    fields: &[Field {
        number: 1,
        name: "service",
        proto_name: "service",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

/// Response of both methods of `grpc.health.v1.Health`.
pub static HEALTH_CHECK_RESPONSE: MessageType = MessageType {
    name: "grpc.health.v1.HealthCheckResponse",
    fields: &[Field {
        number: 1,
        name: "status",
        proto_name: "status",
        kind: Kind::Enum(GRPC_HEALTH_V1_HEALTH_CHECK_RESPONSE_SERVING_STATUS),
        rule: Rule::Implicit,
    }],
};

const GRPC_HEALTH_V1_HEALTH_CHECK_RESPONSE_SERVING_STATUS: &[(i32, &str)] = &[
    (0, "UNKNOWN"),
    (1, "SERVING"),
    (2, "NOT_SERVING"),
    (3, "SERVICE_UNKNOWN"),
];

/// Request of `grpc.reflection.v1.ServerReflection`.
pub static SERVER_REFLECTION_REQUEST: MessageType = MessageType {
    name: "grpc.reflection.v1.ServerReflectionRequest",
    fields: &[
        Field {
            number: 1,
            name: "host",
            proto_name: "host",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 3,
            name: "fileByFilename",
            proto_name: "file_by_filename",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 4,
            name: "fileContainingSymbol",
            proto_name: "file_containing_symbol",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 5,
            name: "fileContainingExtension",
            proto_name: "file_containing_extension",
            kind: Kind::Message(&GRPC_REFLECTION_V1_EXTENSION_REQUEST),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 6,
            name: "allExtensionNumbersOfType",
            proto_name: "all_extension_numbers_of_type",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
        Field {
            number: 7,
            name: "listServices",
            proto_name: "list_services",
            kind: Kind::Text,
            rule: Rule::OneOf(0),
        },
    ],
};

static GRPC_REFLECTION_V1_EXTENSION_REQUEST: MessageType = MessageType {
    name: "grpc.reflection.v1.ExtensionRequest",
    fields: &[
        Field {
            number: 1,
            name: "containingType",
            proto_name: "containing_type",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "extensionNumber",
            proto_name: "extension_number",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
    ],
};

/// Response of `grpc.reflection.v1.ServerReflection`.
pub static SERVER_REFLECTION_RESPONSE: MessageType = MessageType {
    name: "grpc.reflection.v1.ServerReflectionResponse",
    fields: &[
        Field {
            number: 1,
            name: "validHost",
            proto_name: "valid_host",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "originalRequest",
            proto_name: "original_request",
            kind: Kind::Message(&SERVER_REFLECTION_REQUEST),
            rule: Rule::Explicit,
        },
        Field {
            number: 4,
            name: "fileDescriptorResponse",
            proto_name: "file_descriptor_response",
            kind: Kind::Message(&GRPC_REFLECTION_V1_FILE_DESCRIPTOR_RESPONSE),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 5,
            name: "allExtensionNumbersResponse",
            proto_name: "all_extension_numbers_response",
            kind: Kind::Message(&GRPC_REFLECTION_V1_EXTENSION_NUMBER_RESPONSE),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 6,
            name: "listServicesResponse",
            proto_name: "list_services_response",
            kind: Kind::Message(&GRPC_REFLECTION_V1_LIST_SERVICE_RESPONSE),
            rule: Rule::OneOf(0),
        },
        Field {
            number: 7,
            name: "errorResponse",
            proto_name: "error_response",
            kind: Kind::Message(&GRPC_REFLECTION_V1_ERROR_RESPONSE),
            rule: Rule::OneOf(0),
        },
    ],
};

static GRPC_REFLECTION_V1_FILE_DESCRIPTOR_RESPONSE: MessageType = MessageType {
    name: "grpc.reflection.v1.FileDescriptorResponse",
    fields: &[Field {
        number: 1,
        name: "fileDescriptorProto",
        proto_name: "file_descriptor_proto",
        kind: Kind::Bytes,
        rule: Rule::Repeated,
    }],
};

static GRPC_REFLECTION_V1_EXTENSION_NUMBER_RESPONSE: MessageType = MessageType {
    name: "grpc.reflection.v1.ExtensionNumberResponse",
    fields: &[
        Field {
            number: 1,
            name: "baseTypeName",
            proto_name: "base_type_name",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "extensionNumber",
            proto_name: "extension_number",
            kind: Kind::Int32,
            rule: Rule::Repeated,
        },
    ],
};

static GRPC_REFLECTION_V1_LIST_SERVICE_RESPONSE: MessageType = MessageType {
    name: "grpc.reflection.v1.ListServiceResponse",
    fields: &[Field {
        number: 1,
        name: "service",
        proto_name: "service",
        kind: Kind::Message(&GRPC_REFLECTION_V1_SERVICE_RESPONSE),
        rule: Rule::Repeated,
    }],
};

static GRPC_REFLECTION_V1_SERVICE_RESPONSE: MessageType = MessageType {
    name: "grpc.reflection.v1.ServiceResponse",
    fields: &[Field {
        number: 1,
        name: "name",
        proto_name: "name",
        kind: Kind::Text,
        rule: Rule::Implicit,
    }],
};

static GRPC_REFLECTION_V1_ERROR_RESPONSE: MessageType = MessageType {
    name: "grpc.reflection.v1.ErrorResponse",
    fields: &[
        Field {
            number: 1,
            name: "errorCode",
            proto_name: "error_code",
            kind: Kind::Int32,
            rule: Rule::Implicit,
        },
        Field {
            number: 2,
            name: "errorMessage",
            proto_name: "error_message",
            kind: Kind::Text,
            rule: Rule::Implicit,
        },
    ],
};

static GOOGLE_PROTOBUF_EMPTY: MessageType = MessageType {
    name: "google.protobuf.Empty",
    fields: &[],
};

/// Messages that an Any may have.
pub(crate) static ANY_TYPES: &[&MessageType] = &[
    &GOOGLE_RPC_ERROR_INFO,
    &GOOGLE_RPC_RETRY_INFO,
    &GOOGLE_RPC_BAD_REQUEST,
    &GOOGLE_RPC_LOCALIZED_MESSAGE,
];

pub(crate) static METHODS: &[Method] = &[
    Method {
        path: "/lf.a2a.v1.A2AService/SendMessage",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_SEND_MESSAGE_REQUEST,
        response: &LF_A2A_V1_SEND_MESSAGE_RESPONSE,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/SendStreamingMessage",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_SEND_MESSAGE_REQUEST,
        response: &LF_A2A_V1_STREAM_RESPONSE,
        is_stream: true,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/GetTask",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_GET_TASK_REQUEST,
        response: &LF_A2A_V1_TASK,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/ListTasks",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_LIST_TASKS_REQUEST,
        response: &LF_A2A_V1_LIST_TASKS_RESPONSE,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/CancelTask",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_CANCEL_TASK_REQUEST,
        response: &LF_A2A_V1_TASK,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/SubscribeToTask",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_SUBSCRIBE_TO_TASK_REQUEST,
        response: &LF_A2A_V1_STREAM_RESPONSE,
        is_stream: true,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG,
        response: &LF_A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/GetTaskPushNotificationConfig",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_GET_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST,
        response: &LF_A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/ListTaskPushNotificationConfigs",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIGS_REQUEST,
        response: &LF_A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIGS_RESPONSE,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/GetExtendedAgentCard",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_GET_EXTENDED_AGENT_CARD_REQUEST,
        response: &LF_A2A_V1_AGENT_CARD,
        is_stream: false,
    },
    Method {
        path: "/lf.a2a.v1.A2AService/DeleteTaskPushNotificationConfig",
        version: ProtocolVersion::V1_0,
        request: &LF_A2A_V1_DELETE_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST,
        response: &GOOGLE_PROTOBUF_EMPTY,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/SendMessage",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_SEND_MESSAGE_REQUEST,
        response: &A2A_V1_SEND_MESSAGE_RESPONSE,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/SendStreamingMessage",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_SEND_MESSAGE_REQUEST,
        response: &A2A_V1_STREAM_RESPONSE,
        is_stream: true,
    },
    Method {
        path: "/a2a.v1.A2AService/GetTask",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_GET_TASK_REQUEST,
        response: &A2A_V1_TASK,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/CancelTask",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_CANCEL_TASK_REQUEST,
        response: &A2A_V1_TASK,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/TaskSubscription",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_TASK_SUBSCRIPTION_REQUEST,
        response: &A2A_V1_STREAM_RESPONSE,
        is_stream: true,
    },
    Method {
        path: "/a2a.v1.A2AService/CreateTaskPushNotificationConfig",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_CREATE_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST,
        response: &A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/GetTaskPushNotificationConfig",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_GET_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST,
        response: &A2A_V1_TASK_PUSH_NOTIFICATION_CONFIG,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/ListTaskPushNotificationConfig",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST,
        response: &A2A_V1_LIST_TASK_PUSH_NOTIFICATION_CONFIG_RESPONSE,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/GetAgentCard",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_GET_AGENT_CARD_REQUEST,
        response: &A2A_V1_AGENT_CARD,
        is_stream: false,
    },
    Method {
        path: "/a2a.v1.A2AService/DeleteTaskPushNotificationConfig",
        version: ProtocolVersion::V0_3,
        request: &A2A_V1_DELETE_TASK_PUSH_NOTIFICATION_CONFIG_REQUEST,
        response: &GOOGLE_PROTOBUF_EMPTY,
        is_stream: false,
    },
];

pub(crate) static SERVICES: &[&str] = &[
    "a2a.v1.A2AService",
    "lf.a2a.v1.A2AService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
];

pub(crate) static FILES: &[FileDescriptor] = &[
    FileDescriptor {
        name: "google/protobuf/empty.proto",
        package: "google.protobuf",
        bytes: include_bytes!("../proto/google/protobuf/empty.bin"),
        dependencies: &[],
        symbols: &["Empty"],
    },
    FileDescriptor {
        name: "google/protobuf/struct.proto",
        package: "google.protobuf",
        bytes: include_bytes!("../proto/google/protobuf/struct.bin"),
        dependencies: &[],
        symbols: &[
            "ListValue",
            "ListValue.values",
            "NULL_VALUE",
            "NullValue",
            "Struct",
            "Struct.FieldsEntry",
            "Struct.FieldsEntry.key",
            "Struct.FieldsEntry.value",
            "Struct.fields",
            "Value",
            "Value.bool_value",
            "Value.kind",
            "Value.list_value",
            "Value.null_value",
            "Value.number_value",
            "Value.string_value",
            "Value.struct_value",
        ],
    },
    FileDescriptor {
        name: "google/protobuf/timestamp.proto",
        package: "google.protobuf",
        bytes: include_bytes!("../proto/google/protobuf/timestamp.bin"),
        dependencies: &[],
        symbols: &["Timestamp", "Timestamp.nanos", "Timestamp.seconds"],
    },
    FileDescriptor {
        name: "a2a_v1.proto",
        package: "lf.a2a.v1",
        bytes: include_bytes!("../proto/a2a_v1.bin"),
        dependencies: &[
            "google/protobuf/empty.proto",
            "google/protobuf/struct.proto",
            "google/protobuf/timestamp.proto",
        ],
        symbols: &[
            "A2AService",
            "A2AService.CancelTask",
            "A2AService.CreateTaskPushNotificationConfig",
            "A2AService.DeleteTaskPushNotificationConfig",
            "A2AService.GetExtendedAgentCard",
            "A2AService.GetTask",
            "A2AService.GetTaskPushNotificationConfig",
            "A2AService.ListTaskPushNotificationConfigs",
            "A2AService.ListTasks",
            "A2AService.SendMessage",
            "A2AService.SendStreamingMessage",
            "A2AService.SubscribeToTask",
            "APIKeySecurityScheme",
            "APIKeySecurityScheme.description",
            "APIKeySecurityScheme.location",
            "APIKeySecurityScheme.name",
            "AgentCapabilities",
            "AgentCapabilities._extended_agent_card",
            "AgentCapabilities._push_notifications",
            "AgentCapabilities._streaming",
            "AgentCapabilities.extended_agent_card",
            "AgentCapabilities.extensions",
            "AgentCapabilities.push_notifications",
            "AgentCapabilities.streaming",
            "AgentCard",
            "AgentCard.SecuritySchemesEntry",
            "AgentCard.SecuritySchemesEntry.key",
            "AgentCard.SecuritySchemesEntry.value",
            "AgentCard._documentation_url",
            "AgentCard._icon_url",
            "AgentCard.capabilities",
            "AgentCard.default_input_modes",
            "AgentCard.default_output_modes",
            "AgentCard.description",
            "AgentCard.documentation_url",
            "AgentCard.icon_url",
            "AgentCard.name",
            "AgentCard.provider",
            "AgentCard.security_requirements",
            "AgentCard.security_schemes",
            "AgentCard.signatures",
            "AgentCard.skills",
            "AgentCard.supported_interfaces",
            "AgentCard.version",
            "AgentCardSignature",
            "AgentCardSignature.header",
            "AgentCardSignature.protected",
            "AgentCardSignature.signature",
            "AgentExtension",
            "AgentExtension.description",
            "AgentExtension.params",
            "AgentExtension.required",
            "AgentExtension.uri",
            "AgentInterface",
            "AgentInterface.protocol_binding",
            "AgentInterface.protocol_version",
            "AgentInterface.tenant",
            "AgentInterface.url",
            "AgentProvider",
            "AgentProvider.organization",
            "AgentProvider.url",
            "AgentSkill",
            "AgentSkill.description",
            "AgentSkill.examples",
            "AgentSkill.id",
            "AgentSkill.input_modes",
            "AgentSkill.name",
            "AgentSkill.output_modes",
            "AgentSkill.security_requirements",
            "AgentSkill.tags",
            "Artifact",
            "Artifact.artifact_id",
            "Artifact.description",
            "Artifact.extensions",
            "Artifact.metadata",
            "Artifact.name",
            "Artifact.parts",
            "AuthenticationInfo",
            "AuthenticationInfo.credentials",
            "AuthenticationInfo.scheme",
            "AuthorizationCodeOAuthFlow",
            "AuthorizationCodeOAuthFlow.ScopesEntry",
            "AuthorizationCodeOAuthFlow.ScopesEntry.key",
            "AuthorizationCodeOAuthFlow.ScopesEntry.value",
            "AuthorizationCodeOAuthFlow.authorization_url",
            "AuthorizationCodeOAuthFlow.pkce_required",
            "AuthorizationCodeOAuthFlow.refresh_url",
            "AuthorizationCodeOAuthFlow.scopes",
            "AuthorizationCodeOAuthFlow.token_url",
            "CancelTaskRequest",
            "CancelTaskRequest.id",
            "CancelTaskRequest.metadata",
            "CancelTaskRequest.tenant",
            "ClientCredentialsOAuthFlow",
            "ClientCredentialsOAuthFlow.ScopesEntry",
            "ClientCredentialsOAuthFlow.ScopesEntry.key",
            "ClientCredentialsOAuthFlow.ScopesEntry.value",
            "ClientCredentialsOAuthFlow.refresh_url",
            "ClientCredentialsOAuthFlow.scopes",
            "ClientCredentialsOAuthFlow.token_url",
            "DeleteTaskPushNotificationConfigRequest",
            "DeleteTaskPushNotificationConfigRequest.id",
            "DeleteTaskPushNotificationConfigRequest.task_id",
            "DeleteTaskPushNotificationConfigRequest.tenant",
            "DeviceCodeOAuthFlow",
            "DeviceCodeOAuthFlow.ScopesEntry",
            "DeviceCodeOAuthFlow.ScopesEntry.key",
            "DeviceCodeOAuthFlow.ScopesEntry.value",
            "DeviceCodeOAuthFlow.device_authorization_url",
            "DeviceCodeOAuthFlow.refresh_url",
            "DeviceCodeOAuthFlow.scopes",
            "DeviceCodeOAuthFlow.token_url",
            "GetExtendedAgentCardRequest",
            "GetExtendedAgentCardRequest.tenant",
            "GetTaskPushNotificationConfigRequest",
            "GetTaskPushNotificationConfigRequest.id",
            "GetTaskPushNotificationConfigRequest.task_id",
            "GetTaskPushNotificationConfigRequest.tenant",
            "GetTaskRequest",
            "GetTaskRequest._history_length",
            "GetTaskRequest.history_length",
            "GetTaskRequest.id",
            "GetTaskRequest.tenant",
            "HTTPAuthSecurityScheme",
            "HTTPAuthSecurityScheme.bearer_format",
            "HTTPAuthSecurityScheme.description",
            "HTTPAuthSecurityScheme.scheme",
            "ImplicitOAuthFlow",
            "ImplicitOAuthFlow.ScopesEntry",
            "ImplicitOAuthFlow.ScopesEntry.key",
            "ImplicitOAuthFlow.ScopesEntry.value",
            "ImplicitOAuthFlow.authorization_url",
            "ImplicitOAuthFlow.refresh_url",
            "ImplicitOAuthFlow.scopes",
            "ListTaskPushNotificationConfigsRequest",
            "ListTaskPushNotificationConfigsRequest.page_size",
            "ListTaskPushNotificationConfigsRequest.page_token",
            "ListTaskPushNotificationConfigsRequest.task_id",
            "ListTaskPushNotificationConfigsRequest.tenant",
            "ListTaskPushNotificationConfigsResponse",
            "ListTaskPushNotificationConfigsResponse.configs",
            "ListTaskPushNotificationConfigsResponse.next_page_token",
            "ListTasksRequest",
            "ListTasksRequest._history_length",
            "ListTasksRequest._include_artifacts",
            "ListTasksRequest._page_size",
            "ListTasksRequest.context_id",
            "ListTasksRequest.history_length",
            "ListTasksRequest.include_artifacts",
            "ListTasksRequest.page_size",
            "ListTasksRequest.page_token",
            "ListTasksRequest.status",
            "ListTasksRequest.status_timestamp_after",
            "ListTasksRequest.tenant",
            "ListTasksResponse",
            "ListTasksResponse.next_page_token",
            "ListTasksResponse.page_size",
            "ListTasksResponse.tasks",
            "ListTasksResponse.total_size",
            "Message",
            "Message.context_id",
            "Message.extensions",
            "Message.message_id",
            "Message.metadata",
            "Message.parts",
            "Message.reference_task_ids",
            "Message.role",
            "Message.task_id",
            "MutualTlsSecurityScheme",
            "MutualTlsSecurityScheme.description",
            "OAuth2SecurityScheme",
            "OAuth2SecurityScheme.description",
            "OAuth2SecurityScheme.flows",
            "OAuth2SecurityScheme.oauth2_metadata_url",
            "OAuthFlows",
            "OAuthFlows.authorization_code",
            "OAuthFlows.client_credentials",
            "OAuthFlows.device_code",
            "OAuthFlows.flow",
            "OAuthFlows.implicit",
            "OAuthFlows.password",
            "OpenIdConnectSecurityScheme",
            "OpenIdConnectSecurityScheme.description",
            "OpenIdConnectSecurityScheme.open_id_connect_url",
            "Part",
            "Part.content",
            "Part.data",
            "Part.filename",
            "Part.media_type",
            "Part.metadata",
            "Part.raw",
            "Part.text",
            "Part.url",
            "PasswordOAuthFlow",
            "PasswordOAuthFlow.ScopesEntry",
            "PasswordOAuthFlow.ScopesEntry.key",
            "PasswordOAuthFlow.ScopesEntry.value",
            "PasswordOAuthFlow.refresh_url",
            "PasswordOAuthFlow.scopes",
            "PasswordOAuthFlow.token_url",
            "ROLE_AGENT",
            "ROLE_UNSPECIFIED",
            "ROLE_USER",
            "Role",
            "SecurityRequirement",
            "SecurityRequirement.SchemesEntry",
            "SecurityRequirement.SchemesEntry.key",
            "SecurityRequirement.SchemesEntry.value",
            "SecurityRequirement.schemes",
            "SecurityScheme",
            "SecurityScheme.api_key_security_scheme",
            "SecurityScheme.http_auth_security_scheme",
            "SecurityScheme.mtls_security_scheme",
            "SecurityScheme.oauth2_security_scheme",
            "SecurityScheme.open_id_connect_security_scheme",
            "SecurityScheme.scheme",
            "SendMessageConfiguration",
            "SendMessageConfiguration._history_length",
            "SendMessageConfiguration.accepted_output_modes",
            "SendMessageConfiguration.history_length",
            "SendMessageConfiguration.return_immediately",
            "SendMessageConfiguration.task_push_notification_config",
            "SendMessageRequest",
            "SendMessageRequest.configuration",
            "SendMessageRequest.message",
            "SendMessageRequest.metadata",
            "SendMessageRequest.tenant",
            "SendMessageResponse",
            "SendMessageResponse.message",
            "SendMessageResponse.payload",
            "SendMessageResponse.task",
            "StreamResponse",
            "StreamResponse.artifact_update",
            "StreamResponse.message",
            "StreamResponse.payload",
            "StreamResponse.status_update",
            "StreamResponse.task",
            "StringList",
            "StringList.list",
            "SubscribeToTaskRequest",
            "SubscribeToTaskRequest.id",
            "SubscribeToTaskRequest.tenant",
            "TASK_STATE_AUTH_REQUIRED",
            "TASK_STATE_CANCELED",
            "TASK_STATE_COMPLETED",
            "TASK_STATE_FAILED",
            "TASK_STATE_INPUT_REQUIRED",
            "TASK_STATE_REJECTED",
            "TASK_STATE_SUBMITTED",
            "TASK_STATE_UNSPECIFIED",
            "TASK_STATE_WORKING",
            "Task",
            "Task.artifacts",
            "Task.context_id",
            "Task.history",
            "Task.id",
            "Task.metadata",
            "Task.status",
            "TaskArtifactUpdateEvent",
            "TaskArtifactUpdateEvent.append",
            "TaskArtifactUpdateEvent.artifact",
            "TaskArtifactUpdateEvent.context_id",
            "TaskArtifactUpdateEvent.last_chunk",
            "TaskArtifactUpdateEvent.metadata",
            "TaskArtifactUpdateEvent.task_id",
            "TaskPushNotificationConfig",
            "TaskPushNotificationConfig.authentication",
            "TaskPushNotificationConfig.id",
            "TaskPushNotificationConfig.task_id",
            "TaskPushNotificationConfig.tenant",
            "TaskPushNotificationConfig.token",
            "TaskPushNotificationConfig.url",
            "TaskState",
            "TaskStatus",
            "TaskStatus.message",
            "TaskStatus.state",
            "TaskStatus.timestamp",
            "TaskStatusUpdateEvent",
            "TaskStatusUpdateEvent.context_id",
            "TaskStatusUpdateEvent.metadata",
            "TaskStatusUpdateEvent.status",
            "TaskStatusUpdateEvent.task_id",
        ],
    },
    FileDescriptor {
        name: "a2a_v0_3.proto",
        package: "a2a.v1",
        bytes: include_bytes!("../proto/a2a_v0_3.bin"),
        dependencies: &[
            "google/protobuf/empty.proto",
            "google/protobuf/struct.proto",
            "google/protobuf/timestamp.proto",
        ],
        symbols: &[
            "A2AService",
            "A2AService.CancelTask",
            "A2AService.CreateTaskPushNotificationConfig",
            "A2AService.DeleteTaskPushNotificationConfig",
            "A2AService.GetAgentCard",
            "A2AService.GetTask",
            "A2AService.GetTaskPushNotificationConfig",
            "A2AService.ListTaskPushNotificationConfig",
            "A2AService.SendMessage",
            "A2AService.SendStreamingMessage",
            "A2AService.TaskSubscription",
            "APIKeySecurityScheme",
            "APIKeySecurityScheme.description",
            "APIKeySecurityScheme.location",
            "APIKeySecurityScheme.name",
            "AgentCapabilities",
            "AgentCapabilities.extensions",
            "AgentCapabilities.push_notifications",
            "AgentCapabilities.streaming",
            "AgentCard",
            "AgentCard.SecuritySchemesEntry",
            "AgentCard.SecuritySchemesEntry.key",
            "AgentCard.SecuritySchemesEntry.value",
            "AgentCard.additional_interfaces",
            "AgentCard.capabilities",
            "AgentCard.default_input_modes",
            "AgentCard.default_output_modes",
            "AgentCard.description",
            "AgentCard.documentation_url",
            "AgentCard.icon_url",
            "AgentCard.name",
            "AgentCard.preferred_transport",
            "AgentCard.protocol_version",
            "AgentCard.provider",
            "AgentCard.security",
            "AgentCard.security_schemes",
            "AgentCard.signatures",
            "AgentCard.skills",
            "AgentCard.supports_authenticated_extended_card",
            "AgentCard.url",
            "AgentCard.version",
            "AgentCardSignature",
            "AgentCardSignature.header",
            "AgentCardSignature.protected",
            "AgentCardSignature.signature",
            "AgentExtension",
            "AgentExtension.description",
            "AgentExtension.params",
            "AgentExtension.required",
            "AgentExtension.uri",
            "AgentInterface",
            "AgentInterface.transport",
            "AgentInterface.url",
            "AgentProvider",
            "AgentProvider.organization",
            "AgentProvider.url",
            "AgentSkill",
            "AgentSkill.description",
            "AgentSkill.examples",
            "AgentSkill.id",
            "AgentSkill.input_modes",
            "AgentSkill.name",
            "AgentSkill.output_modes",
            "AgentSkill.security",
            "AgentSkill.tags",
            "Artifact",
            "Artifact.artifact_id",
            "Artifact.description",
            "Artifact.extensions",
            "Artifact.metadata",
            "Artifact.name",
            "Artifact.parts",
            "AuthenticationInfo",
            "AuthenticationInfo.credentials",
            "AuthenticationInfo.schemes",
            "AuthorizationCodeOAuthFlow",
            "AuthorizationCodeOAuthFlow.ScopesEntry",
            "AuthorizationCodeOAuthFlow.ScopesEntry.key",
            "AuthorizationCodeOAuthFlow.ScopesEntry.value",
            "AuthorizationCodeOAuthFlow.authorization_url",
            "AuthorizationCodeOAuthFlow.refresh_url",
            "AuthorizationCodeOAuthFlow.scopes",
            "AuthorizationCodeOAuthFlow.token_url",
            "CancelTaskRequest",
            "CancelTaskRequest.name",
            "ClientCredentialsOAuthFlow",
            "ClientCredentialsOAuthFlow.ScopesEntry",
            "ClientCredentialsOAuthFlow.ScopesEntry.key",
            "ClientCredentialsOAuthFlow.ScopesEntry.value",
            "ClientCredentialsOAuthFlow.refresh_url",
            "ClientCredentialsOAuthFlow.scopes",
            "ClientCredentialsOAuthFlow.token_url",
            "CreateTaskPushNotificationConfigRequest",
            "CreateTaskPushNotificationConfigRequest.config",
            "CreateTaskPushNotificationConfigRequest.config_id",
            "CreateTaskPushNotificationConfigRequest.parent",
            "DataPart",
            "DataPart.data",
            "DeleteTaskPushNotificationConfigRequest",
            "DeleteTaskPushNotificationConfigRequest.name",
            "FilePart",
            "FilePart.file",
            "FilePart.file_with_bytes",
            "FilePart.file_with_uri",
            "FilePart.mime_type",
            "FilePart.name",
            "GetAgentCardRequest",
            "GetTaskPushNotificationConfigRequest",
            "GetTaskPushNotificationConfigRequest.name",
            "GetTaskRequest",
            "GetTaskRequest.history_length",
            "GetTaskRequest.name",
            "HTTPAuthSecurityScheme",
            "HTTPAuthSecurityScheme.bearer_format",
            "HTTPAuthSecurityScheme.description",
            "HTTPAuthSecurityScheme.scheme",
            "ImplicitOAuthFlow",
            "ImplicitOAuthFlow.ScopesEntry",
            "ImplicitOAuthFlow.ScopesEntry.key",
            "ImplicitOAuthFlow.ScopesEntry.value",
            "ImplicitOAuthFlow.authorization_url",
            "ImplicitOAuthFlow.refresh_url",
            "ImplicitOAuthFlow.scopes",
            "ListTaskPushNotificationConfigRequest",
            "ListTaskPushNotificationConfigRequest.page_size",
            "ListTaskPushNotificationConfigRequest.page_token",
            "ListTaskPushNotificationConfigRequest.parent",
            "ListTaskPushNotificationConfigResponse",
            "ListTaskPushNotificationConfigResponse.configs",
            "ListTaskPushNotificationConfigResponse.next_page_token",
            "Message",
            "Message.content",
            "Message.context_id",
            "Message.extensions",
            "Message.message_id",
            "Message.metadata",
            "Message.role",
            "Message.task_id",
            "MutualTlsSecurityScheme",
            "MutualTlsSecurityScheme.description",
            "OAuth2SecurityScheme",
            "OAuth2SecurityScheme.description",
            "OAuth2SecurityScheme.flows",
            "OAuth2SecurityScheme.oauth2_metadata_url",
            "OAuthFlows",
            "OAuthFlows.authorization_code",
            "OAuthFlows.client_credentials",
            "OAuthFlows.flow",
            "OAuthFlows.implicit",
            "OAuthFlows.password",
            "OpenIdConnectSecurityScheme",
            "OpenIdConnectSecurityScheme.description",
            "OpenIdConnectSecurityScheme.open_id_connect_url",
            "Part",
            "Part.data",
            "Part.file",
            "Part.metadata",
            "Part.part",
            "Part.text",
            "PasswordOAuthFlow",
            "PasswordOAuthFlow.ScopesEntry",
            "PasswordOAuthFlow.ScopesEntry.key",
            "PasswordOAuthFlow.ScopesEntry.value",
            "PasswordOAuthFlow.refresh_url",
            "PasswordOAuthFlow.scopes",
            "PasswordOAuthFlow.token_url",
            "PushNotificationConfig",
            "PushNotificationConfig.authentication",
            "PushNotificationConfig.id",
            "PushNotificationConfig.token",
            "PushNotificationConfig.url",
            "ROLE_AGENT",
            "ROLE_UNSPECIFIED",
            "ROLE_USER",
            "Role",
            "Security",
            "Security.SchemesEntry",
            "Security.SchemesEntry.key",
            "Security.SchemesEntry.value",
            "Security.schemes",
            "SecurityScheme",
            "SecurityScheme.api_key_security_scheme",
            "SecurityScheme.http_auth_security_scheme",
            "SecurityScheme.mtls_security_scheme",
            "SecurityScheme.oauth2_security_scheme",
            "SecurityScheme.open_id_connect_security_scheme",
            "SecurityScheme.scheme",
            "SendMessageConfiguration",
            "SendMessageConfiguration.accepted_output_modes",
            "SendMessageConfiguration.blocking",
            "SendMessageConfiguration.history_length",
            "SendMessageConfiguration.push_notification",
            "SendMessageRequest",
            "SendMessageRequest.configuration",
            "SendMessageRequest.metadata",
            "SendMessageRequest.request",
            "SendMessageResponse",
            "SendMessageResponse.msg",
            "SendMessageResponse.payload",
            "SendMessageResponse.task",
            "StreamResponse",
            "StreamResponse.artifact_update",
            "StreamResponse.msg",
            "StreamResponse.payload",
            "StreamResponse.status_update",
            "StreamResponse.task",
            "StringList",
            "StringList.list",
            "TASK_STATE_AUTH_REQUIRED",
            "TASK_STATE_CANCELLED",
            "TASK_STATE_COMPLETED",
            "TASK_STATE_FAILED",
            "TASK_STATE_INPUT_REQUIRED",
            "TASK_STATE_REJECTED",
            "TASK_STATE_SUBMITTED",
            "TASK_STATE_UNSPECIFIED",
            "TASK_STATE_WORKING",
            "Task",
            "Task.artifacts",
            "Task.context_id",
            "Task.history",
            "Task.id",
            "Task.metadata",
            "Task.status",
            "TaskArtifactUpdateEvent",
            "TaskArtifactUpdateEvent.append",
            "TaskArtifactUpdateEvent.artifact",
            "TaskArtifactUpdateEvent.context_id",
            "TaskArtifactUpdateEvent.last_chunk",
            "TaskArtifactUpdateEvent.metadata",
            "TaskArtifactUpdateEvent.task_id",
            "TaskPushNotificationConfig",
            "TaskPushNotificationConfig.name",
            "TaskPushNotificationConfig.push_notification_config",
            "TaskState",
            "TaskStatus",
            "TaskStatus.state",
            "TaskStatus.timestamp",
            "TaskStatus.update",
            "TaskStatusUpdateEvent",
            "TaskStatusUpdateEvent.context_id",
            "TaskStatusUpdateEvent.final",
            "TaskStatusUpdateEvent.metadata",
            "TaskStatusUpdateEvent.status",
            "TaskStatusUpdateEvent.task_id",
            "TaskSubscriptionRequest",
            "TaskSubscriptionRequest.name",
        ],
    },
    FileDescriptor {
        name: "google/protobuf/any.proto",
        package: "google.protobuf",
        bytes: include_bytes!("../proto/google/protobuf/any.bin"),
        dependencies: &[],
        symbols: &["Any", "Any.type_url", "Any.value"],
    },
    FileDescriptor {
        name: "google/rpc/status.proto",
        package: "google.rpc",
        bytes: include_bytes!("../proto/google/rpc/status.bin"),
        dependencies: &["google/protobuf/any.proto"],
        symbols: &["Status", "Status.code", "Status.details", "Status.message"],
    },
    FileDescriptor {
        name: "google/protobuf/duration.proto",
        package: "google.protobuf",
        bytes: include_bytes!("../proto/google/protobuf/duration.bin"),
        dependencies: &[],
        symbols: &["Duration", "Duration.nanos", "Duration.seconds"],
    },
    FileDescriptor {
        name: "google/rpc/error_details.proto",
        package: "google.rpc",
        bytes: include_bytes!("../proto/google/rpc/error_details.bin"),
        dependencies: &["google/protobuf/duration.proto"],
        symbols: &[
            "BadRequest",
            "BadRequest.FieldViolation",
            "BadRequest.FieldViolation.description",
            "BadRequest.FieldViolation.field",
            "BadRequest.FieldViolation.localized_message",
            "BadRequest.FieldViolation.reason",
            "BadRequest.field_violations",
            "ErrorInfo",
            "ErrorInfo.MetadataEntry",
            "ErrorInfo.MetadataEntry.key",
            "ErrorInfo.MetadataEntry.value",
            "ErrorInfo.domain",
            "ErrorInfo.metadata",
            "ErrorInfo.reason",
            "LocalizedMessage",
            "LocalizedMessage.locale",
            "LocalizedMessage.message",
            "RetryInfo",
            "RetryInfo.retry_delay",
        ],
    },
    FileDescriptor {
        name: "grpc/health/v1/health.proto",
        package: "grpc.health.v1",
        bytes: include_bytes!("../proto/grpc/health/v1/health.bin"),
        dependencies: &[],
        symbols: &[
            "Health",
            "Health.Check",
            "Health.Watch",
            "HealthCheckRequest",
            "HealthCheckRequest.service",
            "HealthCheckResponse",
            "HealthCheckResponse.NOT_SERVING",
            "HealthCheckResponse.SERVICE_UNKNOWN",
            "HealthCheckResponse.SERVING",
            "HealthCheckResponse.ServingStatus",
            "HealthCheckResponse.UNKNOWN",
            "HealthCheckResponse.status",
        ],
    },
    FileDescriptor {
        name: "grpc/reflection/v1/reflection.proto",
        package: "grpc.reflection.v1",
        bytes: include_bytes!("../proto/grpc/reflection/v1/reflection.bin"),
        dependencies: &[],
        symbols: &[
            "ErrorResponse",
            "ErrorResponse.error_code",
            "ErrorResponse.error_message",
            "ExtensionNumberResponse",
            "ExtensionNumberResponse.base_type_name",
            "ExtensionNumberResponse.extension_number",
            "ExtensionRequest",
            "ExtensionRequest.containing_type",
            "ExtensionRequest.extension_number",
            "FileDescriptorResponse",
            "FileDescriptorResponse.file_descriptor_proto",
            "ListServiceResponse",
            "ListServiceResponse.service",
            "ServerReflection",
            "ServerReflection.ServerReflectionInfo",
            "ServerReflectionRequest",
            "ServerReflectionRequest.all_extension_numbers_of_type",
            "ServerReflectionRequest.file_by_filename",
            "ServerReflectionRequest.file_containing_extension",
            "ServerReflectionRequest.file_containing_symbol",
            "ServerReflectionRequest.host",
            "ServerReflectionRequest.list_services",
            "ServerReflectionRequest.message_request",
            "ServerReflectionResponse",
            "ServerReflectionResponse.all_extension_numbers_response",
            "ServerReflectionResponse.error_response",
            "ServerReflectionResponse.file_descriptor_response",
            "ServerReflectionResponse.list_services_response",
            "ServerReflectionResponse.message_response",
            "ServerReflectionResponse.original_request",
            "ServerReflectionResponse.valid_host",
            "ServiceResponse",
            "ServiceResponse.name",
        ],
    },
];
