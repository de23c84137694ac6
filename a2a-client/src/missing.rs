//! Difference between a known task and a later snapshot, as events.

use std::collections::{HashMap, HashSet};

use a2a_types::{
    Artifact, Event, Message, MessageId, Role, Task, TaskArtifactUpdateEvent, TaskStatus,
    TaskStatusUpdateEvent,
};

/// Returns the fewest events that lead from a task as it is known to a later snapshot of it: messages
/// of the agent, artifacts that are new, longer or replaced, the status.
///
/// A replica that lags behind may return an earlier task, which yields no events. Messages are only
/// compared if the task is known as a `whole`: otherwise new ones cannot be identified.
pub(crate) fn missing(known: &Task, snapshot: &Task, whole: bool) -> Vec<Event> {
    let mut events = Vec::new();
    if whole {
        events.extend(messages(known, snapshot));
    }
    let told = known.artifacts.iter();
    let told: HashMap<_, _> = told.map(|told| (&told.artifact_id, told)).collect();
    let artifacts = snapshot.artifacts.iter();
    events.extend(artifacts.filter_map(|artifact| {
        let (artifact, append) = match told.get(&artifact.artifact_id) {
            None => (artifact.clone(), false),
            Some(told) => longer(told, artifact)?,
        };
        Some(Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: snapshot.id.clone(),
            context_id: snapshot.context_id.clone(),
            artifact,
            append,
            last_chunk: snapshot.status.state.is_terminal(),
            metadata: None,
        }))
    }));
    if is_news(&known.status, &snapshot.status) {
        events.push(Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: snapshot.id.clone(),
            context_id: snapshot.context_id.clone(),
            status: snapshot.status.clone(),
            metadata: None,
        }));
    }
    events
}

/// Returns the agent's new messages. Those of the caller are not news, and the message of the status
/// comes with the status.
fn messages(known: &Task, snapshot: &Task) -> impl Iterator<Item = Event> {
    // Agents may drop the beginning of the history, and keep messages that never came by a stream.
    let since = match has_ids(snapshot) {
        true => last_told(known, snapshot),
        false => last_alike(known, snapshot),
    };
    let of_status = of_status(snapshot);
    let later = snapshot.history.iter().enumerate();
    let later = later.skip(since.map_or(0, |at| at + 1));
    let news = later.filter(|(at, message)| message.role == Role::Agent && Some(*at) != of_status);
    let news = news.map(|(_, message)| Message {
        task_id: Some(snapshot.id.clone()),
        ..message.clone()
    });
    news.map(Event::Message).collect::<Vec<_>>().into_iter()
}

/// Returns the index in the history of the message of the current status. Some agents put it there; in
/// 0.1, whose messages have no ids, as the last one.
fn of_status(snapshot: &Task) -> Option<usize> {
    let said = snapshot.status.message.as_deref()?;
    let history = &snapshot.history;
    match has_ids(snapshot) {
        true => history
            .iter()
            .rposition(|message| message.message_id == said.message_id),
        false => {
            let last = history.len().checked_sub(1)?;
            let alike = history[last].role == said.role && history[last].parts == said.parts;
            alike.then_some(last)
        }
    }
}

/// Returns whether messages have ids of their own, not those derived from their index (0.1).
fn has_ids(task: &Task) -> bool {
    let first = task.history.first();
    first.is_none_or(|first| first.message_id != MessageId::derived(&task.id, 0))
}

fn last_told(known: &Task, snapshot: &Task) -> Option<usize> {
    let told: HashSet<&MessageId> = said(known).map(|message| &message.message_id).collect();
    let is_told = |message: &Message| told.contains(&message.message_id);
    snapshot.history.iter().rposition(is_told)
}

/// Returns the index of the last known message, by content: messages are matched in order.
fn last_alike(known: &Task, snapshot: &Task) -> Option<usize> {
    let content = |message: &Message| (message.role, serde_json::to_string(&message.parts).ok());
    let mut told: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, message) in said(known).enumerate() {
        told.entry(content(message)).or_default().push(place);
    }
    let (mut last, mut next) = (None, 0);
    for (ordinal, message) in snapshot.history.iter().enumerate() {
        let places = told.get(&content(message)).map_or(&[][..], Vec::as_slice);
        if let Some(place) = places.get(places.partition_point(|place| *place < next)) {
            (last, next) = (Some(ordinal), place + 1);
        }
    }
    last
}

fn said(task: &Task) -> impl Iterator<Item = &Message> {
    task.history.iter().chain(task.status.message.as_deref())
}

/// Returns the update that turns `told` into `artifact`, and whether it is appended; `None` if the
/// artifact is the same or older.
fn longer(told: &Artifact, artifact: &Artifact) -> Option<(Artifact, bool)> {
    let is_longer = artifact.parts.starts_with(&told.parts);
    let same_rest = told.name == artifact.name
        && told.description == artifact.description
        && told.metadata == artifact.metadata
        && told.extensions == artifact.extensions;
    if is_longer && same_rest {
        let parts = artifact.parts.get(told.parts.len()..).unwrap_or_default();
        let rest = Artifact {
            artifact_id: artifact.artifact_id.clone(),
            parts: parts.to_vec(),
            ..Artifact::default()
        };
        return (!parts.is_empty()).then_some((rest, true));
    }
    let is_older =
        told.parts.len() > artifact.parts.len() && told.parts.starts_with(&artifact.parts);
    (!is_older).then(|| (artifact.clone(), false))
}

/// Returns whether a status differs from the known one and is not older. A terminal state is always the
/// later one, whatever the timestamps.
fn is_news(told: &TaskStatus, status: &TaskStatus) -> bool {
    let parts = |status: &TaskStatus| status.message.as_ref().map(|message| message.parts.clone());
    let is_older = match (told.timestamp, status.timestamp) {
        (Some(told), Some(status)) => status < told,
        _ => false,
    };
    let same = told.state == status.state && parts(told) == parts(status);
    match (told.state.is_terminal(), status.state.is_terminal()) {
        (false, true) => true,
        (true, false) => false,
        _ => !same && !is_older,
    }
}

#[cfg(test)]
mod tests;
