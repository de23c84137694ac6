//! The server, and the dispatch of its operations.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::http::{Readiness, Tenants};
#[cfg(any(feature = "webhooks", feature = "card-signature"))]
use a2a_transport::webhook::Jwks;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport, spans};
use a2a_types::{AgentCard, Error as A2aError, Request};
use futures_util::TryFutureExt;

use crate::extended_card;
use crate::operations::{ServerState, list, push, send, subscribe, task};
#[cfg(feature = "webhooks")]
use crate::store::{DeliveryResult, Notification, StoreError};
#[cfg(feature = "webhooks")]
use crate::webhook::Webhooks;

/// An agent as a [`Transport`]: cheap to clone, every clone is the same server.
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<ServerState>,
}

impl Server {
    /// Returns the source of the public keys that verify cards and notifications, as JSON; `None` without any key.
    #[cfg(any(feature = "webhooks", feature = "card-signature"))]
    pub(crate) fn published_keys(&self) -> Option<impl Fn() -> Vec<u8> + Send + Sync + 'static> {
        let mut sources: Vec<Box<dyn Fn() -> Jwks + Send + Sync>> = Vec::new();
        #[cfg(feature = "card-signature")]
        if let Some(keys) = self.inner.card_keys.clone() {
            sources.push(Box::new(move || keys.published()));
        }
        #[cfg(feature = "webhooks")]
        if let Some(keys) = self.inner.webhooks.as_ref().and_then(Webhooks::keys) {
            sources.push(Box::new(move || keys.published()));
        }
        (!sources.is_empty()).then_some(move || {
            let keys = sources.iter().flat_map(|published| published().keys);
            let keys = keys.collect();
            Jwks { keys }.to_json()
        })
    }

    /// The card.
    pub fn card(&self) -> &AgentCard {
        &self.inner.card
    }

    /// The tenants that requests may name.
    pub fn tenants(&self) -> &Tenants {
        &self.inner.tenants
    }

    /// Reports from now on that it is not [ready](Readiness), but answers as before, so that load balancers
    /// choose other servers before it is [shut down](Self::shutdown).
    pub fn drain(&self) {
        self.inner.health.drain();
    }

    /// Ends the server's work: accepts no more messages, waits for running turns for at most `grace`, gives
    /// back the tasks of unfinished turns, and ends streams. Followers continue where they stopped, here
    /// after a restart or at another process of the same store.
    pub async fn shutdown(&self, grace: Duration) {
        let engine = &self.inner.engine;
        self.drain();
        engine.closing.cancel();
        if tokio::time::timeout(grace, engine.active.idle())
            .await
            .is_err()
        {
            engine.active.stop();
            engine.active.idle().await;
        }
        engine.closed.cancel();
    }

    /// Resolves after `signal`, and [shuts the server down](Self::shutdown) then, in the background. For programs that
    /// listen themselves and wait for open streams, as axum does:
    /// `axum::serve(listener, app).with_graceful_shutdown(server.shutdown_after(signal, grace))`.
    pub fn shutdown_after<S>(
        &self,
        signal: S,
        grace: Duration,
    ) -> impl Future<Output = ()> + Send + use<S>
    where
        S: Future + Send,
    {
        let server = self.clone();
        async move {
            signal.await;
            tokio::spawn(async move { server.shutdown(grace).await });
        }
    }
}

#[cfg(feature = "webhooks")]
impl Server {
    /// Returns at most `limit` notifications that were given up after their last attempt, in the order in which
    /// they were given up. They are kept for as long as their task and their webhook.
    pub async fn dead_letters(&self, limit: usize) -> Result<Vec<Notification>, StoreError> {
        self.inner.engine.store().dead_letters(limit).await
    }

    /// Has a dead letter delivered once more; it is a dead letter again if that fails. Its webhook may have
    /// got later events in the meantime.
    pub async fn redeliver(&self, letter: &Notification) -> Result<(), StoreError> {
        let store_handle = &self.inner.engine.store_handle;
        let at_once = DeliveryResult::Retry(Duration::ZERO);
        store_handle.store.record_delivery(letter, at_once).await?;
        store_handle.filled.notify_one();
        Ok(())
    }

    /// Forgets a dead letter.
    pub async fn discard(&self, letter: &Notification) -> Result<(), StoreError> {
        let store = self.inner.engine.store();
        store
            .record_delivery(letter, DeliveryResult::Delivered)
            .await
    }
}

impl Readiness for Server {
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>> {
        let ServerState { health, engine, .. } = &*self.inner;
        Box::pin(health.check(&engine.store_handle))
    }
}

impl Transport for Server {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        self.inner.begin_maintenance();
        answer(&self.inner, call)
    }
}

/// Each operation has its own box, so that no future has the size of the largest one.
fn answer(server: &ServerState, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
    let mut context = call.context;
    let tenant = call.request.tenant().filter(|tenant| !tenant.is_empty());
    if let Some(error) = tenant.and_then(|tenant| server.refused_tenant(tenant)) {
        return boxed(std::future::ready(Err(error)));
    }
    context.tenant = tenant.map(Into::into);
    context.trace = context.trace.or_else(spans::current_trace_context);
    if !matches!(call.request, Request::GetExtendedAgentCard(_))
        && let Err(error) = server.require_extensions(&context)
    {
        return boxed(std::future::ready(Err(error)));
    }
    match call.request {
        Request::SendMessage(params) => boxed(send::send(server, params, context)),
        Request::GetTask(params) => boxed(task::get(server, params, context)),
        Request::SendStreamingMessage(params) => {
            boxed(send::send_streaming(server, params, context))
        }
        Request::CancelTask(params) => boxed(task::cancel(server, params, context)),
        Request::SubscribeToTask(params) => boxed(subscribe::subscribe(server, params, context)),
        Request::CreateTaskPushNotificationConfig(config) => {
            boxed(push::create_config(server, config, context))
        }
        Request::GetTaskPushNotificationConfig(params) => {
            boxed(push::get_config(server, params, context))
        }
        Request::ListTaskPushNotificationConfigs(params) => {
            boxed(push::list_configs(server, params, context))
        }
        Request::DeleteTaskPushNotificationConfig(params) => {
            boxed(push::delete_config(server, params, context))
        }
        Request::GetExtendedAgentCard(_) => {
            let is_promised = server.card.capabilities.extended_agent_card == Some(true);
            let card = server.extended_card.as_ref();
            let reply = extended_card::answer(card, is_promised, &context);
            boxed(std::future::ready(reply))
        }
        Request::ListTasks(params) => boxed(list::list(server, params, context)),
    }
}

fn boxed<'a>(
    answering: impl Future<Output = Result<CallResponse, A2aError>> + Send + 'a,
) -> BoxFuture<'a, Result<CallResponse, Error>> {
    Box::pin(answering.map_err(Error::Agent))
}
