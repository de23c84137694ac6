//! Comparison of the notifications received with the logs of their tasks.

use std::collections::HashMap;

use a2a_types::{Artifact, Dialect, Event, Message, Part, Task, TaskId, TaskStatus};

use super::book::{Pages, Promise, Since, Told};
use super::load::DIALECTS;
use crate::ledger::Kept;
use crate::report::Report;

/// Faults of the notifications received.
#[derive(Default)]
pub(crate) struct Audit {
    /// Number of webhooks checked, by protocol version.
    webhooks: [usize; DIALECTS.len()],
    /// Number of notifications due.
    due: usize,
    undelivered: Vec<String>,
    disorder: Vec<String>,
    renamed: Vec<String>,
    invented: Vec<String>,
}

impl Audit {
    /// Compares all notifications received with the logs of all tasks.
    pub(crate) fn of(pages: &Pages, kept: &HashMap<TaskId, Kept>) -> Self {
        let mut audit = Self::default();
        for (path, promise) in &pages.promises {
            let nothing = Vec::new();
            let told = pages.told.get(path).unwrap_or(&nothing);
            match kept.get(&promise.task) {
                Some(kept) => audit.compare(path, kept, Some(promise), told),
                None => audit.undelivered.push(format!("{path}: its task is gone")),
            }
        }
        // These webhooks were not acknowledged, and yet called: they must receive a whole task.
        let unknown = pages
            .told
            .iter()
            .filter(|(path, _)| !pages.promises.contains_key(*path));
        for (path, told) in unknown {
            let task = told.first().and_then(|told| told.event.task_id());
            match task.and_then(|task| kept.get(task)) {
                Some(kept) => audit.compare(path, kept, None, told),
                None => audit.invented.push(format!("{path}: it has no task")),
            }
        }
        audit
    }

    fn compare(&mut self, path: &str, kept: &Kept, promise: Option<&Promise>, told: &[Told]) {
        if let Some(promise) = promise {
            let spoken = DIALECTS.iter().position(|known| *known == promise.dialect);
            self.webhooks[spoken.unwrap_or_default()] += 1;
        }
        let is_new = match told.first() {
            Some(told) => !matches!(told.event, Event::Task(_)),
            None => false,
        };
        if let Some(promise) = promise
            .filter(|promise| !told.is_empty() && is_new != (promise.dialect == Dialect::V1_0))
        {
            let text = format!("{path}: not told as {} does", promise.dialect.version());
            self.invented.push(text);
        }
        let told_of = |event: &&Event| !matches!(event, Event::Message(_));
        let log: Vec<_> = kept.events.values().filter(told_of).collect();
        let due_from = promise.map_or(log.len(), |promise| promise.from(kept));
        // Events between the webhook's arrival and its acknowledgement may be sent, too.
        let from = log.len().saturating_sub(told.len()).min(due_from);
        self.due += log.len() - from;
        for told in told {
            if !told.taken {
                self.undelivered
                    .push(format!("{path}: {} was never taken", told.id));
            }
            if told.early {
                self.disorder
                    .push(format!("{path}: {} came before its time", told.id));
            }
        }
        let well = told.len() == log.len() - from
            && log[from..]
                .iter()
                .zip(told)
                .all(|(event, told)| tells(&told.event, event));
        if !well {
            self.explain(path, &log, from, told);
        }
    }

    /// Records what is wrong; events before `from` need not be sent.
    fn explain(&mut self, path: &str, log: &[&Event], from: usize, told: &[Told]) {
        let mut heard = vec![false; log.len()];
        let mut last = None;
        for told in told {
            let places = (from..log.len()).chain(0..from);
            let places: Vec<_> = places
                .filter(|place| tells(&told.event, log[*place]))
                .collect();
            let new = places.iter().copied().find(|place| !heard[*place]);
            match (new, places.is_empty()) {
                (Some(place), _) => {
                    heard[place] = true;
                    if last.is_some_and(|last| place < last) {
                        let text = format!("{path}: {} came too late", told.id);
                        self.disorder.push(text);
                    }
                    last = last.max(Some(place));
                }
                (None, false) => {
                    let text = format!("{path}: {} was told under another id before", told.id);
                    self.renamed.push(text);
                }
                (None, true) => {
                    let text = format!("{path}: {} is not in the log: {:?}", told.id, told.event);
                    self.invented.push(text);
                }
            }
        }
        let due = log.iter().zip(heard).skip(from);
        let unheard = due.filter(|(_, heard)| !heard);
        self.undelivered
            .extend(unheard.map(|(event, _)| format!("{path}: untold is {event:?}")));
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

impl Promise {
    /// Returns the number of events at the beginning of the log that need not be sent to this
    /// webhook.
    fn from(&self, kept: &Kept) -> usize {
        let last = |wanted: &dyn Fn(&Event) -> bool| {
            let mut found = kept.events.iter().filter(|(_, event)| wanted(event));
            found.next_back().map(|(sequence, _)| *sequence)
        };
        let before = match &self.since {
            Since::Beginning | Since::Step(0) => Some(0),
            Since::Message(id) => {
                last(&|event| matches!(event, Event::Message(message) if message.message_id == *id))
            }
            Since::Step(number) => {
                let id = format!("step-{number}");
                last(&|event| artifact(event).is_some_and(|step| step.artifact_id.as_str() == id))
            }
        };
        // A message that never came changes nothing.
        let before = before.unwrap_or(u64::MAX);
        let earlier = kept.events.iter().filter(|(sequence, event)| {
            **sequence <= before && !matches!(event, Event::Message(_))
        });
        earlier.count()
    }
}

/// Returns whether a notification reports an event: as it is, or by the whole task.
fn tells(told: &Event, event: &Event) -> bool {
    let Event::Task(task) = told else {
        return told == event;
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
