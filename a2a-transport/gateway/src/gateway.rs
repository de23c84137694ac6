//! The gateway.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::http::HttpService;
use a2a_transport::webhook::NotificationSender;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, ResponseBody, Transport};
use a2a_types::{
    AgentCard, ContextId, Error as A2aError, ErrorKind, Event, ProtocolVersion, Request, Response,
    SendMessageResponse, Task, TaskId,
};
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::capabilities::{self, translate};
use crate::in_flight::{NameInFlight, NamesInFlight};
use crate::owned_call::OwnedCall;
use crate::page_key::PageKey;
use crate::relay::{Relay, WEBHOOK_PATH};
use crate::rewrite::{Beginning, OnTask, Rewrite};
use crate::settle::{read_task, settled};
use crate::stream::GatewayStream;
use crate::task_map::{Foreign, KnownTask, TaskMap};

/// Gateway to an agent that speaks one protocol version, for callers of every version.
///
/// The agent sees one caller: the gateway. The user that a caller claims to act for is not passed on.
///
/// # Owners
/// A task belongs to the principal (and tenant) whose message began it, and is absent for all others, in
/// every operation. Anonymous callers are one principal. The gateway keeps owners apart at the agent, too:
/// message ids, the conversations and tasks that callers name themselves have a prefix there, a hash of the
/// owner, which webhooks and the agent's own logs show; a message refers to its sender's tasks only, and its
/// webhook is for its own task. Lists are the agent's, read up to its 100,000th task, with the owner's
/// tasks left in.
///
/// Owners are kept in memory, at most 128 MiB or about 100,000 tasks. Beyond that the least recently used are
/// evicted. If the caller that begins another task holds more than an eighth, its own are evicted first. A task
/// that was evicted, or begun before the gateway was started, is absent for all callers, though the agent may
/// still have it; a message that its owner sends again brings its task back, if the agent recognises messages.
///
/// [`share_tasks`](Self::share_tasks) switches this off.
pub struct Gateway<T> {
    pub(crate) agent: Arc<T>,
    version: ProtocolVersion,
    card: Option<Arc<AgentCard>>,
    shared: bool,
    blocking_timeout: Duration,
    pub(crate) tasks: Arc<TaskMap>,
    names_in_flight: Arc<NamesInFlight>,
    pub(crate) page_key: Arc<PageKey>,
    relay: Option<Arc<Relay<T>>>,
}

impl<T: Transport> Gateway<T> {
    /// Creates a gateway to `agent`, which speaks `version`.
    pub fn new(agent: T, version: ProtocolVersion) -> Self {
        Self {
            agent: Arc::new(agent),
            version,
            card: None,
            shared: false,
            blocking_timeout: DEFAULT_MAX_WAIT,
            tasks: Arc::default(),
            names_in_flight: Arc::default(),
            page_key: Arc::new(PageKey::random()),
            relay: None,
        }
    }

    /// Relays push notifications: the agent sends them to the gateway, at `url`, and `sender` delivers them to
    /// the caller's webhook, in the caller's version. The gateway must be served by its
    /// [`into_service`](Self::into_service). Without a relay a webhook is passed on to an agent whose version has
    /// the notifications of the caller's, and refused before any other.
    ///
    /// Webhooks are kept in memory, at most 32 MiB or about 20,000 tasks. Beyond that the least recently used are
    /// evicted; what the agent then sends is answered with HTTP status 410. A notification is delivered before
    /// the agent gets its answer, which is 503 if a receiver does not have it: it is repeated if the agent
    /// repeats it.
    pub fn relay_webhooks(mut self, url: &str, sender: impl NotificationSender) -> Self {
        self.relay = Some(Arc::new(Relay {
            agent: Arc::clone(&self.agent),
            url: url.trim_end_matches('/').to_owned(),
            sender: Arc::new(sender),
            tasks: Arc::clone(&self.tasks),
            webhooks: Arc::default(),
        }));
        self
    }

    /// Serves the gateway over HTTP. If it relays notifications, it receives them below the path of JSON-RPC, at
    /// `webhooks/`.
    pub fn into_service(self) -> HttpService<Self> {
        let relay = self.relay.clone();
        let service = HttpService::new(self).reads_per_address(READS_PER_ADDRESS);
        match relay {
            Some(relay) => service.notifications(WEBHOOK_PATH, relay),
            None => service,
        }
    }

    fn relays(&self) -> bool {
        self.relay.is_some()
    }

    /// Sets the agent's card. What it excludes is refused with the error of the caller's version, whatever
    /// the agent would answer: streams with *unsupported operation*, for instance.
    pub fn agent_card(mut self, card: &AgentCard) -> Self {
        self.card = Some(Arc::new(card.clone()));
        self
    }

    /// Returns the card for callers: the agent's, without its interfaces and signatures, and without
    /// capabilities that the gateway does not pass on. `None` if the agent's card is not set.
    pub fn public_card(&self) -> Option<AgentCard> {
        let card = self.card.as_deref().cloned();
        card.map(|card| capabilities::shown(card, self.relays()))
    }

    /// Gives every caller every task of the agent and passes ids on as they are: for a gateway without an
    /// authenticator, whose callers keep their tasks when it is started again.
    pub fn share_tasks(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Sets how long a caller waits for the end of a task that the agent answers before it has ended; 4
    /// minutes by default. Then the caller gets the task as it stands.
    pub fn blocking_timeout(mut self, limit: Duration) -> Self {
        self.blocking_timeout = limit;
        self
    }
}

impl<T: Transport> Transport for Gateway<T> {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(async move {
            let operation = call.request.operation();
            let answer = self.answer(call).await;
            answer.map_err(|error| translate(operation, self.version, error))
        })
    }
}

impl<T: Transport> Gateway<T> {
    async fn answer(&self, call: CallRequest) -> Result<CallResponse, Error> {
        capabilities::require(self.card.as_deref(), self.version, self.relays(), &call)?;
        let mut owned = OwnedCall::new(call, &self.tasks, self.shared);
        owned.ask_for_history(self.version);
        let name = self.enter_name(&mut owned).await;
        if !self.shared && owned.names_unknown_task() && !owned.may_begin_by_name() {
            return Err(ErrorKind::TaskNotFound.into());
        }
        if let Some(relay) = self.webhook_relay(&owned) {
            let reply = CallResponse::once(relay.answer(&owned).await?);
            return Ok(match &owned.known {
                Some(known) => reply.about_task_of(known.protocol_version),
                None => reply,
            });
        }
        match &owned.call.request {
            Request::SendMessage(_) => {
                self.place(&mut owned).await?;
                let on_task = self.replace_webhook(&mut owned).await?;
                self.send(owned, Beginning { name, on_task }).await
            }
            Request::SendStreamingMessage(_) => {
                self.place(&mut owned).await?;
                let on_task = self.replace_webhook(&mut owned).await?;
                self.pass_on(owned, Beginning { name, on_task }).await
            }
            Request::SubscribeToTask(_) => {
                self.require_open(&owned).await?;
                self.pass_on(owned, Beginning::default()).await
            }
            Request::ListTasks(params) if !self.shared => self.list(&owned, params).await,
            _ => self.pass_on(owned, Beginning::default()).await,
        }
    }

    /// Returns the relay for an operation on webhooks.
    fn webhook_relay(&self, owned: &OwnedCall) -> Option<&Relay<T>> {
        let relay = self.relay.as_deref();
        relay.filter(|_| capabilities::is_about_webhooks(owned.operation()))
    }

    /// Replaces the webhook of a message by one of the gateway.
    async fn replace_webhook(&self, owned: &mut OwnedCall) -> Result<Option<OnTask>, Error> {
        match &self.relay {
            Some(relay) => relay.replace(owned).await,
            None => Ok(None),
        }
    }

    /// Enters the name of a task that the caller begins by naming it, if the agent chooses another name.
    /// Waits while the message that began it under that name is on its way.
    async fn enter_name(&self, owned: &mut OwnedCall) -> Option<NameInFlight> {
        loop {
            let name = owned.named.as_ref().filter(|_| owned.known.is_none())?;
            let names = &self.names_in_flight;
            let begins = owned.may_begin_by_name() && !self.version.rules().caller_names_tasks;
            let mut entered = match begins {
                true => match names.enter(&owned.owner, name) {
                    Ok(entered) => return Some(entered),
                    Err(other) => other,
                },
                false => names.entered(&owned.owner, name)?,
            };
            // An error means that the other call has ended.
            while entered.changed().await.is_ok() {}
            owned.find(&self.tasks);
            if !begins {
                return None;
            }
        }
    }

    /// Sends a message, and waits for its task as the caller's version has it.
    async fn send(
        &self,
        mut owned: OwnedCall,
        beginning: Beginning,
    ) -> Result<CallResponse, Error> {
        let until = Instant::now() + self.blocking_timeout;
        let caller = owned.context().protocol_version;
        let mut waits = match (caller, self.version) {
            // It must have ended or be interrupted (1.0 §3.2.2).
            (ProtocolVersion::V1_0, _) => true,
            // 0.1 has no `blocking`, so its agents do not know that the caller waits.
            (_, ProtocolVersion::V0_1) => caller != ProtocolVersion::V0_1,
            _ => false,
        };
        if let Request::SendMessage(params) = &mut owned.call.request {
            let configuration = params.configuration.get_or_insert_default();
            waits &= !configuration.return_immediately;
            if beginning.name.is_some() {
                // The caller may cancel its task meanwhile, so the agent's id is needed at once.
                waits = true;
                configuration.return_immediately = true;
            }
        }
        let mut reply = match self.returns_at_end(&owned) {
            true => self.ask_for_beginning(&owned).await?,
            false => self.ask(&owned).await?,
        };
        let mut rewrite = Rewrite::new(&owned, Arc::clone(&self.tasks)).holding(beginning);
        if let ResponseBody::Once(Response::SendMessage(SendMessageResponse::Task(task))) =
            &mut reply.answer
        {
            rewrite.claim(task)?;
            if waits && !task.status.state.is_settled() {
                // The agent's first answer is better than an error.
                match settled(&*self.agent, &owned, &task.id, until).await {
                    Ok((settled, held)) => (*task, reply.held) = (settled, held),
                    Err(error) => tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot wait for a task of the agent"
                    ),
                }
            }
        }
        self.reply(owned, rewrite, reply).await
    }

    /// Returns whether the caller wants an answer at once, and the agent has one at the end of the task only, but
    /// could stream: 0.1 has no other way.
    fn returns_at_end(&self, owned: &OwnedCall) -> bool {
        let Request::SendMessage(params) = &owned.call.request else {
            return false;
        };
        let configuration = params.configuration.as_ref();
        let is_soon = configuration.is_some_and(|it| it.return_immediately);
        let card = self.card.as_ref();
        let streams = card.is_some_and(|card| card.capabilities.streaming == Some(true));
        is_soon && streams && self.version == ProtocolVersion::V0_1
    }

    /// Sends a message by a stream, and returns with its first event: the task as it begins. The task goes on
    /// without the stream.
    async fn ask_for_beginning(&self, owned: &OwnedCall) -> Result<CallResponse, Error> {
        let mut call = owned.to_agent(&self.tasks);
        if let Request::SendMessage(params) = call.request {
            call.request = Request::SendStreamingMessage(params);
        }
        let reply = self.agent.call(call).await?;
        let ResponseBody::Stream(mut updates) = reply.answer else {
            return Err(ErrorKind::InvalidAgentResponse.into());
        };
        let first = updates.next().await.ok_or(Error::Unfinished)??;
        let (response, held) = match first.event.into_event() {
            Event::Message(message) => (SendMessageResponse::Message(message), reply.held),
            Event::Task(task) => (SendMessageResponse::Task(task), reply.held),
            event => {
                let id = event.task_id().cloned().unwrap_or_default();
                let length = owned.call.request.history_length();
                let (task, held) = read_task(&*self.agent, owned, id, length).await?;
                (SendMessageResponse::Task(task), held)
            }
        };
        Ok(CallResponse::once(Response::SendMessage(response)).holding(held))
    }

    /// Passes a call on to the agent, and its answer back.
    async fn pass_on(&self, owned: OwnedCall, beginning: Beginning) -> Result<CallResponse, Error> {
        let reply = self.ask(&owned).await;
        let rewrite = Rewrite::new(&owned, Arc::clone(&self.tasks)).holding(beginning);
        let reply = match reply {
            Ok(reply) => reply,
            // A stream may be refused by its first event, too.
            Err(error) if owned.operation().is_stream() => {
                CallResponse::stream(tokio_stream::once(Err(error)))
            }
            Err(error) => return Err(error),
        };
        self.reply(owned, rewrite, reply).await
    }

    async fn ask(&self, owned: &OwnedCall) -> Result<CallResponse, Error> {
        self.agent.call(owned.to_agent(&self.tasks)).await
    }

    /// Checks that a message finds its task, or begins one, by the rules of its sender's version.
    async fn place(&self, owned: &mut OwnedCall) -> Result<(), Error> {
        let (caller, agent) = (
            owned.context().protocol_version.rules(),
            self.version.rules(),
        );
        if let (Some(named), false) = (&owned.named, caller.caller_names_tasks) {
            if agent.caller_names_tasks {
                // This agent would start a task of that name, or restart an ended one.
                let task = self.task(owned, named.clone()).await?;
                if task.status.state.is_terminal() {
                    let text = "the task has ended and takes no message";
                    return Err(A2aError::new(ErrorKind::UnsupportedOperation, text).into());
                }
            }
        } else if owned.known.is_none() && !agent.caller_names_tasks {
            owned.call.request.set_task_id(None);
        }
        let known = owned.known_context(&self.tasks);
        let names_contexts = self.version == ProtocolVersion::V0_1;
        let mut sent = None;
        if let Request::SendMessage(params) | Request::SendStreamingMessage(params) =
            &mut owned.call.request
            && names_contexts
        {
            // The events of this agent do not name their conversation.
            let context = &mut params.message.context_id;
            *context = context
                .take()
                .or(known)
                .or_else(|| Some(ContextId::random()));
            sent.clone_from(context);
        }
        if owned.names_unknown_task() && caller.caller_names_tasks && agent.caller_names_tasks {
            // The caller may read or cancel its task before the agent answers.
            self.record(owned, sent)?;
        }
        Ok(())
    }

    /// Records the caller as the owner of the task that it names to an agent which takes the name.
    fn record(&self, owned: &mut OwnedCall, context: Option<ContextId>) -> Result<(), Error> {
        let (Some(name), Some(id)) = (owned.named.clone(), owned.agent_task()) else {
            return Ok(());
        };
        let task = KnownTask {
            id,
            context: context.map(|context| owned.agent_context(&context, &self.tasks)),
            protocol_version: owned.context().protocol_version,
        };
        let given = self.tasks.give(&owned.owner, name, task);
        given.map_err(|Foreign| Error::from(ErrorKind::TaskNotFound))?;
        owned.find(&self.tasks);
        Ok(())
    }

    /// Refuses to follow an ended task for a caller of 1.0.
    async fn require_open(&self, owned: &OwnedCall) -> Result<(), Error> {
        let (caller, agent) = (
            owned.context().protocol_version.rules(),
            self.version.rules(),
        );
        if let Some(named) = &owned.named
            && agent.subscribes_to_ended_tasks
            && !caller.subscribes_to_ended_tasks
            && self
                .task(owned, named.clone())
                .await?
                .status
                .state
                .is_terminal()
        {
            let text = "the task has ended, there is nothing to follow";
            return Err(A2aError::new(ErrorKind::UnsupportedOperation, text).into());
        }
        Ok(())
    }

    /// Returns the agent's answer with the ids that the caller knows.
    async fn reply(
        &self,
        owned: OwnedCall,
        mut rewrite: Rewrite,
        reply: CallResponse,
    ) -> Result<CallResponse, Error> {
        let created_in = owned.known.as_ref().map(|known| known.protocol_version);
        let answer = match reply.answer {
            ResponseBody::Once(mut response) => {
                rewrite.response(&mut response)?;
                if let Response::GetExtendedAgentCard(card) = &mut response {
                    *card = capabilities::shown(std::mem::take(card), self.relays());
                }
                ResponseBody::Once(response)
            }
            ResponseBody::Stream(updates) => {
                let agent = Arc::clone(&self.agent);
                let stream = GatewayStream::new(
                    agent,
                    self.version,
                    (owned, rewrite),
                    updates,
                    self.blocking_timeout,
                );
                ResponseBody::Stream(stream.begin().await?)
            }
        };
        let mut reply = CallResponse::new(answer).holding(reply.held);
        reply.created_in = created_in;
        Ok(reply)
    }

    async fn task(&self, owned: &OwnedCall, id: TaskId) -> Result<Task, Error> {
        let id = owned.known.as_ref().map_or(id, |known| known.id.clone());
        let (task, _) = read_task(&*self.agent, owned, id, Some(0)).await?;
        Ok(task)
    }
}

/// Reads of one address at once: they wait for the agent most of their time.
const READS_PER_ADDRESS: usize = 256;

/// Longest wait for the end of a task by default.
const DEFAULT_MAX_WAIT: Duration = Duration::from_secs(4 * 60);
