//! The operations of a server, and the state that they share.

pub(crate) mod list;
pub(crate) mod push;
pub(crate) mod send;
pub(crate) mod subscribe;
pub(crate) mod task;

use std::sync::Arc;

use a2a_transport::Context;
use a2a_transport::http::{DynAuthenticator, DynAuthorizer, Tenants};
use a2a_types::{AgentCard, Error as A2aError, ErrorKind, Task};
use serde_json::json;

#[cfg(feature = "card-signature")]
use crate::card_keys::CardKeys;
use crate::engine::{Engine, command_queue};
use crate::extended_card::ExtendedCard;
use crate::health::Health;
use crate::profile::reply_format::{self, ProfileSupport, ReplyFormat};
use crate::store::Snapshot;
#[cfg(feature = "webhooks")]
use crate::webhook::Webhooks;

/// State that all clones of a server share.
pub(crate) struct ServerState {
    pub(crate) card: AgentCard,
    pub(crate) extended_card: Option<ExtendedCard>,
    pub(crate) authenticator: Option<DynAuthenticator>,
    pub(crate) authorizer: Option<DynAuthorizer>,
    pub(crate) tenants: Tenants,
    pub(crate) engine: Arc<Engine>,
    pub(crate) health: Health,
    #[cfg(feature = "card-signature")]
    pub(crate) card_keys: Option<CardKeys>,
    #[cfg(feature = "webhooks")]
    pub(crate) webhooks: Option<Webhooks>,
}

impl ServerState {
    /// Begins the background work, unless that has been done.
    pub(crate) fn begin_maintenance(&self) {
        let begins = self.engine.maintenance.begin();
        if begins {
            command_queue::begin_to_take(&self.engine);
        }
        #[cfg(feature = "webhooks")]
        if let Some(webhooks) = self.webhooks.as_ref().filter(|_| begins) {
            webhooks.begin(
                &self.engine.store_handle,
                self.engine.closed.clone(),
                Arc::downgrade(&self.engine),
            );
        }
    }

    /// Returns how far the agent supports the profile of trpc-agent-go.
    pub(crate) fn profile_support(&self) -> ProfileSupport {
        ProfileSupport {
            is_declared: reply_format::is_declared(&self.card),
            keeps_steps: self.engine.store_handle.keeps_steps,
        }
    }

    /// Shows a task as its caller may see it, with as much of the history as was asked for.
    pub(crate) fn present(&self, task: &mut Task, length: Option<u32>, context: &Context) {
        ReplyFormat::of_reader(context, task, self.profile_support()).present(task);
        task.trim_history(length.or_else(|| unasked(context)));
    }

    /// The error for a tenant that is not served: the caller has it from no interface of the card.
    pub(crate) fn refused_tenant(&self, tenant: &str) -> Option<A2aError> {
        (!self.tenants.has(tenant)).then(|| {
            let named: String = tenant.chars().take(64).collect();
            let problem = format!("no interface of the agent card names the tenant `{named}`");
            A2aError::new(ErrorKind::InvalidParams, format!("tenant: {problem}"))
                .with_details(json!({"path": "tenant", "problem": problem}))
        })
    }

    /// A caller must speak the extensions that the card calls required. Specification 1.0 §3.3.4.
    pub(crate) fn require_extensions(&self, context: &Context) -> Result<(), A2aError> {
        let mut required = self
            .card
            .capabilities
            .extensions
            .iter()
            .filter(|extension| extension.required);
        match required.find(|extension| !context.extensions.contains(&extension.uri)) {
            None => Ok(()),
            Some(extension) => {
                let text = format!("this agent requires the extension `{}`", extension.uri);
                Err(A2aError::new(ErrorKind::ExtensionSupportRequired, text))
            }
        }
    }

    pub(crate) fn require_streaming(&self) -> Result<(), A2aError> {
        match self.card.capabilities.streaming {
            Some(true) => Ok(()),
            _ => Err(A2aError::new(
                ErrorKind::UnsupportedOperation,
                "this agent does not stream",
            )),
        }
    }
}

/// Returns the context of a request about a task, in the protocol version that its caller is taken to speak.
pub(crate) fn settled(mut context: Context, snapshot: &Snapshot) -> Context {
    context.protocol_version = context
        .protocol_version
        .about_task_of(snapshot.protocol_version);
    context
}

/// Returns the history length for callers that set none; `None` means all.
pub(crate) fn unasked(context: &Context) -> Option<u32> {
    (!context.protocol_version.rules().history_when_not_asked).then_some(0)
}
