//! An agent of one generation for callers of every generation.
//!
//! Spelling is translated by the bindings on either side. What is left are the rules: who names
//! a task, whether an ended one goes on, how a stream begins. [`Gateway`] keeps its caller's rules
//! with an agent that has others.

mod known;
mod told;

use std::sync::Arc;

use a2a_types::{
    ContextId, Dialect, Error as A2aError, ErrorKind, GetTaskRequest, Operation, Request, Response,
    Task, TaskId,
};
use futures_util::StreamExt;
use known::{Known, KnownTask, Place};
use told::Told;

use crate::{Answer, BoxFuture, Call, Context, Error, Reply, Transport, UpdateStream};

/// Stands before an agent that speaks one generation, for callers of every generation.
///
/// It remembers, for the last 100,000 tasks that were begun through it, in which generation
/// they were begun and, where the caller chose the task's id and the agent another, both. The agent
/// sees one caller: the gateway. For whom a caller claims to act is not passed on.
pub struct Gateway<T> {
    agent: T,
    spoken: Dialect,
    known: Arc<Known>,
}

impl<T: Transport> Gateway<T> {
    /// A gateway to `agent`, which speaks `spoken`.
    pub fn new(agent: T, spoken: Dialect) -> Self {
        Self {
            agent,
            spoken,
            known: Arc::default(),
        }
    }
}

impl<T: Transport> Transport for Gateway<T> {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        Box::pin(async move {
            let mut asked = Asked::new(call, &self.known);
            match asked.operation() {
                Operation::SendMessage | Operation::SendStreamingMessage => {
                    self.place(&mut asked).await?;
                }
                Operation::SubscribeToTask => self.require_open(&asked).await?,
                _ => {}
            }
            let reply = self.agent.call(asked.to_agent()).await;
            match reply {
                Ok(reply) => self.answer(asked, reply).await,
                Err(error) => self.explain(asked, error).await,
            }
        })
    }
}

/// A call, and what is known of its task.
struct Asked {
    call: Call,
    place: Option<Place>,
    known: Option<KnownTask>,
}

impl Asked {
    fn new(mut call: Call, known: &Known) -> Self {
        let place = call
            .request
            .task_id()
            .map(|id| Place::new(&call.context, id.clone()));
        let known = place.as_ref().and_then(|place| known.get(place));
        if let Some(known) = &known
            && call.context.dialect != Dialect::V1_0
            && known.dialect != Dialect::V1_0
        {
            // Some requests are spelled alike until 0.3.
            call.context.dialect = known.dialect;
        }
        // The agent trusts the gateway, perhaps so far as to believe whom it claims to act for.
        call.context.claims.user_id = None;
        Self { call, place, known }
    }

    fn operation(&self) -> Operation {
        self.call.request.operation()
    }

    fn is_message(&self) -> bool {
        matches!(
            self.operation(),
            Operation::SendMessage | Operation::SendStreamingMessage
        )
    }

    fn context(&self) -> &Context {
        &self.call.context
    }

    /// The same call with the agent's own id of the task.
    fn to_agent(&self) -> Call {
        let mut call = self.call.clone();
        if let Some(known) = &self.known {
            call.request.set_task_id(Some(known.id.clone()));
        }
        call
    }
}

impl<T: Transport> Gateway<T> {
    /// Sees to it that a message finds its task, or begins one, as its sender's generation says.
    async fn place(&self, asked: &mut Asked) -> Result<(), Error> {
        let (caller, agent) = (asked.context().dialect.rules(), self.spoken.rules());
        if let (Some(place), false) = (&asked.place, caller.caller_names_tasks) {
            if agent.caller_names_tasks {
                // This agent would begin a task of that name, or begin an ended one again.
                let task = self.task(asked, place.task.clone()).await?;
                if task.status.state.is_terminal() {
                    let text = "the task has ended and takes no message";
                    return Err(A2aError::new(ErrorKind::UnsupportedOperation, text).into());
                }
            }
        } else if asked.known.is_none() && !agent.caller_names_tasks {
            asked.call.request.set_task_id(None);
        }
        let names_contexts = self.spoken == Dialect::V0_1;
        if let Request::SendMessage(params) | Request::SendStreamingMessage(params) =
            &mut asked.call.request
            && names_contexts
        {
            // Its events will not say which conversation they belong to.
            let known = asked.known.as_ref().and_then(|known| known.context.clone());
            let context = &mut params.message.context_id;
            *context = context
                .take()
                .or(known)
                .or_else(|| Some(ContextId::random()));
        }
        Ok(())
    }

    /// In 1.0 an ended task is not followed.
    async fn require_open(&self, asked: &Asked) -> Result<(), Error> {
        let (caller, agent) = (asked.context().dialect.rules(), self.spoken.rules());
        if let Some(place) = &asked.place
            && agent.subscribes_to_ended_tasks
            && !caller.subscribes_to_ended_tasks
            && self
                .task(asked, place.task.clone())
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

    /// What the agent answered, with the ids that the caller knows.
    async fn answer(&self, asked: Asked, reply: Reply) -> Result<Reply, Error> {
        let mut told = Told::new(&asked, Arc::clone(&self.known));
        let answer = match reply.answer {
            Answer::Once(mut response) => {
                response.tasks_mut().for_each(|task| told.task(task));
                if let Response::SendMessage(sent) = &mut response {
                    told.message_of(sent);
                }
                if let Response::CreateTaskPushNotificationConfig(config)
                | Response::GetTaskPushNotificationConfig(config) = &mut response
                {
                    told.id(&mut config.task_id);
                }
                if let Response::ListTaskPushNotificationConfigs(list) = &mut response {
                    let configs = list.configs.iter_mut();
                    configs.for_each(|config| told.id(&mut config.task_id));
                }
                Answer::Once(response)
            }
            Answer::Stream(updates) => Answer::Stream(self.stream(&asked, told, updates).await?),
        };
        Ok(Reply {
            answer,
            created_in: asked.known.map(|known| known.dialect),
        })
    }

    async fn stream(
        &self,
        asked: &Asked,
        mut told: Told,
        mut updates: UpdateStream,
    ) -> Result<UpdateStream, Error> {
        let caller = asked.context().dialect;
        if caller != Dialect::V1_0 || self.spoken == Dialect::V1_0 {
            return Ok(Box::pin(
                updates.map(move |update| update.map(|update| told.update(update))),
            ));
        }
        // In 1.0 a stream begins with the task.
        let Some(first) = updates.next().await.transpose()? else {
            return Ok(Box::pin(tokio_stream::empty()));
        };
        let begun = told::begun(told.update(first));
        let later = updates.map(move |update| update.map(|update| told.update(update)));
        Ok(Box::pin(tokio_stream::iter(begun.map(Ok)).chain(later)))
    }

    /// An agent of 1.0 refuses to have an ended task followed; older callers get its last word.
    async fn explain(&self, asked: Asked, error: Error) -> Result<Reply, Error> {
        let refused = |error: &Error| matches!(error, Error::Agent(said) if said.kind == ErrorKind::UnsupportedOperation);
        let caller = asked.context().dialect.rules();
        if let Some(place) = &asked.place
            && asked.operation() == Operation::SubscribeToTask
            && caller.subscribes_to_ended_tasks
            && refused(&error)
            && let Ok(task) = self.task(&asked, place.task.clone()).await
            && task.status.state.is_terminal()
        {
            let event = told::last_word(task, caller.ends_by_status);
            let reply = Reply::stream(tokio_stream::once(Ok(event)));
            return self.answer(asked, reply).await;
        }
        match error {
            Error::NotSupported { .. } => Err(ErrorKind::MethodNotFound.into()),
            error => Err(error),
        }
    }

    async fn task(&self, asked: &Asked, id: TaskId) -> Result<Task, Error> {
        let id = asked.known.as_ref().map_or(id, |known| known.id.clone());
        let request = GetTaskRequest {
            id,
            history_length: Some(0),
            tenant: asked.call.request.tenant().map(str::to_owned),
        };
        let call = Call {
            request: request.into(),
            context: asked.context().clone(),
        };
        match self.agent.call(call).await?.answer {
            Answer::Once(Response::GetTask(task)) => Ok(task),
            _ => Err(ErrorKind::InvalidAgentResponse.into()),
        }
    }
}
