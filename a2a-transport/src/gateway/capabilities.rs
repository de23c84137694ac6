//! Capabilities of the agent, as the callers of a gateway see them.

use a2a_types::{AgentCard, Dialect, Error as A2aError, ErrorKind, Operation, Request};

use crate::Error;

/// Refuses what the agent's card excludes. Specification 1.0 §3.3.4.
pub(super) fn require(card: Option<&AgentCard>, request: &Request) -> Result<(), A2aError> {
    let operation = request.operation();
    let Some(card) = card else { return Ok(()) };
    let needs_push = is_about_webhooks(operation) || names_webhook(request);
    if needs_push && card.capabilities.push_notifications != Some(true) {
        let text = "by its card the agent sends no push notifications";
        return Err(A2aError::new(ErrorKind::PushNotificationNotSupported, text));
    }
    let lacks = |capability: Option<bool>, what: &str| match capability {
        Some(true) => Ok(()),
        _ => Err(unsupported(&format!("by its card the agent {what}"))),
    };
    match operation {
        Operation::GetExtendedAgentCard => lacks(
            card.capabilities.extended_agent_card,
            "has no extended card",
        ),
        operation if operation.is_stream() => lacks(card.capabilities.streaming, "does not stream"),
        _ => Ok(()),
    }
}

fn is_about_webhooks(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::CreateTaskPushNotificationConfig
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::DeleteTaskPushNotificationConfig
    )
}

fn names_webhook(request: &Request) -> bool {
    match request {
        Request::SendMessage(params) | Request::SendStreamingMessage(params) => params
            .configuration
            .as_ref()
            .is_some_and(|it| it.task_push_notification_config.is_some()),
        _ => false,
    }
}

/// Returns a card of the agent as the gateway's callers may read it: without the interfaces and signatures of
/// the agent, and without push notifications, which callers of most versions cannot have.
pub(super) fn shown(mut card: AgentCard) -> AgentCard {
    card.supported_interfaces.clear();
    card.signatures.clear();
    card.capabilities.push_notifications = Some(false);
    card
}

/// Returns an error of the agent as one of the caller's version: an operation that the agent lacks exists in
/// that version, and is not supported here.
pub(super) fn translate(operation: Operation, agent: Dialect, error: Error) -> Error {
    let is_optional = operation.is_stream()
        || matches!(
            operation,
            Operation::ListTasks | Operation::GetExtendedAgentCard
        );
    let name = operation.name();
    match error {
        Error::NotSupported { .. } => {
            let text = format!("the agent speaks {agent}, which has no {name}");
            unsupported(&text).into()
        }
        Error::Agent(error) if error.kind == ErrorKind::MethodNotFound => {
            let text = format!("the agent has no {name}: {}", error.message);
            match is_about_webhooks(operation) {
                true => A2aError::new(ErrorKind::PushNotificationNotSupported, text).into(),
                false => unsupported(&text).into(),
            }
        }
        // Servers that lack an operation have no route for it.
        Error::NotA2a {
            status: status @ (404 | 405 | 501),
            ..
        } if is_optional => {
            let text = format!("the agent has no {name}: it answers HTTP status {status}");
            unsupported(&text).into()
        }
        Error::Unfinished => {
            let text = "the agent's stream broke off while the task goes on: subscribe to it again";
            A2aError::new(ErrorKind::Unavailable, text).into()
        }
        error => error,
    }
}

fn unsupported(text: &str) -> A2aError {
    A2aError::new(ErrorKind::UnsupportedOperation, text)
}
