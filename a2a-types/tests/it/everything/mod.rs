//! A document of each message of the canonical model, with every member that it has.

use a2a_types::reading::{Hints, read_canonical};
use a2a_types::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Event,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, TaskPushNotificationConfig,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns every message of the protocol with every member that it has, and how it is read.
pub(crate) fn everything() -> Vec<(&'static str, RoundTrip, Value)> {
    let parts = json!([
        {"text": "t", "mediaType": "text/plain", "filename": "f", "metadata": {"a_b": null}},
        {"raw": "aGk="}, {"url": "https://h/"}, {"data": {"a_b": null}},
    ]);
    let message = json!({
        "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_AGENT", "parts": parts,
        "metadata": {"aB": 1}, "extensions": ["urn:e"], "referenceTaskIds": ["r"],
    });
    let status = json!({"state": "TASK_STATE_WORKING", "message": message, "timestamp": "2025-04-02T16:59:25.331Z"});
    let artifact = json!({
        "artifactId": "a", "name": "n", "description": "d", "parts": parts, "metadata": {"aB": 1}, "extensions": ["urn:e"],
    });
    let task = json!({
        "id": "t", "contextId": "c", "status": status, "artifacts": [artifact], "history": [message], "metadata": {"aB": 1},
    });
    let config = json!({
        "tenant": "x", "id": "p", "taskId": "t", "url": "https://h/", "token": "k",
        "authentication": {"scheme": "Bearer", "credentials": "s"},
    });
    let status_update =
        json!({"taskId": "t", "contextId": "c", "status": status, "metadata": {"aB": 1}});
    let artifact_update = json!({
        "taskId": "t", "contextId": "c", "artifact": artifact, "append": true, "lastChunk": true, "metadata": {"aB": 1},
    });
    let named = json!({"tenant": "x", "taskId": "t", "id": "p"});
    vec![
        (
            "StreamResponse",
            round_trip::<Event>,
            json!({ "task": task }),
        ),
        (
            "StreamResponse",
            round_trip::<Event>,
            json!({ "message": message }),
        ),
        (
            "StreamResponse",
            round_trip::<Event>,
            json!({ "statusUpdate": status_update }),
        ),
        (
            "StreamResponse",
            round_trip::<Event>,
            json!({ "artifactUpdate": artifact_update }),
        ),
        (
            "SendMessageResponse",
            round_trip::<SendMessageResponse>,
            json!({ "task": task }),
        ),
        (
            "SendMessageRequest",
            round_trip::<SendMessageRequest>,
            json!({
                "tenant": "x", "message": message, "metadata": {"aB": 1},
                "configuration": {"acceptedOutputModes": ["text/plain"], "taskPushNotificationConfig": config,
                    "historyLength": 3, "returnImmediately": true},
            }),
        ),
        (
            "GetTaskRequest",
            round_trip::<GetTaskRequest>,
            json!({"tenant": "x", "id": "t", "historyLength": 3}),
        ),
        (
            "ListTasksRequest",
            round_trip::<ListTasksRequest>,
            json!({
                "tenant": "x", "contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 7, "pageToken": "k",
                "historyLength": 3, "statusTimestampAfter": "2025-04-02T16:59:25.331Z", "includeArtifacts": true,
            }),
        ),
        (
            "ListTasksResponse",
            round_trip::<ListTasksResponse>,
            json!({"tasks": [task], "nextPageToken": "k", "pageSize": 7, "totalSize": 70}),
        ),
        (
            "CancelTaskRequest",
            round_trip::<CancelTaskRequest>,
            json!({"tenant": "x", "id": "t", "metadata": {"aB": 1}}),
        ),
        (
            "SubscribeToTaskRequest",
            round_trip::<SubscribeToTaskRequest>,
            json!({"tenant": "x", "id": "t"}),
        ),
        (
            "TaskPushNotificationConfig",
            round_trip::<TaskPushNotificationConfig>,
            config.clone(),
        ),
        (
            "GetTaskPushNotificationConfigRequest",
            round_trip::<GetTaskPushNotificationConfigRequest>,
            named.clone(),
        ),
        (
            "DeleteTaskPushNotificationConfigRequest",
            round_trip::<DeleteTaskPushNotificationConfigRequest>,
            named,
        ),
        (
            "ListTaskPushNotificationConfigsRequest",
            round_trip::<ListTaskPushNotificationConfigsRequest>,
            json!({"tenant": "x", "taskId": "t", "pageSize": 7, "pageToken": "k"}),
        ),
        (
            "ListTaskPushNotificationConfigsResponse",
            round_trip::<ListTaskPushNotificationConfigsResponse>,
            json!({"configs": [config], "nextPageToken": "k"}),
        ),
        (
            "GetExtendedAgentCardRequest",
            round_trip::<GetExtendedAgentCardRequest>,
            json!({"tenant": "x"}),
        ),
        ("AgentCard", round_trip::<AgentCard>, card()),
    ]
}

/// Returns a card with everything that one of 1.0 may have.
pub(crate) fn card() -> Value {
    let urls = json!({"authorizationUrl": "a", "tokenUrl": "t", "refreshUrl": "r", "scopes": {"a_b": "s"}});
    let flow = |name: &str, members: &[&str]| {
        let mut flow = json!({"refreshUrl": "r", "scopes": {"a_b": "s"}});
        for member in members {
            flow[member] = json!("u");
        }
        json!({"oauth2SecurityScheme": {"description": "d", "flows": {name: flow}, "oauth2MetadataUrl": "m"}})
    };
    let mut code = urls.clone();
    code["pkceRequired"] = json!(true);
    let requirements = json!([{"schemes": {"a_key": {"list": ["s"]}}}]);
    json!({
        "name": "n", "description": "d", "version": "1", "documentationUrl": "https://d/", "iconUrl": "https://i/",
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "tenant": "x", "protocolVersion": "1.0"}],
        "provider": {"organization": "o", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": true,
            "extensions": [{"uri": "urn:e", "description": "d", "required": true, "params": {"aB": 1}}]},
        "securitySchemes": {
            "a_key": {"apiKeySecurityScheme": {"description": "d", "location": "header", "name": "X-Key"}},
            "aToken": {"httpAuthSecurityScheme": {"description": "d", "scheme": "Bearer", "bearerFormat": "JWT"}},
            "open": {"openIdConnectSecurityScheme": {"description": "d", "openIdConnectUrl": "https://c/"}},
            "mtls": {"mtlsSecurityScheme": {"description": "d"}},
            "code": {"oauth2SecurityScheme": {"description": "d", "flows": {"authorizationCode": code}}},
            "client": flow("clientCredentials", &["tokenUrl"]),
            "implicit": flow("implicit", &["authorizationUrl"]),
            "password": flow("password", &["tokenUrl"]),
            "device": flow("deviceCode", &["deviceAuthorizationUrl", "tokenUrl"]),
        },
        "securityRequirements": requirements,
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"], "examples": ["e"], "inputModes": ["i"],
            "outputModes": ["o"], "securityRequirements": requirements}],
        "signatures": [{"protected": "p", "signature": "s", "header": {"aB": 1}}],
    })
}

/// Reads a value and writes it again: returns what was read, or the path and the problem.
pub(crate) type RoundTrip = fn(&Value) -> Result<Value, String>;

/// Reads a value as a type of the canonical model, and writes it again.
pub(crate) fn round_trip<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, String> {
    let read = read_canonical::<T>(&value.to_string(), &Hints::at("$"));
    read.map(|value| json!(value))
        .map_err(|violation| violation.to_string())
}
