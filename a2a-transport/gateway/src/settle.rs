//! Waiting for a task by reading it again and again.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{CallRequest, Context, Error, Phase, ResponseBody, Transport};
use a2a_types::{GetTaskRequest, Response, Task, TaskId};
use tokio::time::{Instant, sleep};

use crate::owned_call::OwnedCall;

/// Share of a budget of memory, kept with the answer that it is for.
pub(crate) type Held = Option<Arc<dyn Send + Sync>>;

/// Returns the agent's task of this id as it stands, for a call.
pub(crate) async fn read_task(
    agent: &impl Transport,
    owned: &OwnedCall,
    id: TaskId,
    history_length: Option<u32>,
) -> Result<(Task, Held), Error> {
    let request = GetTaskRequest {
        id,
        history_length,
        tenant: owned.call.request.tenant().map(str::to_owned),
    };
    read(agent, request, owned.context().clone()).await
}

/// Reads a task of the agent.
pub(crate) async fn read(
    agent: &impl Transport,
    request: GetTaskRequest,
    context: Context,
) -> Result<(Task, Held), Error> {
    let call = CallRequest {
        request: request.into(),
        context,
    };
    let reply = agent.call(call).await?;
    match reply.answer {
        ResponseBody::Once(Response::GetTask(task)) => Ok((task, reply.held)),
        _ => Err(a2a_types::ErrorKind::InvalidAgentResponse.into()),
    }
}

/// Reads a task until it has ended or is interrupted, or as it stands at `until`. Errors: it cannot be read.
pub(crate) async fn settled(
    agent: &impl Transport,
    owned: &OwnedCall,
    id: &TaskId,
    until: Instant,
) -> Result<(Task, Held), Error> {
    let history_length = owned.call.request.history_length();
    let mut pause = FIRST_PAUSE;
    loop {
        let now = Instant::now();
        match read_task(agent, owned, id.clone(), history_length).await {
            Ok((task, held)) if task.status.state.is_settled() || now >= until => {
                return Ok((task, held));
            }
            Ok(_) => {}
            Err(error) if is_passing(&error) && now < until => {}
            Err(error) => return Err(error),
        }
        sleep(pause.min(until.saturating_duration_since(Instant::now()))).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Returns whether a connection failed, or the agent is busy: the next request may succeed.
pub(crate) fn is_passing(error: &Error) -> bool {
    match error {
        Error::Unfinished
        | Error::Busy { .. }
        | Error::Unreachable(_)
        | Error::Connection(_)
        | Error::NotA2a {
            status: 502 | 504, ..
        } => true,
        Error::Timeout { phase, .. } => *phase != Phase::Deadline,
        _ => false,
    }
}

/// Pause between the first two readings of a task; then it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Longest pause between two readings of a task.
const MAX_PAUSE: Duration = Duration::from_secs(2);
