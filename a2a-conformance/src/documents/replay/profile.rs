//! Replay in which both ends speak the profile of a document.

use a2a_client::{Client, Retries};
use a2a_transport::{Error, Transport};
use a2a_types::extension::trpc::Version;
use a2a_types::{AgentCard, Request, SendMessageResponse};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_stream::StreamExt;

/// Declares the profile on a card.
pub(super) fn declare_on(card: &mut AgentCard) {
    Version::CURRENT.declare(card);
}

/// Declares the profile in a request's message, as callers do.
pub(super) fn declare_in(request: &mut Value) {
    let metadata = &mut request["params"]["message"]["metadata"];
    metadata["interaction_spec_version"] = json!(Version::CURRENT.to_string());
}

/// Calls an agent that declares the profile and returns everything that comes, in the canonical spelling. An
/// `open` stream may end any time.
pub(super) async fn ask(
    transport: impl Transport,
    request: Request,
    declares: bool,
    open: bool,
) -> Result<Vec<Value>, Error> {
    let mut card = AgentCard::new("Reference", "Speaks the profile");
    declare_on(&mut card);
    let client = Client::with_card(transport, card.into()).retries(Retries::none());
    let send = |params| match declares {
        true => client.send(params).steps(),
        false => client.send(params),
    };
    match request {
        Request::SendMessage(params) => Ok(vec![match send(params).await? {
            SendMessageResponse::Task(task) => json!({"task": value(&task)}),
            SendMessageResponse::Message(message) => json!({"message": value(&message)}),
        }]),
        Request::SendStreamingMessage(params) => {
            let mut updates = send(params).follow();
            let mut received = Vec::new();
            while let Some(event) = updates.next().await {
                match event {
                    // The document does not show how the stream ends.
                    Err(Error::Unfinished) if open => {}
                    event => received.push(value(&event?)),
                }
            }
            Ok(received)
        }
        other => Err(Error::NotSupported {
            operation: other.operation(),
            dialect: a2a_types::Dialect::V0_2,
        }),
    }
}

/// Returns a value as JSON.
pub(super) fn value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
