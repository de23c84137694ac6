//! Capabilities of the agent, as the callers of a gateway see them.

use a2a_transport::binding::have_same_notifications;
use a2a_transport::{CallRequest, Error};
use a2a_types::{AgentCard, Error as A2aError, ErrorKind, Operation, ProtocolVersion, Request};

/// Refuses calls that the agent's card excludes. Unless the gateway relays notifications, also refuses webhooks of
/// callers whose version has another format of notifications, since the agent would send its own. Specification 1.0
/// §3.3.4.
pub(crate) fn require(
    card: Option<&AgentCard>,
    agent: ProtocolVersion,
    relays: bool,
    call: &CallRequest,
) -> Result<(), A2aError> {
    let (caller, request) = (call.context.protocol_version, &call.request);
    let operation = request.operation();
    if is_about_webhooks(operation) || names_webhook(request) {
        let refuse = |text: String| {
            let kind = ErrorKind::PushNotificationNotSupported;
            Err(A2aError::new(kind, text))
        };
        if !relays && !have_same_notifications(caller, agent) {
            return refuse(format!(
                "the agent sends push notifications in {agent}, the caller speaks {caller}, and the gateway \
                 does not relay them"
            ));
        }
        if card.is_some_and(|card| card.capabilities.push_notifications != Some(true)) {
            return refuse("by its card the agent sends no push notifications".to_owned());
        }
    }
    let Some(card) = card else { return Ok(()) };
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

pub(crate) fn is_about_webhooks(operation: Operation) -> bool {
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
/// the agent, and, unless they are relayed, without push notifications, which callers of most versions cannot have.
pub(crate) fn shown(mut card: AgentCard, relays: bool) -> AgentCard {
    card.supported_interfaces.clear();
    card.signatures.clear();
    if !relays {
        card.capabilities.push_notifications = Some(false);
    }
    card
}

/// Returns an error of the agent as one of the caller's version: an operation that the agent lacks exists in
/// that version, and is not supported here.
pub(crate) fn translate(operation: Operation, agent: ProtocolVersion, error: Error) -> Error {
    let is_optional = operation.is_stream()
        || matches!(
            operation,
            Operation::ListTasks | Operation::GetExtendedAgentCard
        );
    let name = operation.name();
    let is_lacking = match &error {
        Error::NotSupported { .. } => true,
        Error::Agent(error) => matches!(
            error.kind,
            ErrorKind::MethodNotFound | ErrorKind::UnsupportedOperation
        ),
        _ => false,
    };
    if is_lacking && is_about_webhooks(operation) {
        return ErrorKind::PushNotificationNotSupported.into();
    }
    match error {
        Error::NotSupported { .. } => {
            let text = format!("the agent speaks {agent}, which has no {name}");
            unsupported(&text).into()
        }
        Error::Agent(error) if error.kind == ErrorKind::MethodNotFound => {
            let text = format!("the agent has no {name}: {}", error.message);
            unsupported(&text).into()
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
