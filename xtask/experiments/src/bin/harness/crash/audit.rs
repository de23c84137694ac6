//! Comparison of a journal with the database that a killed server left, and with the next server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use a2a_types::{MessageId, ProtocolVersion, SendMessageRequest, Task, TaskId};
use futures_util::{StreamExt, stream};

use super::journal::{Entries, Journal, MessageOutcome, in_short};
use super::load;
use super::recovery::Clients;
use crate::Failure;
use crate::report::Report;
use crate::tables::{StoredTask, TaskTables};

/// Counts what was lost.
pub(crate) struct Audit {
    journal: Arc<Journal>,
    /// The task whose history a message is in.
    task_of_message: HashMap<MessageId, TaskId>,
    /// Number of the newest task that was checked (`seq`).
    seen: i64,
    /// The messages that a task is known to hold.
    accepted: HashMap<TaskId, HashSet<MessageId>>,
    /// Tasks that the last server had not finished.
    unfinished: Vec<StoredTask>,
    /// Tasks that the last server reported.
    to_check: Vec<(TaskId, ProtocolVersion)>,
    /// Messages that are sent again to the next server.
    again: Vec<(SendMessageRequest, ProtocolVersion)>,
    messages: usize,
    repeated: usize,
    tasks: usize,
    recovered: usize,
    lost: Vec<String>,
    doubled: Vec<String>,
    gaps: Vec<String>,
    unresolved: Vec<String>,
}

impl Audit {
    pub(crate) fn new(journal: Arc<Journal>) -> Self {
        Self {
            journal,
            task_of_message: HashMap::new(),
            seen: 0,
            accepted: HashMap::new(),
            unfinished: Vec::new(),
            to_check: Vec::new(),
            again: Vec::new(),
            messages: 0,
            repeated: 0,
            tasks: 0,
            recovered: 0,
            lost: Vec::new(),
            doubled: Vec::new(),
            gaps: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    /// Compares what is new in the journal with what a dead server has left.
    pub(crate) fn read(&mut self, tables: &TaskTables) -> Result<(), Failure> {
        let journal = Arc::clone(&self.journal);
        let mut entries = journal.entries();
        let messages = std::mem::take(&mut entries.new_messages);
        let reports = std::mem::take(&mut entries.new_reports);
        let mut stored = by_id(tables.later_than(self.seen)?);
        for message in &messages {
            let Some(sent) = entries.messages.get_mut(message) else {
                continue;
            };
            if let MessageOutcome::Task(task) = &sent.outcome {
                let accepted = self.accepted.entry(task.clone()).or_default();
                accepted.insert(message.clone());
            }
            self.messages += 1;
            let due = match sent.outcome {
                MessageOutcome::Unknown => true,
                MessageOutcome::Reply(_) | MessageOutcome::Task(_) => {
                    self.messages.is_multiple_of(RESEND_INTERVAL)
                }
                MessageOutcome::Refused => false,
            };
            // Sent again only once, because otherwise each would be repeated forever.
            if due
                && !std::mem::replace(&mut sent.repeated, sent.outcome != MessageOutcome::Unknown)
            {
                self.again
                    .push((sent.request.clone(), sent.protocol_version));
            }
        }
        for id in &reports {
            if !stored.contains_key(id)
                && let Some(task) = tables.task(id)?
            {
                stored.insert(id.clone(), task);
            }
            self.to_check
                .push((id.clone(), entries.reports[id].protocol_version));
        }
        self.compare(&entries, messages.iter(), reports.iter(), &stored);
        self.seen = tables.last()?;
        self.unfinished = stored
            .into_values()
            .filter(|stored| stored.active)
            .collect();
        Ok(())
    }

    /// Compares the whole journal with the whole database.
    pub(crate) fn read_all(&mut self, tables: &TaskTables) -> Result<(), Failure> {
        let journal = Arc::clone(&self.journal);
        let entries = journal.entries();
        let stored = by_id(tables.later_than(0)?);
        self.tasks = stored.len();
        self.compare(
            &entries,
            entries.messages.keys(),
            entries.reports.keys(),
            &stored,
        );
        let unfinished = stored.values().filter(|stored| stored.active);
        self.unresolved
            .extend(unfinished.map(|stored| format!("task {} in the end", stored.task.id)));
        Ok(())
    }

    fn compare<'p>(
        &mut self,
        entries: &Entries,
        messages: impl Iterator<Item = &'p MessageId>,
        reports: impl Iterator<Item = &'p TaskId>,
        stored: &HashMap<TaskId, StoredTask>,
    ) {
        for (id, task) in stored {
            let fault = task.fault.iter().map(|fault| format!("task {id}: {fault}"));
            self.gaps.extend(fault);
            self.assign_messages(id, task);
        }
        for id in messages {
            match &entries.messages[id].outcome {
                MessageOutcome::Task(task) if self.task_of_message.get(id) != Some(task) => {
                    self.lost
                        .push(format!("message {id} is not in task {task}"));
                }
                MessageOutcome::Refused if self.task_of_message.contains_key(id) => {
                    self.doubled
                        .push(format!("message {id} was refused, and taken"));
                }
                _ => {}
            }
        }
        for id in reports {
            let report = &entries.reports[id];
            let Some(stored) = stored.get(id) else {
                self.lost.push(format!("task {id}"));
                continue;
            };
            let broken = report.contradiction(&stored.task);
            self.lost
                .extend(broken.map(|broken| format!("task {id}: {broken}")));
            for (sequence, reported) in &report.events {
                let event = stored.events.get(sequence).map(in_short);
                if event.as_ref() != Some(reported) {
                    let text = format!("task {id}: {sequence} was {reported:?}, is {event:?}");
                    self.lost.push(text);
                }
            }
        }
    }

    /// Every message is in one history, once.
    fn assign_messages(&mut self, id: &TaskId, task: &StoredTask) {
        let mut ids: Vec<_> = task.user_message_ids().cloned().collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < count {
            self.doubled
                .push(format!("task {id} contains a message twice"));
        }
        for message in ids {
            let text = format!("message {message} is in task {id}, and in");
            match self.task_of_message.insert(message, id.clone()) {
                Some(other) if other != *id => self.doubled.push(format!("{text} {other}")),
                _ => {}
            }
        }
    }

    /// Reads reported tasks from the next server, sends unanswered messages and some answered ones
    /// again, and waits until unfinished tasks have settled.
    pub(crate) async fn ask(&mut self, url: &str, resumes: bool) -> Result<(), Failure> {
        let clients = Clients::of(url)?;
        let unfinished = std::mem::take(&mut self.unfinished);
        let unfinished = stream::iter(unfinished).map(|stored| clients.resolve(stored, resumes));
        let unfinished = unfinished
            .buffer_unordered(MAX_CONCURRENT)
            .collect::<Vec<_>>();
        let again = stream::iter(std::mem::take(&mut self.again));
        let again = again.map(|(request, protocol_version)| {
            load::send(
                clients.speaking(protocol_version),
                protocol_version,
                &self.journal,
                request,
            )
        });
        let again = again.buffer_unordered(MAX_CONCURRENT).collect::<Vec<_>>();
        let (outcomes, again) = tokio::join!(unfinished, again);
        self.repeated += again.len();
        if again.iter().any(Result::is_err) {
            return Err("a server has ended that was not killed".into());
        }
        self.recovered += outcomes.len();
        self.unresolved.extend(outcomes.into_iter().flatten());

        let clients = &clients;
        let to_check = stream::iter(std::mem::take(&mut self.to_check));
        let answered = to_check.map(|(task, protocol_version)| async move {
            (
                clients
                    .speaking(protocol_version)
                    .get_task(task.clone(), None)
                    .await,
                task,
            )
        });
        let answered: Vec<_> = answered.buffer_unordered(MAX_CONCURRENT).collect().await;
        let journal = Arc::clone(&self.journal);
        let mut entries = journal.entries();
        for (answered, id) in answered {
            let broken = match answered {
                Ok(task) => entries.reports[&id]
                    .contradiction(&task)
                    .or_else(|| self.message_count_error(&task)),
                Err(error) => Some(error.to_string()),
            };
            let broken = broken.map(|broken| format!("task {id}, when it was asked for: {broken}"));
            self.lost.extend(broken);
        }
        self.doubled.append(&mut entries.contradictions);
        Ok(())
    }

    /// Returns an error text if a known message of the task is not in its history exactly once.
    fn message_count_error(&self, answered: &Task) -> Option<String> {
        let known = self.accepted.get(&answered.id)?;
        let count = |id: &MessageId| {
            answered
                .history
                .iter()
                .filter(|message| message.message_id == *id)
                .count()
        };
        let odd = known.iter().find(|id| count(id) != 1)?;
        Some(format!("message {odd} occurs {} times", count(odd)))
    }

    pub(crate) fn report(self, report: &mut Report) {
        report.note("tasks", self.tasks as f64);
        report.note("acknowledged", self.journal.entries().acknowledged as f64);
        report.note("found unfinished", self.recovered as f64);
        report.note("sent again after a restart", self.repeated as f64);
        for (name, found) in [
            ("lost", self.lost),
            ("doubled", self.doubled),
            ("gaps", self.gaps),
            ("unresolved", self.unresolved),
        ] {
            report.exactly(name, 0, found.len());
            report.remark(found.iter().take(5).map(|found| format!("{name}: {found}")));
        }
    }
}

fn by_id(stored: Vec<StoredTask>) -> HashMap<TaskId, StoredTask> {
    stored
        .into_iter()
        .map(|stored| (stored.task.id.clone(), stored))
        .collect()
}

/// Number of requests at once.
const MAX_CONCURRENT: usize = 16;
/// One answered message in this many is sent again to the next server.
const RESEND_INTERVAL: usize = 4;
