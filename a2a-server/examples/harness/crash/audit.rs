//! Comparison of a journal with the database that a killed server left, and with the next server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use a2a_types::{Dialect, MessageId, SendMessageRequest, Task, TaskId};
use futures_util::{StreamExt, stream};

use super::journal::{Fate, Journal, Pages, in_short};
use super::load;
use super::recovery::Clients;
use crate::Failure;
use crate::ledger::{Kept, Ledger};
use crate::report::Report;

/// Counts what was lost.
pub(crate) struct Audit {
    journal: Arc<Journal>,
    /// The task whose history a message is in.
    places: HashMap<MessageId, TaskId>,
    /// Number of the newest task that was checked (`seq`).
    seen: i64,
    /// The messages that a task is known to hold.
    heard: HashMap<TaskId, HashSet<MessageId>>,
    /// Tasks that the last server had not finished.
    unfinished: Vec<Kept>,
    /// Tasks that the last server reported.
    promised: Vec<(TaskId, Dialect)>,
    /// Messages that are sent again to the next server.
    again: Vec<(SendMessageRequest, Dialect)>,
    letters: usize,
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
            places: HashMap::new(),
            seen: 0,
            heard: HashMap::new(),
            unfinished: Vec::new(),
            promised: Vec::new(),
            again: Vec::new(),
            letters: 0,
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
    pub(crate) fn read(&mut self, ledger: &Ledger) -> Result<(), Failure> {
        let journal = Arc::clone(&self.journal);
        let mut pages = journal.pages();
        let letters = std::mem::take(&mut pages.fresh_letters);
        let promises = std::mem::take(&mut pages.fresh_promises);
        let mut kept = by_id(ledger.later_than(self.seen)?);
        for message in &letters {
            let Some(letter) = pages.letters.get_mut(message) else {
                continue;
            };
            if let Fate::Task(task) = &letter.fate {
                let heard = self.heard.entry(task.clone()).or_default();
                heard.insert(message.clone());
            }
            self.letters += 1;
            let due = match letter.fate {
                Fate::Unknown => true,
                Fate::Reply(_) | Fate::Task(_) => self.letters.is_multiple_of(ONE_OF),
                Fate::Refused => false,
            };
            // Once is enough: else each would be sent for ever.
            if due && !std::mem::replace(&mut letter.repeated, letter.fate != Fate::Unknown) {
                self.again.push((letter.request.clone(), letter.dialect));
            }
        }
        for id in &promises {
            if !kept.contains_key(id)
                && let Some(task) = ledger.task(id)?
            {
                kept.insert(id.clone(), task);
            }
            self.promised.push((id.clone(), pages.promises[id].dialect));
        }
        self.compare(&pages, letters.iter(), promises.iter(), &kept);
        self.seen = ledger.last()?;
        self.unfinished = kept.into_values().filter(|kept| kept.active).collect();
        Ok(())
    }

    /// Compares the whole journal with the whole database.
    pub(crate) fn read_all(&mut self, ledger: &Ledger) -> Result<(), Failure> {
        let journal = Arc::clone(&self.journal);
        let pages = journal.pages();
        let kept = by_id(ledger.later_than(0)?);
        self.tasks = kept.len();
        self.compare(&pages, pages.letters.keys(), pages.promises.keys(), &kept);
        let unfinished = kept.values().filter(|kept| kept.active);
        self.unresolved
            .extend(unfinished.map(|kept| format!("task {} in the end", kept.task.id)));
        Ok(())
    }

    fn compare<'p>(
        &mut self,
        pages: &Pages,
        letters: impl Iterator<Item = &'p MessageId>,
        promises: impl Iterator<Item = &'p TaskId>,
        kept: &HashMap<TaskId, Kept>,
    ) {
        for (id, task) in kept {
            let flaw = task.flaw.iter().map(|flaw| format!("task {id}: {flaw}"));
            self.gaps.extend(flaw);
            self.place(id, task);
        }
        for id in letters {
            match &pages.letters[id].fate {
                Fate::Task(task) if self.places.get(id) != Some(task) => {
                    self.lost
                        .push(format!("message {id} is not in task {task}"));
                }
                Fate::Refused if self.places.contains_key(id) => {
                    self.doubled
                        .push(format!("message {id} was refused, and taken"));
                }
                _ => {}
            }
        }
        for id in promises {
            let promise = &pages.promises[id];
            let Some(kept) = kept.get(id) else {
                self.lost.push(format!("task {id}"));
                continue;
            };
            let broken = promise.broken_by(&kept.task);
            self.lost
                .extend(broken.map(|broken| format!("task {id}: {broken}")));
            for (sequence, said) in &promise.events {
                let event = kept.events.get(sequence).map(in_short);
                if event.as_ref() != Some(said) {
                    let text = format!("task {id}: {sequence} was {said:?}, is {event:?}");
                    self.lost.push(text);
                }
            }
        }
    }

    /// Every message is in one history, once.
    fn place(&mut self, id: &TaskId, task: &Kept) {
        let mut heard: Vec<_> = task.heard().cloned().collect();
        let count = heard.len();
        heard.sort_unstable();
        heard.dedup();
        if heard.len() < count {
            self.doubled
                .push(format!("task {id} has heard a message twice"));
        }
        for message in heard {
            let text = format!("message {message} is in task {id}, and in");
            match self.places.insert(message, id.clone()) {
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
        let unfinished = stream::iter(unfinished).map(|kept| clients.resolve(kept, resumes));
        let unfinished = unfinished.buffer_unordered(AT_ONCE).collect::<Vec<_>>();
        let again = stream::iter(std::mem::take(&mut self.again));
        let again = again.map(|(request, dialect)| {
            load::send(clients.speaking(dialect), dialect, &self.journal, request)
        });
        let again = again.buffer_unordered(AT_ONCE).collect::<Vec<_>>();
        let (outcomes, again) = tokio::join!(unfinished, again);
        self.repeated += again.len();
        if again.iter().any(Result::is_err) {
            return Err("a server is gone that nobody has killed".into());
        }
        self.recovered += outcomes.len();
        self.unresolved.extend(outcomes.into_iter().flatten());

        let clients = &clients;
        let promised = stream::iter(std::mem::take(&mut self.promised));
        let told = promised.map(|(task, dialect)| async move {
            (
                clients.speaking(dialect).get_task(task.clone(), None).await,
                task,
            )
        });
        let told: Vec<_> = told.buffer_unordered(AT_ONCE).collect().await;
        let journal = Arc::clone(&self.journal);
        let mut pages = journal.pages();
        for (told, id) in told {
            let broken = match told {
                Ok(task) => pages.promises[&id]
                    .broken_by(&task)
                    .or_else(|| self.misheard(&task)),
                Err(error) => Some(error.to_string()),
            };
            let broken = broken.map(|broken| format!("task {id}, when it was asked for: {broken}"));
            self.lost.extend(broken);
        }
        self.doubled.append(&mut pages.contradictions);
        Ok(())
    }

    /// Returns an error text if a known message of the task is not in its history exactly once.
    fn misheard(&self, told: &Task) -> Option<String> {
        let known = self.heard.get(&told.id)?;
        let count = |id: &MessageId| {
            told.history
                .iter()
                .filter(|message| message.message_id == *id)
                .count()
        };
        let odd = known.iter().find(|id| count(id) != 1)?;
        Some(format!("message {odd} is told {} times", count(odd)))
    }

    pub(crate) fn report(self, report: &mut Report) {
        report.tell("tasks", self.tasks as f64);
        report.tell("acknowledged", self.journal.pages().acknowledged as f64);
        report.tell("found unfinished", self.recovered as f64);
        report.tell("sent again after a restart", self.repeated as f64);
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

fn by_id(kept: Vec<Kept>) -> HashMap<TaskId, Kept> {
    kept.into_iter()
        .map(|kept| (kept.task.id.clone(), kept))
        .collect()
}

/// Number of requests at once.
const AT_ONCE: usize = 16;
/// One answered message in this many is sent again to the next server.
const ONE_OF: usize = 4;
