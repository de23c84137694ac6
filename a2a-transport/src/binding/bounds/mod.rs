//! Limits on the names in a request: identifiers, tenants, URIs, tokens, and how many of them there are.
//!
//! The content of a message (its parts and metadata) is bounded by the body of the request. Names are also
//! kept in maps and indexes, outside the message, so each has a limit of its own. They are checked once, on the
//! canonical request, whatever the binding and the version.

use a2a_types::reading::Violation;
use a2a_types::{
    Message, ProtocolVersion, Request, SendMessageConfiguration, TaskPushNotificationConfig,
};

/// Bytes of an identifier, a tenant, an authentication scheme, a media type, or the URI of an extension.
pub const MAX_NAME_BYTES: usize = 1024;
/// Bytes of the URL of a webhook, which may be signed, or of a token, which may be a JWT.
const MAX_TOKEN_BYTES: usize = 4096;
/// Bytes of credentials.
const MAX_CREDENTIALS_BYTES: usize = 8192;
/// Entries of a list of names.
const MAX_NAMES: usize = 100;

/// Checks the names of a request that was read at `root`.
///
/// Errors: a violation at the path of the member, as the version of the sender spells it.
pub(super) fn check(
    request: &Request,
    protocol_version: ProtocolVersion,
    root: &str,
) -> Result<(), Violation> {
    let checked = check_tenant(request).and_then(|()| match request {
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
            check_message(&params.message)?;
            params
                .configuration
                .as_ref()
                .map_or(Ok(()), check_configuration)
        }
        Request::GetTask(params) => name("id", params.id.as_str()),
        Request::CancelTask(params) => name("id", params.id.as_str()),
        Request::SubscribeToTask(params) => name("id", params.id.as_str()),
        Request::ListTasks(params) => {
            let context = params.context_id.as_ref();
            context.map_or(Ok(()), |id| name("contextId", id.as_str()))?;
            text("pageToken", &params.page_token, MAX_TOKEN_BYTES)
        }
        Request::CreateTaskPushNotificationConfig(config) => check_config("", config),
        Request::GetTaskPushNotificationConfig(params) => {
            name("taskId", params.task_id.as_str())?;
            name("id", params.id.as_str())
        }
        Request::DeleteTaskPushNotificationConfig(params) => {
            name("taskId", params.task_id.as_str())?;
            name("id", params.id.as_str())
        }
        Request::ListTaskPushNotificationConfigs(params) => {
            name("taskId", params.task_id.as_str())?;
            text("pageToken", &params.page_token, MAX_TOKEN_BYTES)
        }
        Request::GetExtendedAgentCard(_) => Ok(()),
    });
    checked.map_err(|Violation { path, problem }| Violation {
        path: format!(
            "{root}.{}",
            protocol_version.path_of_param(request.operation(), &path)
        ),
        problem,
    })
}

fn check_tenant(request: &Request) -> Result<(), Violation> {
    request.tenant().map_or(Ok(()), |it| name("tenant", it))
}

fn check_message(message: &Message) -> Result<(), Violation> {
    name("message.messageId", message.message_id.as_str())?;
    if let Some(context) = &message.context_id {
        name("message.contextId", context.as_str())?;
    }
    if let Some(task) = &message.task_id {
        name("message.taskId", task.as_str())?;
    }
    names("message.extensions", &message.extensions, String::as_str)?;
    let tasks = &message.reference_task_ids;
    names("message.referenceTaskIds", tasks, |id| id.as_str())
}

fn check_configuration(configuration: &SendMessageConfiguration) -> Result<(), Violation> {
    let modes = &configuration.accepted_output_modes;
    names("configuration.acceptedOutputModes", modes, String::as_str)?;
    let config = configuration.task_push_notification_config.as_deref();
    config.map_or(Ok(()), |config| {
        check_config("configuration.taskPushNotificationConfig.", config)
    })
}

fn check_config(place: &str, config: &TaskPushNotificationConfig) -> Result<(), Violation> {
    let at = |violation: Violation| Violation {
        path: format!("{place}{}", violation.path),
        ..violation
    };
    let check = || {
        name("tenant", config.tenant.as_deref().unwrap_or_default())?;
        name("id", config.id.as_str())?;
        name("taskId", config.task_id.as_str())?;
        text("url", &config.url, MAX_TOKEN_BYTES)?;
        let token = config.token.as_deref().unwrap_or_default();
        text("token", token, MAX_TOKEN_BYTES)?;
        let Some(authentication) = &config.authentication else {
            return Ok(());
        };
        name("authentication.scheme", &authentication.scheme)?;
        let credentials = authentication.credentials.as_deref().unwrap_or_default();
        let path = "authentication.credentials";
        text(path, credentials, MAX_CREDENTIALS_BYTES)
    };
    check().map_err(at)
}

fn names<T>(path: &str, list: &[T], read: impl Fn(&T) -> &str) -> Result<(), Violation> {
    if list.len() > MAX_NAMES {
        return Err(Violation {
            path: path.to_owned(),
            problem: format!("expected at most {MAX_NAMES} entries, found {}", list.len()),
        });
    }
    let long = list
        .iter()
        .position(|entry| read(entry).len() > MAX_NAME_BYTES);
    long.map_or(Ok(()), |place| {
        name(&format!("{path}[{place}]"), read(&list[place]))
    })
}

fn name(path: &str, value: &str) -> Result<(), Violation> {
    text(path, value, MAX_NAME_BYTES)
}

/// Checks one value, which is not repeated in the error.
fn text(path: &str, value: &str, limit: usize) -> Result<(), Violation> {
    if value.len() <= limit {
        return Ok(());
    }
    Err(Violation {
        path: path.to_owned(),
        problem: format!("expected at most {limit} bytes, found {}", value.len()),
    })
}

#[cfg(test)]
mod tests;
