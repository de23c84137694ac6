//! Stored form of a command: JSON.

use std::sync::Arc;

use a2a_server::{CommandContent, IdempotencyKey, Principal, StoreError, TraceContext, log_rows};
use a2a_transport::{Claims, Context};
use a2a_types::SendMessageRequest;
use serde::{Deserialize, Serialize};

use crate::columns::protocol_version;

/// Number of this format. A server takes only commands of formats up to the one that it knows, so whatever a server of this
/// release could not read, or would misread, has a higher number.
pub(crate) const FORMAT: i16 = 1;

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum Body {
    Cancel,
    Message {
        request: Box<SendMessageRequest>,
        caller: Box<Caller>,
        receipt: Option<StoredReceipt>,
    },
}

/// The context of a request. Repairs are left out: the server that read the request has reported them.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Caller {
    principal: Option<Arc<str>>,
    tenant: Option<Arc<str>>,
    version: String,
    extensions: Vec<String>,
    user_id: Option<Arc<str>>,
    user_agent: Option<Arc<str>>,
    last_event_id: Option<u64>,
    traceparent: Option<String>,
    tracestate: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredReceipt {
    message: String,
    digest: [u8; 32],
    millis: u64,
}

/// Writes the content of a command.
pub(crate) fn write(content: &CommandContent) -> Result<Vec<u8>, StoreError> {
    let body = match content {
        CommandContent::Cancel => Body::Cancel,
        CommandContent::Message {
            request,
            context,
            receipt,
        } => Body::Message {
            request: request.clone(),
            caller: Box::new(Caller::of(context)),
            receipt: receipt.as_ref().map(|receipt| StoredReceipt {
                message: receipt.message.to_string(),
                digest: receipt.digest,
                millis: u64::try_from(receipt.term.as_millis()).unwrap_or(u64::MAX),
            }),
        },
        _ => return Err(StoreError::failed("this command is of a later release")),
    };
    log_rows::write(&body)
}

/// Reads the content of a command.
pub(crate) fn read(body: &[u8]) -> Result<CommandContent, StoreError> {
    Ok(match log_rows::parse(body)? {
        Body::Cancel => CommandContent::Cancel,
        Body::Message {
            request,
            caller,
            receipt,
        } => CommandContent::Message {
            request,
            context: Box::new(caller.into_context()?),
            receipt: receipt.map(|it| {
                let term = std::time::Duration::from_millis(it.millis);
                IdempotencyKey::new(it.message.into(), it.digest, term)
            }),
        },
    })
}

impl Caller {
    fn of(context: &Context) -> Self {
        let trace = context.trace.as_ref();
        Self {
            principal: context.principal.name().map(Into::into),
            tenant: context.tenant.clone(),
            version: context.protocol_version.version().to_owned(),
            extensions: context.extensions.clone(),
            user_id: context.claims.user_id.clone(),
            user_agent: context.claims.user_agent.clone(),
            last_event_id: context.last_event_id,
            traceparent: trace.map(TraceContext::traceparent),
            tracestate: trace.and_then(TraceContext::tracestate).map(str::to_owned),
        }
    }

    fn into_context(self) -> Result<Context, StoreError> {
        let mut context = Context::new(protocol_version(&self.version)?);
        context.principal = self
            .principal
            .map_or_else(Principal::anonymous, Principal::named);
        context.tenant = self.tenant;
        context.extensions = self.extensions;
        context.claims = Claims {
            user_id: self.user_id,
            user_agent: self.user_agent,
        };
        context.last_event_id = self.last_event_id;
        let parent = self.traceparent.as_deref();
        context.trace =
            parent.and_then(|parent| TraceContext::parse(parent, self.tracestate.as_deref()));
        Ok(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use a2a_types::{Message, ProtocolVersion};

    use super::*;

    #[test]
    fn message_arrives_as_it_was_posted() {
        let mut context = Context::new(ProtocolVersion::LATEST)
            .principal(Principal::named("ada"))
            .tenant(Some(Arc::from("tenant")));
        context.extensions = vec!["urn:x".to_owned()];
        context.claims.user_id = Some("user".into());
        context.claims.user_agent = Some("agent".into());
        context.last_event_id = Some(7);
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        context.trace = TraceContext::parse(parent, Some("a=b"));
        let request = SendMessageRequest {
            message: Message::user("hello"),
            ..SendMessageRequest::default()
        };
        let receipt = IdempotencyKey::new("m".into(), [7; 32], Duration::from_secs(3));
        let posted = CommandContent::Message {
            request: Box::new(request),
            context: Box::new(context),
            receipt: Some(receipt),
        };
        let read = read(&write(&posted).unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{posted:?}"));
    }
}
