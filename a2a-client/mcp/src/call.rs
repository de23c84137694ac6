//! One turn of an agent for a tool call: its events as progress, and its end.

use std::time::Duration;

use a2a_client::{Client, Error, StreamExt, TaskEventStream, TraceContext, causes};
use a2a_types::{Event, Message, Task, TaskId, TaskState};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::question::{Answered, is_answered};

/// Request to the agent.
pub(crate) enum Request {
    Send(Box<Message>),
    /// To go on with a task, after this question has been answered elsewhere.
    Wait {
        task: TaskId,
        answered: Option<Answered>,
    },
    /// As `Wait`, but the task goes on if the call is canceled, too.
    Watch {
        task: TaskId,
        answered: Option<Answered>,
    },
}

/// End of a turn.
pub(crate) enum Outcome {
    Message(Message),
    /// The task has ended, or waits for its caller.
    Settled(Box<Task>),
    /// The task goes on after the time that the caller waits.
    Working(Box<Task>),
    /// The call was canceled, and the task is.
    Canceled,
    /// A sentence for the caller, and the task as far as it is known.
    Failed(String, Option<Box<Task>>),
}

/// Calls that run, and tasks that are being canceled.
#[derive(Default)]
pub(crate) struct Calls {
    running: TaskTracker,
    end: CancellationToken,
}

impl Calls {
    /// Counts a call as running until the token is dropped.
    pub(crate) fn enter(&self) -> TaskTrackerToken {
        self.running.token()
    }

    /// Cancels all calls, and waits until their tasks are canceled.
    pub(crate) async fn cancel_all(&self) {
        self.end.cancel();
        self.running.close();
        // An agent that does not answer delays the end no longer.
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, self.running.wait()).await;
    }

    /// Waits until all calls are to end.
    pub(crate) async fn ended(&self) {
        self.end.cancelled().await;
    }

    /// Follows a turn of an agent. With `grace`, the wait ends after this time, and the turn goes on.
    pub(crate) async fn follow(
        &self,
        client: &Client,
        request: Request,
        grace: Option<Duration>,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        tokio::select! {
            outcome = follow(client, request, grace, context, &self.running) => outcome,
            () = self.end.cancelled() => Outcome::Canceled,
        }
    }
}

async fn follow(
    client: &Client,
    request: Request,
    grace: Option<Duration>,
    context: &RequestContext<RoleServer>,
    running: &TaskTracker,
) -> Outcome {
    let trace = context.meta.get_traceparent();
    let trace = trace.and_then(|parent| TraceContext::parse(parent, context.meta.get_tracestate()));
    let client = client.with_trace_context(trace);
    let owns_task = !matches!(request, Request::Watch { .. });
    let (events, mut answered) = match request {
        Request::Send(message) => (client.send(*message).follow(), None),
        Request::Wait { task, answered } | Request::Watch { task, answered } => {
            match client.subscribe(task.clone()).await {
                Ok(events) => (events, answered),
                Err(error) => return unfollowed(&client, &task, answered.as_ref(), &error).await,
            }
        }
    };
    let mut turn = Turn {
        client,
        events: Some(events),
        owns_task,
        running: running.clone(),
    };
    let mut progress = Progress::of(context);
    let end = grace.map(|grace| Instant::now() + grace);
    let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
    tick.reset();
    loop {
        let Some(events) = &mut turn.events else {
            return Outcome::Canceled;
        };
        let task = events.task();
        if let Some(task) = task.filter(|task| !is_answered(task, answered.as_ref())) {
            // The same question, asked later, is a new one.
            answered = None;
            if task.status.state.is_settled() {
                let task = Box::new(task.clone());
                turn.events = None;
                return Outcome::Settled(task);
            }
        }
        let event = tokio::select! {
            event = events.next() => event,
            () = context.ct.cancelled() => return Outcome::Canceled,
            _ = tick.tick() => {
                progress.tell("").await;
                continue;
            }
            () = until(end), if events.task().is_some() => {
                let task = events.task().cloned().unwrap_or_default();
                turn.events = None;
                return Outcome::Working(Box::new(task));
            }
        };
        match event {
            Some(Ok(Event::Message(message))) => {
                turn.events = None;
                return Outcome::Message(message);
            }
            Some(Ok(event)) => {
                let task = events.task();
                if !task.is_some_and(|task| is_answered(task, answered.as_ref())) {
                    tick.reset();
                    progress.tell(&event.text()).await;
                }
            }
            Some(Err(error)) => {
                let mut task = events.task().cloned();
                turn.events = None;
                // Some agents report the end of a task only as an error.
                if let (Error::Agent(_), Some(task)) = (&error, &mut task)
                    && let Ok(found) = turn.client.get_task(task.id.clone(), None).await
                {
                    *task = found;
                    if has_result_or_question(task.status.state)
                        && !is_answered(task, answered.as_ref())
                    {
                        return Outcome::Settled(Box::new(task.clone()));
                    }
                }
                return Outcome::Failed(sentence(&error), task.map(Box::new));
            }
            None => {
                let Some(task) = events.task().cloned() else {
                    let problem = "the agent ended its answer without a task";
                    return Outcome::Failed(problem.to_owned(), None);
                };
                if !is_answered(&task, answered.as_ref()) {
                    turn.events = None;
                    return Outcome::Settled(Box::new(task));
                }
                // Some agents end the stream while the task still waits.
                let again = async {
                    tokio::time::sleep(PAUSE).await;
                    turn.client.subscribe(task.id.clone()).await
                };
                let subscribed = tokio::select! {
                    subscribed = again => subscribed,
                    () = context.ct.cancelled() => return Outcome::Canceled,
                    () = until(end) => {
                        turn.events = None;
                        return Outcome::Working(Box::new(task));
                    }
                };
                match subscribed {
                    Ok(events) => turn.events = Some(events),
                    Err(error) => {
                        turn.events = None;
                        let answered = answered.as_ref();
                        return unfollowed(&turn.client, &task.id, answered, &error).await;
                    }
                }
            }
        }
    }
}

/// Returns whether a task has its result, or a question for its caller.
fn has_result_or_question(state: TaskState) -> bool {
    matches!(
        state,
        TaskState::Completed | TaskState::InputRequired | TaskState::AuthRequired
    )
}

/// Returns a task that cannot be followed as it stands, if that is settled.
async fn unfollowed(
    client: &Client,
    task: &TaskId,
    answered: Option<&Answered>,
    error: &Error,
) -> Outcome {
    match client.get_task(task.clone(), None).await {
        Ok(task) if task.status.state.is_settled() && !is_answered(&task, answered) => {
            Outcome::Settled(Box::new(task))
        }
        Ok(task) => Outcome::Failed(sentence(error), Some(Box::new(task))),
        Err(_) => Outcome::Failed(sentence(error), None),
    }
}

/// Returns an error of a call as a sentence for the caller of a tool.
pub(crate) fn sentence(error: &Error) -> String {
    match error {
        Error::Agent(error) => format!("the agent answered with an error: {}", error.message),
        error => format!("the call of the agent failed: {}", causes(error)),
    }
}

/// Waits until a time, or for ever.
async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Turn that is followed. If it is dropped before its end, its task is canceled.
struct Turn {
    client: Client,
    /// `None` once the turn may go on without the call.
    events: Option<TaskEventStream>,
    owns_task: bool,
    running: TaskTracker,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let events = self.events.take().filter(|_| self.owns_task);
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(events), Ok(runtime)) = (events, runtime) {
            let canceling = cancel(self.client.clone(), events);
            self.running.spawn_on(canceling, &runtime);
        }
    }
}

/// Cancels the task of a turn, once the agent has named it.
async fn cancel(client: Client, mut events: TaskEventStream) {
    let named = async { while events.task().is_none() && events.next().await.is_some() {} };
    // A task that gets no name within this time cannot be canceled.
    let _ = tokio::time::timeout(CANCEL_TIMEOUT, named).await;
    let Some(task) = events.task().map(|task| task.id.clone()) else {
        return;
    };
    let canceling = tokio::time::timeout(CANCEL_TIMEOUT, client.cancel_task(task));
    if let Ok(Err(error)) = canceling.await {
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "the task is not canceled"
        );
    }
}

const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause before a stream that ended early is opened again.
const PAUSE: Duration = Duration::from_secs(2);

/// Progress of a call, for callers that want it.
struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    count: f64,
}

impl Progress {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            to: token.map(|token| (context.peer.clone(), token)),
            count: 0.0,
        }
    }

    /// Tells the caller that the call goes on. The agent is read no faster than the caller takes it.
    async fn tell(&mut self, text: &str) {
        let Some((peer, token)) = &self.to else {
            return;
        };
        self.count += 1.0;
        let mut told = ProgressNotificationParam::new(token.clone(), self.count);
        if !text.is_empty() {
            told = told.with_message(text.chars().take(MAX_MESSAGE).collect::<String>());
        }
        // A caller that is gone cancels the call.
        let _ = peer.notify_progress(told).await;
    }
}

/// Pause after which a caller is told that a silent agent still works: clients give up calls that are silent for a minute.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(15);

/// Longest message of a progress notification in characters.
const MAX_MESSAGE: usize = 1000;
