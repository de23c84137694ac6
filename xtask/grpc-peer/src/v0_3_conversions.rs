//! Messages of 0.3 from those of 1.0, and back. States and roles have the same numbers in both.

use std::collections::BTreeMap;

use prost_types::value::Kind;
use prost_types::{Struct, Value};

use crate::agent::{is_interrupted, is_terminal};
use crate::{v0_3, v1_0};

/// Reads a number that 0.3 has no way to leave out.
pub(crate) fn zero_as_unset(number: i32) -> Option<i32> {
    (number != 0).then_some(number)
}

/// Converts the configuration of a webhook, for no task yet.
pub(crate) fn config_v1_0(
    config: v0_3::PushNotificationConfig,
) -> v1_0::TaskPushNotificationConfig {
    v1_0::TaskPushNotificationConfig {
        tenant: String::new(),
        id: config.id,
        task_id: String::new(),
        url: config.url,
        token: config.token,
        authentication: config.authentication.map(|it| v1_0::AuthenticationInfo {
            scheme: it.schemes.into_iter().next().unwrap_or_default(),
            credentials: it.credentials,
        }),
    }
}

impl From<v1_0::TaskPushNotificationConfig> for v0_3::TaskPushNotificationConfig {
    fn from(config: v1_0::TaskPushNotificationConfig) -> Self {
        let authentication = config.authentication.map(|it| v0_3::AuthenticationInfo {
            schemes: vec![it.scheme],
            credentials: it.credentials,
        });
        Self {
            name: format!(
                "tasks/{}/pushNotificationConfigs/{}",
                config.task_id, config.id
            ),
            push_notification_config: Some(v0_3::PushNotificationConfig {
                id: config.id,
                url: config.url,
                token: config.token,
                authentication,
            }),
        }
    }
}

impl From<v0_3::SendMessageConfiguration> for v1_0::SendMessageConfiguration {
    fn from(configuration: v0_3::SendMessageConfiguration) -> Self {
        Self {
            accepted_output_modes: configuration.accepted_output_modes,
            task_push_notification_config: configuration.push_notification.map(config_v1_0),
            history_length: zero_as_unset(configuration.history_length),
            return_immediately: !configuration.blocking,
        }
    }
}

impl From<v0_3::Message> for v1_0::Message {
    fn from(message: v0_3::Message) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role,
            parts: all(message.content),
            metadata: message.metadata,
            extensions: message.extensions,
            reference_task_ids: Vec::new(),
        }
    }
}

impl From<v1_0::Message> for v0_3::Message {
    fn from(message: v1_0::Message) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role,
            content: all(message.parts),
            metadata: message.metadata,
            extensions: message.extensions,
        }
    }
}

impl From<v0_3::Part> for v1_0::Part {
    fn from(part: v0_3::Part) -> Self {
        use v1_0::part::Content;
        let (mut media_type, mut filename) = Default::default();
        let content = part.part.and_then(|part| match part {
            v0_3::part::Part::Text(text) => Some(Content::Text(text)),
            v0_3::part::Part::Data(data) => Some(Content::Data(Value {
                kind: Some(Kind::StructValue(data.data.unwrap_or_default())),
            })),
            v0_3::part::Part::File(file) => {
                media_type = file.mime_type;
                filename = file.name;
                file.file.map(|file| match file {
                    v0_3::file_part::File::FileWithUri(url) => Content::Url(url),
                    v0_3::file_part::File::FileWithBytes(bytes) => Content::Raw(bytes),
                })
            }
        });
        Self {
            content,
            metadata: part.metadata,
            filename,
            media_type,
        }
    }
}

impl From<v1_0::Part> for v0_3::Part {
    fn from(part: v1_0::Part) -> Self {
        use v0_3::file_part::File;
        use v0_3::part::Part;
        let file = |file| {
            Part::File(v0_3::FilePart {
                mime_type: part.media_type,
                name: part.filename,
                file: Some(file),
            })
        };
        let metadata = part.metadata;
        let part = part.content.map(|content| match content {
            v1_0::part::Content::Text(text) => Part::Text(text),
            v1_0::part::Content::Raw(bytes) => file(File::FileWithBytes(bytes)),
            v1_0::part::Content::Url(url) => file(File::FileWithUri(url)),
            v1_0::part::Content::Data(data) => Part::Data(v0_3::DataPart {
                data: Some(object(data)),
            }),
        });
        Self { part, metadata }
    }
}

impl From<v1_0::Artifact> for v0_3::Artifact {
    fn from(artifact: v1_0::Artifact) -> Self {
        Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name,
            description: artifact.description,
            parts: all(artifact.parts),
            metadata: artifact.metadata,
            extensions: artifact.extensions,
        }
    }
}

impl From<v1_0::TaskStatus> for v0_3::TaskStatus {
    fn from(status: v1_0::TaskStatus) -> Self {
        Self {
            state: status.state,
            update: status.message.map(Into::into),
            timestamp: status.timestamp,
        }
    }
}

impl From<v1_0::Task> for v0_3::Task {
    fn from(task: v1_0::Task) -> Self {
        Self {
            id: task.id,
            context_id: task.context_id,
            status: task.status.map(Into::into),
            artifacts: all(task.artifacts),
            history: all(task.history),
            metadata: task.metadata,
        }
    }
}

impl From<v1_0::stream_response::Payload> for v0_3::stream_response::Payload {
    fn from(payload: v1_0::stream_response::Payload) -> Self {
        match payload {
            v1_0::stream_response::Payload::Task(task) => Self::Task(task.into()),
            v1_0::stream_response::Payload::Message(message) => Self::Msg(message.into()),
            v1_0::stream_response::Payload::StatusUpdate(event) => {
                let state = event.status.as_ref().map(v1_0::TaskStatus::state);
                Self::StatusUpdate(v0_3::TaskStatusUpdateEvent {
                    task_id: event.task_id,
                    context_id: event.context_id,
                    status: event.status.map(Into::into),
                    r#final: state.is_some_and(|it| is_terminal(it) || is_interrupted(it)),
                    metadata: event.metadata,
                })
            }
            v1_0::stream_response::Payload::ArtifactUpdate(event) => {
                Self::ArtifactUpdate(v0_3::TaskArtifactUpdateEvent {
                    task_id: event.task_id,
                    context_id: event.context_id,
                    artifact: event.artifact.map(Into::into),
                    append: event.append,
                    last_chunk: event.last_chunk,
                    metadata: event.metadata,
                })
            }
        }
    }
}

fn all<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(U::from).collect()
}

/// Returns the object that a value is, or one that has it as its member `value`.
fn object(value: Value) -> Struct {
    match value.kind {
        Some(Kind::StructValue(object)) => object,
        kind => Struct {
            fields: BTreeMap::from([("value".to_owned(), Value { kind })]),
        },
    }
}
