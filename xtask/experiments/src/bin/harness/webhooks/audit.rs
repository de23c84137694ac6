//! Comparison of the notifications received with the logs of their tasks.

use std::collections::HashMap;

use a2a_types::{Artifact, Event, Message, Part, ProtocolVersion, Task, TaskId, TaskStatus};

use super::delivery_record::{AcknowledgedWebhook, Deliveries, DueAfter, ReceivedNotification};
use super::load::PROTOCOL_VERSIONS;
use crate::report::Report;
use crate::tables::StoredTask;

/// Faults of the notifications received.
#[derive(Default)]
pub(crate) struct Audit {
    /// Number of webhooks checked, by protocol version.
    webhooks: [usize; PROTOCOL_VERSIONS.len()],
    /// Number of notifications due.
    due: usize,
    undelivered: Vec<String>,
    disorder: Vec<String>,
    renamed: Vec<String>,
    invented: Vec<String>,
}

impl Audit {
    /// Compares all notifications received with the logs of all tasks.
    pub(crate) fn of(deliveries: &Deliveries, stored: &HashMap<TaskId, StoredTask>) -> Self {
        let mut audit = Self::default();
        for (path, webhook_record) in &deliveries.acknowledged {
            let nothing = Vec::new();
            let received = deliveries.received.get(path).unwrap_or(&nothing);
            match stored.get(&webhook_record.task) {
                Some(stored) => audit.compare(path, stored, Some(webhook_record), received),
                None => audit
                    .undelivered
                    .push(format!("{path}: its task does not exist")),
            }
        }
        // These webhooks were not acknowledged, and yet called: they must receive a whole task.
        let unknown = deliveries
            .received
            .iter()
            .filter(|(path, _)| !deliveries.acknowledged.contains_key(*path));
        for (path, received) in unknown {
            let task = received
                .first()
                .and_then(|received| received.event.task_id());
            match task.and_then(|task| stored.get(task)) {
                Some(stored) => audit.compare(path, stored, None, received),
                None => audit.invented.push(format!("{path}: it has no task")),
            }
        }
        audit
    }

    fn compare(
        &mut self,
        path: &str,
        stored: &StoredTask,
        webhook_record: Option<&AcknowledgedWebhook>,
        received: &[ReceivedNotification],
    ) {
        if let Some(webhook_record) = webhook_record {
            let version = PROTOCOL_VERSIONS
                .iter()
                .position(|known| *known == webhook_record.protocol_version);
            self.webhooks[version.unwrap_or_default()] += 1;
        }
        let is_new = match received.first() {
            Some(received) => !matches!(received.event, Event::Task(_)),
            None => false,
        };
        if let Some(webhook_record) = webhook_record.filter(|webhook_record| {
            !received.is_empty()
                && is_new != (webhook_record.protocol_version == ProtocolVersion::V1_0)
        }) {
            let text = format!(
                "{path}: not in the form of {}",
                webhook_record.protocol_version.version()
            );
            self.invented.push(text);
        }
        let is_notified = |event: &&Event| !matches!(event, Event::Message(_));
        let log: Vec<_> = stored.events.values().filter(is_notified).collect();
        let due_from =
            webhook_record.map_or(log.len(), |webhook_record| webhook_record.from(stored));
        // Events between the webhook's arrival and its acknowledgement may be sent, too.
        let from = log.len().saturating_sub(received.len()).min(due_from);
        self.due += log.len() - from;
        for received in received {
            if !received.acknowledged {
                self.undelivered
                    .push(format!("{path}: {} was never acknowledged", received.id));
            }
            if received.early {
                self.disorder.push(format!(
                    "{path}: {} came before an earlier one was acknowledged",
                    received.id
                ));
            }
        }
        let well = received.len() == log.len() - from
            && log[from..]
                .iter()
                .zip(received)
                .all(|(event, received)| matches_event(&received.event, event));
        if !well {
            self.explain(path, &log, from, received);
        }
    }

    /// Records what is wrong; events before `from` need not be sent.
    fn explain(
        &mut self,
        path: &str,
        log: &[&Event],
        from: usize,
        received: &[ReceivedNotification],
    ) {
        let mut seen = vec![false; log.len()];
        let mut last = None;
        for received in received {
            let places = (from..log.len()).chain(0..from);
            let places: Vec<_> = places
                .filter(|index| matches_event(&received.event, log[*index]))
                .collect();
            let new = places.iter().copied().find(|index| !seen[*index]);
            match (new, places.is_empty()) {
                (Some(index), _) => {
                    seen[index] = true;
                    if last.is_some_and(|last| index < last) {
                        let text = format!("{path}: {} came too late", received.id);
                        self.disorder.push(text);
                    }
                    last = last.max(Some(index));
                }
                (None, false) => {
                    let text = format!(
                        "{path}: {} was received under another id before",
                        received.id
                    );
                    self.renamed.push(text);
                }
                (None, true) => {
                    let text = format!(
                        "{path}: {} is not in the log: {:?}",
                        received.id, received.event
                    );
                    self.invented.push(text);
                }
            }
        }
        let due = log.iter().zip(seen).skip(from);
        let unseen = due.filter(|(_, seen)| !seen);
        self.undelivered
            .extend(unseen.map(|(event, _)| format!("{path}: missing is {event:?}")));
    }

    pub(crate) fn report(self, report: &mut Report) {
        let [old, middle, new] = self.webhooks;
        report.at_least("webhooks of 0.2", 1.0, old as f64);
        report.at_least("webhooks of 0.3", 1.0, middle as f64);
        report.at_least("webhooks of 1.0", 1.0, new as f64);
        report.at_least("notifications", 1.0, self.due as f64);
        for (name, found) in [
            ("undelivered", self.undelivered),
            ("out of order", self.disorder),
            ("duplicates under another id", self.renamed),
            ("not as the log has it", self.invented),
        ] {
            report.exactly(name, 0, found.len());
            report.remark(found.iter().take(5).map(|found| format!("{name}: {found}")));
        }
    }
}

impl AcknowledgedWebhook {
    /// Returns the number of events at the beginning of the log that need not be sent to this
    /// webhook.
    fn from(&self, stored: &StoredTask) -> usize {
        let last = |wanted: &dyn Fn(&Event) -> bool| {
            let mut found = stored.events.iter().filter(|(_, event)| wanted(event));
            found.next_back().map(|(sequence, _)| *sequence)
        };
        let before = match &self.due_after {
            DueAfter::Beginning | DueAfter::Step(0) => Some(0),
            DueAfter::Message(id) => {
                last(&|event| matches!(event, Event::Message(message) if message.message_id == *id))
            }
            DueAfter::Step(number) => {
                let id = format!("step-{number}");
                last(&|event| artifact(event).is_some_and(|step| step.artifact_id.as_str() == id))
            }
        };
        // A message that never came changes nothing.
        let before = before.unwrap_or(u64::MAX);
        let earlier = stored.events.iter().filter(|(sequence, event)| {
            **sequence <= before && !matches!(event, Event::Message(_))
        });
        earlier.count()
    }
}

/// Returns whether a notification reports an event: as it is, or by the whole task.
fn matches_event(received: &Event, event: &Event) -> bool {
    let Event::Task(task) = received else {
        return received == event;
    };
    match (event.status(), artifact(event)) {
        (Some(status), _) => {
            let text = |status: &TaskStatus| status.message.as_deref().map(Message::text);
            task.status.state == status.state
                && task.status.timestamp == status.timestamp
                && text(&task.status) == text(status)
        }
        (None, Some(artifact)) => holds(task, artifact),
        (None, None) => false,
    }
}

fn holds(task: &Task, artifact: &Artifact) -> bool {
    let text = |artifact: &Artifact| -> String {
        artifact.parts.iter().filter_map(Part::as_text).collect()
    };
    task.artifacts
        .iter()
        .any(|held| held.artifact_id == artifact.artifact_id && text(held) == text(artifact))
}

fn artifact(event: &Event) -> Option<&Artifact> {
    match event {
        Event::ArtifactUpdate(update) => Some(&update.artifact),
        Event::StatusUpdate(_) | Event::Message(_) | Event::Task(_) => None,
    }
}
