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
/// compared if the task is known completely (`is_complete`): otherwise new ones cannot be identified.
pub(crate) fn diff(known: &Task, snapshot: &Task, is_complete: bool) -> Vec<Event> {
    let mut events = Vec::new();
    if is_complete {
        events.extend(messages(known, snapshot));
    }
    let by_id: HashMap<_, _> = known
        .artifacts
        .iter()
        .map(|artifact| (&artifact.artifact_id, artifact))
        .collect();
    let artifacts = snapshot.artifacts.iter();
    events.extend(artifacts.filter_map(|artifact| {
        let (artifact, append) = match by_id.get(&artifact.artifact_id) {
            None => (artifact.clone(), false),
            Some(known) => artifact_update(known, artifact)?,
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
    if is_newer(&known.status, &snapshot.status) {
        events.push(Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: snapshot.id.clone(),
            context_id: snapshot.context_id.clone(),
            status: snapshot.status.clone(),
            metadata: None,
        }));
    }
    events
}

/// Returns the agent's new messages. The caller's messages are not new events, and the message of the status
/// comes with the status.
fn messages(known: &Task, snapshot: &Task) -> impl Iterator<Item = Event> {
    // Agents may drop the beginning of the history, and keep messages that never came by a stream.
    let since = match has_ids(snapshot) {
        true => last_known_by_id(known, snapshot),
        false => last_known_by_content(known, snapshot),
    };
    let of_status = of_status(snapshot);
    let later = snapshot.history.iter().enumerate();
    let later = later.skip(since.map_or(0, |at| at + 1));
    let new = later.filter(|(at, message)| message.role == Role::Agent && Some(*at) != of_status);
    let new = new.map(|(_, message)| Message {
        task_id: Some(snapshot.id.clone()),
        ..message.clone()
    });
    new.map(Event::Message).collect::<Vec<_>>().into_iter()
}

/// Returns the index in the history of the message of the current status. Some agents put it there; in
/// 0.1, whose messages have no ids, as the last one.
fn of_status(snapshot: &Task) -> Option<usize> {
    let status = snapshot.status.message.as_deref()?;
    let history = &snapshot.history;
    match has_ids(snapshot) {
        true => history
            .iter()
            .rposition(|message| message.message_id == status.message_id),
        false => {
            let last = history.len().checked_sub(1)?;
            let alike = history[last].role == status.role && history[last].parts == status.parts;
            alike.then_some(last)
        }
    }
}

/// Returns whether messages have ids of their own, not those derived from their index (0.1).
fn has_ids(task: &Task) -> bool {
    let first = task.history.first();
    first.is_none_or(|first| first.message_id != MessageId::derived(&task.id, 0))
}

fn last_known_by_id(known: &Task, snapshot: &Task) -> Option<usize> {
    let ids: HashSet<&MessageId> = all_messages(known)
        .map(|message| &message.message_id)
        .collect();
    let is_known = |message: &Message| ids.contains(&message.message_id);
    snapshot.history.iter().rposition(is_known)
}

/// Returns the index of the last known message, by content: messages are matched in order.
fn last_known_by_content(known: &Task, snapshot: &Task) -> Option<usize> {
    let content = |message: &Message| (message.role, serde_json::to_string(&message.parts).ok());
    let mut by_content: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, message) in all_messages(known).enumerate() {
        by_content.entry(content(message)).or_default().push(place);
    }
    let (mut last, mut next) = (None, 0);
    for (ordinal, message) in snapshot.history.iter().enumerate() {
        let places = by_content
            .get(&content(message))
            .map_or(&[][..], Vec::as_slice);
        if let Some(place) = places.get(places.partition_point(|place| *place < next)) {
            (last, next) = (Some(ordinal), place + 1);
        }
    }
    last
}

fn all_messages(task: &Task) -> impl Iterator<Item = &Message> {
    task.history.iter().chain(task.status.message.as_deref())
}

/// Returns the update that turns `known` into `artifact`, and whether it is appended; `None` if the
/// artifact is the same or older.
fn artifact_update(known: &Artifact, artifact: &Artifact) -> Option<(Artifact, bool)> {
    let is_longer = artifact.parts.starts_with(&known.parts);
    let same_rest = known.name == artifact.name
        && known.description == artifact.description
        && known.metadata == artifact.metadata
        && known.extensions == artifact.extensions;
    if is_longer && same_rest {
        let parts = artifact.parts.get(known.parts.len()..).unwrap_or_default();
        let rest = Artifact {
            artifact_id: artifact.artifact_id.clone(),
            parts: parts.to_vec(),
            ..Artifact::default()
        };
        return (!parts.is_empty()).then_some((rest, true));
    }
    let is_older =
        known.parts.len() > artifact.parts.len() && known.parts.starts_with(&artifact.parts);
    (!is_older).then(|| (artifact.clone(), false))
}

/// Returns whether a status differs from the known one and is not older. A terminal state is always the
/// later one, whatever the timestamps.
fn is_newer(known: &TaskStatus, status: &TaskStatus) -> bool {
    let parts = |status: &TaskStatus| status.message.as_ref().map(|message| message.parts.clone());
    let is_older = match (known.timestamp, status.timestamp) {
        (Some(known), Some(status)) => status < known,
        _ => false,
    };
    let same = known.state == status.state && parts(known) == parts(status);
    match (known.state.is_terminal(), status.state.is_terminal()) {
        (false, true) => true,
        (true, false) => false,
        _ => !same && !is_older,
    }
}

#[cfg(test)]
mod tests;
