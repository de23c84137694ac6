//! Tasks of MCP: handles of the agents' tasks.

use std::sync::PoisonError;
use std::time::Duration;

use a2a_client::Error;
use a2a_types::{ErrorKind, Task, TaskId, TaskState, Timestamp};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, DetailedTask, ElicitRequest, ErrorCode, ErrorData, GetTaskResult, InputRequest,
    InputRequests, InputResponses, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;

use crate::agents::{Catalog, ConnectedAgent};
use crate::bridge::{Bridge, TaskNote};
use crate::call::{Outcome, Request, sentence};
use crate::content;
use crate::question::{Answer, Answered, Modes, Question, answer, is_answered};

/// Returns the task of MCP for a task that goes on.
/// `answered` is the question that was answered already.
pub(crate) fn begin(
    bridge: &Bridge,
    agent: &ConnectedAgent,
    task: &Task,
    answered: Option<Answered>,
) -> rmcp::model::Task {
    let handle = handle(bridge, agent, &task.id);
    // The agent may have begun before its caller knew.
    let now = Timestamp::now();
    let begun = task.status.timestamp.map_or(now, |time| time.min(now));
    change_note(bridge, &handle, |note| {
        note.begun = Some(begun);
        note.answered = answered.filter(|it| is_answered(task, Some(it)));
    });
    base(bridge, &handle, task)
}

/// Changes what is remembered of a task.
fn change_note(bridge: &Bridge, handle: &str, change: impl FnOnce(&mut TaskNote)) {
    let mut notes = bridge.notes.lock().unwrap_or_else(PoisonError::into_inner);
    change(notes.get_or_insert_mut(handle.to_owned(), TaskNote::default));
}

/// Returns what is remembered of a task.
fn noted(bridge: &Bridge, handle: &str) -> TaskNote {
    let mut notes = bridge.notes.lock().unwrap_or_else(PoisonError::into_inner);
    notes.get(handle).cloned().unwrap_or_default()
}

/// Returns what is remembered of a task, without the answers to questions that it no longer asks. `asked_again` is the
/// answer to a question that was asked again.
fn updated_note(
    bridge: &Bridge,
    handle: &str,
    task: &Task,
    asked_again: Option<&Answered>,
) -> TaskNote {
    let mut notes = bridge.notes.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(note) = notes.get_mut(handle) else {
        return TaskNote::default();
    };
    note.answered
        .take_if(|it| asked_again == Some(it) || !is_answered(task, Some(it)));
    if Question::of(task).is_none() {
        note.declined = None;
    }
    note.clone()
}

/// Returns the state of a task. While the agent works on it, waits a little for the end.
pub(crate) async fn state(
    bridge: &Bridge,
    handle: &str,
    context: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let (agent, id) = find(bridge, handle).await?;
    let mut task = agent
        .client
        .get_task(id.clone(), None)
        .await
        .map_err(refusal)?;
    let mut pause = PAUSE_MS;
    let answered = noted(bridge, handle).answered;
    let mut asked_again = None;
    if !task.status.state.is_settled() || is_answered(&task, answered.as_ref()) {
        let request = Request::Watch {
            task: id,
            answered: answered.clone(),
        };
        let outcome = bridge
            .calls
            .follow(&agent.client, request, Some(MAX_WAIT), context)
            .await;
        // The same question, asked later, is a new one.
        asked_again = answered.filter(|_| matches!(outcome, Outcome::Settled(_)));
        task = match outcome {
            Outcome::Settled(task) | Outcome::Working(task) => {
                pause = PAUSE_AFTER_WAIT_MS;
                *task
            }
            // The agent may not let it be followed: the state is known all the same.
            _ => task,
        };
    }
    // It may have been answered in the meantime.
    let note = updated_note(bridge, handle, &task, asked_again.as_ref());
    let payload = payload(&task, Modes::of(context), &note);
    let base = base(bridge, handle, &task).with_poll_interval_ms(pause);
    Ok(GetTaskResult::new(DetailedTask::new(base, payload)))
}

/// Sends the answer to the question of a task. Answers to other questions are ignored.
pub(crate) async fn answer_question(
    bridge: &Bridge,
    handle: &str,
    mut responses: InputResponses,
) -> Result<(), ErrorData> {
    let (agent, id) = find(bridge, handle).await?;
    let task = agent.client.get_task(id, Some(0)).await.map_err(refusal)?;
    let Some(question) = Question::of(&task) else {
        return Ok(());
    };
    let Some(response) = responses.remove(&question.key) else {
        return Ok(());
    };
    // The agent has the answer, and has not gone on yet.
    if is_answered(&task, noted(bridge, handle).answered.as_ref()) {
        return Ok(());
    }
    let answer = answer(&task, question.kind(), response)
        .map_err(|problem| ErrorData::invalid_params(format!("inputResponses: {problem}"), None))?;
    match answer {
        Answer::Message(message) => {
            // An agent may hold the answer back until the turn has ended.
            let answered = Answered::new(question.key);
            change_note(bridge, handle, |note| note.answered = Some(answered));
            let sent = agent.client.send(message).return_immediately().await;
            if let Err(error) = sent {
                change_note(bridge, handle, |note| note.answered = None);
                return Err(refusal(error));
            }
        }
        Answer::Canceled => {
            agent.client.cancel_task(task.id).await.map_err(refusal)?;
        }
        Answer::Declined => {
            change_note(bridge, handle, |note| note.declined = Some(question.key));
        }
        Answer::Visited => {
            let answered = Answered::new(question.key);
            change_note(bridge, handle, |note| note.answered = Some(answered));
        }
    }
    Ok(())
}

/// Cancels a task. One that has ended is left as it is.
pub(crate) async fn cancel(bridge: &Bridge, handle: &str) -> Result<(), ErrorData> {
    let (agent, id) = find(bridge, handle).await?;
    match agent.client.cancel_task(id).await {
        Ok(_) => Ok(()),
        Err(Error::Agent(error)) if error.kind == ErrorKind::TaskNotCancelable => Ok(()),
        Err(error) => Err(refusal(error)),
    }
}

/// Returns the handle of a task: its id, and before it the key of its agent if there are several.
fn handle(bridge: &Bridge, agent: &ConnectedAgent, id: &TaskId) -> String {
    match bridge.agents.agents.len() {
        1 => id.to_string(),
        _ => format!("{}/{id}", agent.key),
    }
}

/// Returns the agent of a task, and the id that the task has there.
async fn find(bridge: &Bridge, handle: &str) -> Result<(ConnectedAgent, TaskId), ErrorData> {
    let agent_in = |catalog: &Catalog| match bridge.agents.agents.len() {
        1 => Some((catalog.agents.first()?.clone(), handle.into())),
        _ => {
            let (key, id) = handle.split_once('/')?;
            let mut agents = catalog.agents.iter();
            Some((agents.find(|agent| agent.key == key)?.clone(), id.into()))
        }
    };
    if let Some(found) = agent_in(&Catalog::known(&bridge.agents)) {
        return Ok(found);
    }
    let catalog = Catalog::of(&bridge.agents).await;
    match agent_in(&catalog) {
        Some(found) => Ok(found),
        None if catalog.missing.is_empty() => Err(unknown()),
        None => {
            let problem = format!("an agent cannot be reached: {}", catalog.missing.join("; "));
            Err(ErrorData::internal_error(problem, None))
        }
    }
}

/// Returns what all states of a task have.
fn base(bridge: &Bridge, handle: &str, task: &Task) -> rmcp::model::Task {
    let updated = task.status.timestamp.unwrap_or_else(Timestamp::now);
    let begun = noted(bridge, handle).begun.unwrap_or(updated);
    let (begun, updated) = (begun.to_string(), updated.to_string());
    let base = rmcp::model::Task::new(handle, TaskStatus::Working, begun, updated)
        .with_poll_interval_ms(PAUSE_AFTER_WAIT_MS);
    match task.status.text() {
        text if text.is_empty() => base,
        text => base.with_status_message(text),
    }
}

/// Time for which `tasks/get` waits for the end of a task.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Time until the client should ask again, after `tasks/get` has waited itself and if it could not.
const PAUSE_AFTER_WAIT_MS: u64 = 100;
const PAUSE_MS: u64 = 2000;

/// Returns the state of a task with what belongs to it.
fn payload(task: &Task, modes: Modes, note: &TaskNote) -> TaskPayload {
    if let Some(question) = Question::of(task) {
        if is_answered(task, note.answered.as_ref()) {
            return TaskPayload::Working;
        }
        if note.declined.as_ref() == Some(&question.key) {
            return completed(&content::of_declined(task));
        }
        if let Some(elicitation) = question.elicitation(modes) {
            let request = InputRequest::Elicitation(ElicitRequest::new(elicitation));
            let input_requests = InputRequests::from([(question.key, request)]);
            return TaskPayload::InputRequired { input_requests };
        }
        // A client that cannot ask would wait for ever.
        return completed(&content::of_question(task, &question));
    }
    match task.status.state {
        TaskState::Canceled => TaskPayload::Cancelled,
        state if state.is_terminal() => completed(&content::of_task(task, None)),
        _ => TaskPayload::Working,
    }
}

fn completed(result: &CallToolResult) -> TaskPayload {
    let result = match serde_json::to_value(result) {
        Ok(serde_json::Value::Object(result)) => result,
        _ => Default::default(),
    };
    TaskPayload::Completed { result }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("unknown task", None)
}

fn refusal(error: Error) -> ErrorData {
    match &error {
        Error::Agent(said) if said.kind == ErrorKind::TaskNotFound => unknown(),
        error => ErrorData::new(ErrorCode::INTERNAL_ERROR, sentence(error), None),
    }
}
