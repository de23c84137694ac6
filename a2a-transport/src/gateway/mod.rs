//! Gateway to an agent of one protocol version for callers of every version.
//!
//! Spelling is translated by the bindings on either side. The rest are rules: whether callers name tasks,
//! whether an ended task goes on, how a stream begins, and whose a task is. [`Gateway`] keeps its caller's
//! rules with an agent that has others.

mod list;
mod owned_call;
mod owner;
mod rewrite;
mod task_map;

use std::sync::Arc;

use a2a_types::{
    ContextId, Dialect, Error as A2aError, ErrorKind, GetTaskRequest, Operation, Request, Response,
    Task, TaskId,
};
use futures_util::{Stream, StreamExt, stream};
use owned_call::OwnedCall;
use rewrite::Rewrite;
use task_map::TaskMap;

use crate::{Answer, BoxFuture, Call, Error, Reply, Transport, Update, UpdateStream};

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
/// evicted, first those of the caller that begins more if it holds more than an eighth. A task that was
/// evicted, or begun before the gateway was started, is absent for all callers, though the agent may still have
/// it; a message that its owner sends again brings its task back, if the agent recognises messages.
///
/// [`share_tasks`](Self::share_tasks) switches this off.
pub struct Gateway<T> {
    agent: T,
    version: Dialect,
    shared: bool,
    tasks: Arc<TaskMap>,
}

impl<T: Transport> Gateway<T> {
    /// Creates a gateway to `agent`, which speaks `version`.
    pub fn new(agent: T, version: Dialect) -> Self {
        Self {
            agent,
            version,
            shared: false,
            tasks: Arc::default(),
        }
    }

    /// Gives every caller every task of the agent and passes ids on as they are: for a gateway without an
    /// authenticator, whose callers keep their tasks when it is started again.
    pub fn share_tasks(mut self) -> Self {
        self.shared = true;
        self
    }
}

impl<T: Transport> Transport for Gateway<T> {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        Box::pin(async move {
            let mut owned = OwnedCall::new(call, &self.tasks, self.shared);
            if !self.shared && owned.names_absent_task() {
                return Err(ErrorKind::TaskNotFound.into());
            }
            let reply = match &owned.call.request {
                Request::SendMessage(_) | Request::SendStreamingMessage(_) => {
                    self.place(&mut owned).await?;
                    self.ask(&owned).await
                }
                Request::SubscribeToTask(_) => {
                    self.require_open(&owned).await?;
                    self.ask(&owned).await
                }
                Request::ListTasks(params) if !self.shared => {
                    let listed = self.list(&owned, params).await;
                    return listed.map_err(translate);
                }
                _ => self.ask(&owned).await,
            };
            match reply {
                Ok(reply) => self.answer(owned, reply).await,
                Err(error) => self.explain(owned, error).await,
            }
        })
    }
}

/// Returns the updates up to the first after which a stream ends.
fn until_waiting(
    updates: impl Stream<Item = Result<Update, Error>> + Send,
) -> impl Stream<Item = Result<Update, Error>> + Send {
    stream::unfold(Some(Box::pin(updates)), |updates| async {
        let mut updates = updates?;
        let update = updates.next().await?;
        let status = update
            .as_ref()
            .ok()
            .and_then(|update| update.event.status());
        let ends = status.is_some_and(|status| status.state.ends_stream());
        Some((update, (!ends).then_some(updates)))
    })
}

impl<T: Transport> Gateway<T> {
    async fn ask(&self, owned: &OwnedCall) -> Result<Reply, Error> {
        self.agent.call(owned.to_agent(&self.tasks)).await
    }

    /// Checks that a message finds its task, or begins one, by the rules of its sender's version.
    async fn place(&self, owned: &mut OwnedCall) -> Result<(), Error> {
        let (caller, agent) = (owned.context().dialect.rules(), self.version.rules());
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
        let known = owned.known_context();
        let names_contexts = self.version == Dialect::V0_1;
        if let Request::SendMessage(params) | Request::SendStreamingMessage(params) =
            &mut owned.call.request
            && names_contexts
        {
            // Its events will not name their conversation.
            let context = &mut params.message.context_id;
            *context = context
                .take()
                .or(known)
                .or_else(|| Some(ContextId::random()));
        }
        Ok(())
    }

    /// Refuses to follow an ended task for a caller of 1.0.
    async fn require_open(&self, owned: &OwnedCall) -> Result<(), Error> {
        let (caller, agent) = (owned.context().dialect.rules(), self.version.rules());
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
    async fn answer(&self, owned: OwnedCall, reply: Reply) -> Result<Reply, Error> {
        let mut rewrite = Rewrite::new(&owned, Arc::clone(&self.tasks));
        let answer = match reply.answer {
            Answer::Once(mut response) => {
                rewrite.response(&mut response)?;
                Answer::Once(response)
            }
            Answer::Stream(updates) => Answer::Stream(self.stream(&owned, rewrite, updates).await?),
        };
        Ok(Reply {
            answer,
            created_in: owned.known.map(|known| known.dialect),
            held: reply.held,
        })
    }

    async fn stream(
        &self,
        owned: &OwnedCall,
        mut rewrite: Rewrite,
        mut updates: UpdateStream,
    ) -> Result<UpdateStream, Error> {
        let caller = owned.context().dialect;
        if caller != Dialect::V1_0 || self.version == Dialect::V1_0 {
            let updates = updates.map(move |update| rewrite.update(update?));
            let goes_on = self.version.rules().follows_waiting_tasks;
            return Ok(match goes_on && !caller.rules().follows_waiting_tasks {
                true => Box::pin(until_waiting(updates)),
                false => Box::pin(updates),
            });
        }
        // In 1.0 a stream begins with the task.
        let Some(first) = updates.next().await.transpose()? else {
            return Ok(Box::pin(tokio_stream::empty()));
        };
        let beginning = rewrite::stream_beginning(rewrite.update(first)?);
        let later = updates.map(move |update| rewrite.update(update?));
        Ok(Box::pin(tokio_stream::iter(beginning.map(Ok)).chain(later)))
    }

    /// Answers an older caller with an ended task's last event if an agent of 1.0 refuses to stream it.
    async fn explain(&self, owned: OwnedCall, error: Error) -> Result<Reply, Error> {
        let refused = |error: &Error| matches!(error, Error::Agent(error) if error.kind == ErrorKind::UnsupportedOperation);
        let caller = owned.context().dialect.rules();
        if let Some(named) = &owned.named
            && owned.operation() == Operation::SubscribeToTask
            && caller.subscribes_to_ended_tasks
            && refused(&error)
            && let Ok(task) = self.task(&owned, named.clone()).await
            && task.status.state.is_terminal()
        {
            let event = rewrite::last_word(task, caller.ends_by_status);
            let reply = Reply::stream(tokio_stream::once(Ok(event)));
            return self.answer(owned, reply).await;
        }
        Err(translate(error))
    }

    async fn task(&self, owned: &OwnedCall, id: TaskId) -> Result<Task, Error> {
        let id = owned.known.as_ref().map_or(id, |known| known.id.clone());
        let request = GetTaskRequest {
            id,
            history_length: Some(0),
            tenant: owned.call.request.tenant().map(str::to_owned),
        };
        let call = Call {
            request: request.into(),
            context: owned.context().clone(),
        };
        match self.agent.call(call).await?.answer {
            Answer::Once(Response::GetTask(task)) => Ok(task),
            _ => Err(ErrorKind::InvalidAgentResponse.into()),
        }
    }
}

/// Returns an error of the gateway's own request as one of the caller's.
fn translate(error: Error) -> Error {
    match error {
        Error::NotSupported { .. } => ErrorKind::MethodNotFound.into(),
        error => error,
    }
}
