//! The server: dispatch of operations, and those on one task.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::http::{Authenticator, Authorizer, Readiness, Tenants};
#[cfg(any(feature = "push", feature = "card-signature"))]
use a2a_transport::webhook::Jwks;
use a2a_transport::{BoxFuture, Call, Context, Error, Reply, Transport, Update, spans};
use a2a_types::steps::hide_steps;
use a2a_types::{
    AgentCard, CancelTaskRequest, Error as A2aError, ErrorKind, Event, GetTaskRequest, Request,
    Response, SubscribeToTaskRequest, Task, TaskState, TaskStatusUpdateEvent,
};
use futures_util::{TryFutureExt, stream};
use serde_json::json;

#[cfg(feature = "card-signature")]
use crate::card_keys::CardKeys;
use crate::engine::Engine;
use crate::engine::follower::FirstUpdate;
use crate::extended_card::{self, ExtendedCard};
use crate::health::Health;
use crate::profile::reply_format::{self, ProfileSupport, ReplyFormat, StreamStart};
use crate::store::limits::size_of_task;
use crate::store::{Snapshot, TaskBudget};
#[cfg(feature = "push")]
use crate::webhook::Webhooks;

/// An agent as a [`Transport`]: cheap to clone, every clone is the same server.
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<Inner>,
}

/// State that all clones of a server share.
pub(crate) struct Inner {
    pub(crate) card: AgentCard,
    pub(crate) extended_card: Option<ExtendedCard>,
    pub(crate) authenticator: Option<Arc<dyn Authenticator>>,
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
    pub(crate) tenants: Tenants,
    pub(crate) engine: Arc<Engine>,
    pub(crate) health: Health,
    #[cfg(feature = "card-signature")]
    pub(crate) card_keys: Option<CardKeys>,
    #[cfg(feature = "push")]
    pub(crate) webhooks: Option<Webhooks>,
}

impl Server {
    /// Returns the source of the public keys that verify cards and notifications, as JSON; `None` without any key.
    #[cfg(any(feature = "push", feature = "card-signature"))]
    pub(crate) fn published_keys(&self) -> Option<impl Fn() -> Vec<u8> + Send + Sync + 'static> {
        let mut sources: Vec<Box<dyn Fn() -> Jwks + Send + Sync>> = Vec::new();
        #[cfg(feature = "card-signature")]
        if let Some(keys) = self.inner.card_keys.clone() {
            sources.push(Box::new(move || keys.published()));
        }
        #[cfg(feature = "push")]
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

    /// Reports from now on that it is not [ready](Readiness), and answers as before: so that load balancers
    /// choose other servers, before it is [shut down](Self::shutdown).
    pub fn drain(&self) {
        self.inner.health.drain();
    }

    /// Ends the server's work: takes no more messages, lets turns come to their end for as long as `grace`,
    /// gives back the tasks of turns that did not, and ends streams. Followers go on where they stopped,
    /// here after a restart or at another process of the same store.
    pub async fn shutdown(&self, grace: Duration) {
        let engine = &self.inner.engine;
        self.drain();
        engine.closing.cancel();
        if tokio::time::timeout(grace, engine.scheduler.active.idle())
            .await
            .is_err()
        {
            engine.scheduler.active.stop();
            engine.scheduler.active.idle().await;
        }
        engine.closed.cancel();
    }
}

impl Readiness for Server {
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>> {
        let Inner { health, engine, .. } = &*self.inner;
        Box::pin(health.check(&engine.store_handle))
    }
}

impl Transport for Server {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        self.inner.begin_maintenance();
        self.inner.answer(call)
    }
}

impl Inner {
    /// Begins the background work, unless that has been done.
    pub(crate) fn begin_maintenance(&self) {
        let begins = self.engine.maintenance.begin();
        if begins {
            self.engine.begin_to_take_mail();
        }
        #[cfg(feature = "push")]
        if let Some(webhooks) = self.webhooks.as_ref().filter(|_| begins) {
            webhooks.begin(
                &self.engine.store_handle,
                self.engine.closed.clone(),
                Arc::downgrade(&self.engine),
            );
        }
    }

    /// Each operation has a box of its own: none is to carry about what the others need.
    fn answer(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        let mut context = call.context;
        let tenant = call.request.tenant().filter(|tenant| !tenant.is_empty());
        if let Some(error) = tenant.and_then(|tenant| self.refused_tenant(tenant)) {
            return boxed(std::future::ready(Err(error)));
        }
        context.tenant = tenant.map(Into::into);
        context.trace = context.trace.or_else(spans::here);
        if !matches!(call.request, Request::GetExtendedAgentCard(_))
            && let Err(error) = self.require_extensions(&context)
        {
            return boxed(std::future::ready(Err(error)));
        }
        match call.request {
            Request::SendMessage(params) => boxed(self.send(params, context)),
            Request::GetTask(params) => boxed(self.get(params, context)),
            Request::SendStreamingMessage(params) => boxed(self.send_streaming(params, context)),
            Request::CancelTask(params) => boxed(self.cancel(params, context)),
            Request::SubscribeToTask(params) => boxed(self.subscribe(params, context)),
            Request::CreateTaskPushNotificationConfig(config) => {
                boxed(self.create_config(config, context))
            }
            Request::GetTaskPushNotificationConfig(params) => {
                boxed(self.get_config(params, context))
            }
            Request::ListTaskPushNotificationConfigs(params) => {
                boxed(self.list_configs(params, context))
            }
            Request::DeleteTaskPushNotificationConfig(params) => {
                boxed(self.delete_config(params, context))
            }
            Request::GetExtendedAgentCard(_) => {
                boxed(std::future::ready(self.extended_card(&context)))
            }
            Request::ListTasks(params) => boxed(self.list(params, context)),
        }
    }

    async fn get(&self, params: GetTaskRequest, context: Context) -> Result<Reply, A2aError> {
        let snapshot = self.engine.snapshot_to_copy(&params.id, &context).await?;
        let context = settled(context, &snapshot);
        let mut task = Arc::unwrap_or_clone(snapshot.task);
        self.present(&mut task, params.history_length, &context);
        let reply = Reply::once(Response::GetTask(task)).holding(snapshot.share.held());
        Ok(reply.about_task_of(snapshot.dialect))
    }

    async fn cancel(&self, params: CancelTaskRequest, context: Context) -> Result<Reply, A2aError> {
        self.engine.cancel(&params.id, &context).await?;
        let snapshot = self.engine.snapshot_to_copy(&params.id, &context).await?;
        let context = settled(context, &snapshot);
        let mut task = Arc::unwrap_or_clone(snapshot.task);
        self.present(&mut task, None, &context);
        let reply = Reply::once(Response::CancelTask(task)).holding(snapshot.share.held());
        Ok(reply.about_task_of(snapshot.dialect))
    }

    async fn subscribe(
        &self,
        params: SubscribeToTaskRequest,
        context: Context,
    ) -> Result<Reply, A2aError> {
        self.require_streaming()?;
        let snapshot = self.engine.snapshot(&params.id, &context).await?;
        let context = settled(context, &snapshot);
        let format = ReplyFormat::of_reader(&context, &snapshot.task, self.profile_support());
        let (state, rules) = (snapshot.task.status.state, context.dialect.rules());
        let ends = match rules.follows_waiting_tasks {
            true => TaskState::is_terminal,
            false => TaskState::ends_stream,
        };
        if let Some(seen @ 1..) = context.last_event_id
            && (seen < snapshot.sequence || !ends(state) && seen == snapshot.sequence)
        {
            // A follower that was cut off gets the rest, whether or not the task has ended.
            let task = snapshot.task.id.clone();
            let later = self.engine.follow(task, None, seen, &context, ends).await?;
            let updates = format.apply(StreamStart::Task, later);
            return Ok(Reply::stream(updates).about_task_of(snapshot.dialect));
        }
        if state.is_terminal() && !rules.subscribes_to_ended_tasks {
            let text = "the task has ended, there is nothing to follow";
            return Err(A2aError::new(ErrorKind::UnsupportedOperation, text));
        }
        if ends(state) && rules.ends_by_status {
            let last = Update::new(last_status(&snapshot.task), Some(snapshot.sequence));
            let last = tokio_stream::once(Ok(last));
            return Ok(Reply::stream(last).about_task_of(snapshot.dialect));
        }
        self.stream(snapshot, None, context, (format, StreamStart::Task), ends)
            .await
    }

    /// The task as it stood, then everything that happens until it is in a state that ends the stream.
    pub(crate) async fn stream(
        &self,
        snapshot: Snapshot,
        history_length: Option<u32>,
        context: Context,
        (format, beginning): (ReplyFormat, StreamStart),
        ends: fn(TaskState) -> bool,
    ) -> Result<Reply, A2aError> {
        let (sequence, dialect) = (snapshot.sequence, snapshot.dialect);
        let task = &snapshot.task;
        let (id, ended) = (task.id.clone(), ends(task.status.state));
        let history_length = history_length.or_else(|| unasked(&context));
        // A stream that is not read holds no large task: that is read when the stream is.
        let read = match size_of_task(task) > TaskBudget::SMALL {
            true => Err((Arc::clone(&self.engine), id.clone(), context.clone())),
            false => Ok(snapshot),
        };
        let first: FirstUpdate = Box::pin(async move {
            let snapshot = match read {
                Ok(snapshot) => snapshot,
                Err((engine, id, context)) => engine.snapshot_to_copy(&id, &context).await?,
            };
            let mut task = Arc::unwrap_or_clone(snapshot.task);
            if format == ReplyFormat::Plain {
                hide_steps(&mut task);
                task.trim_history(history_length);
            }
            Ok(Update::new(Event::Task(task), Some(snapshot.sequence)))
        });
        let updates = match ended {
            true => format.apply(beginning, stream::once(first)),
            false => {
                let all = self
                    .engine
                    .follow(id, Some(first), sequence, &context, ends)
                    .await?;
                format.apply(beginning, all)
            }
        };
        Ok(Reply::stream(updates).about_task_of(dialect))
    }

    fn extended_card(&self, context: &Context) -> Result<Reply, A2aError> {
        let is_promised = self.card.capabilities.extended_agent_card == Some(true);
        extended_card::answer(self.extended_card.as_ref(), is_promised, context)
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
    fn refused_tenant(&self, tenant: &str) -> Option<A2aError> {
        (!self.tenants.has(tenant)).then(|| {
            let named: String = tenant.chars().take(64).collect();
            let problem = format!("no interface of the agent card names the tenant `{named}`");
            A2aError::new(ErrorKind::InvalidParams, format!("tenant: {problem}"))
                .with_details(json!({"path": "tenant", "problem": problem}))
        })
    }

    /// A caller must speak the extensions that the card calls required. Specification 1.0 §3.3.4.
    fn require_extensions(&self, context: &Context) -> Result<(), A2aError> {
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

fn boxed<'a>(
    answering: impl Future<Output = Result<Reply, A2aError>> + Send + 'a,
) -> BoxFuture<'a, Result<Reply, Error>> {
    Box::pin(answering.map_err(Error::Agent))
}

/// Returns the context of a request about a task, in the protocol version that its caller is taken to speak.
fn settled(mut context: Context, snapshot: &Snapshot) -> Context {
    context.dialect = context.dialect.about_task_of(snapshot.dialect);
    context
}

/// Returns the history length for callers that set none; `None` means all.
fn unasked(context: &Context) -> Option<u32> {
    (!context.dialect.rules().history_when_not_asked).then_some(0)
}

fn last_status(task: &Task) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: task.status.clone(),
        metadata: None,
    })
}
