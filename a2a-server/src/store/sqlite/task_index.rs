//! The index of all tasks, in memory: a list and its total read only the rows of the page.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::{TaskId, TaskState, Timestamp};
use ahash::RandomState;
use rusqlite::Connection;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::super::{ListCursor, ListQuery, NameMap, StoreError};
use super::columns::{each_row, get};

/// Positions of all tasks in the lists of their owners; about 250 bytes per task.
#[derive(Default)]
pub(super) struct TaskIndex {
    /// Tasks by owner, as the tables write the owner.
    owners: Mutex<NameMap<String, OwnerTasks>>,
    hasher: RandomState,
}

#[derive(Default)]
struct OwnerTasks {
    /// Tasks in the order of lists: the latest first.
    tasks: BTreeMap<ListCursor, IndexedTask>,
    /// Number of tasks in each state.
    states: HashMap<TaskState, usize>,
    /// The tasks of each context, by the hash of its id, the latest last: most contexts have few.
    contexts: NameMap<u64, VecDeque<(ListCursor, TaskState)>>,
}

/// The properties that filters ask for, in addition to the time.
#[derive(Clone, Copy, Debug)]
struct IndexedTask {
    state: TaskState,
    /// Hash of the context's id: contexts with equal hashes are distinguished when the tasks are read.
    context: u64,
}

/// Change of a task's place; applied once it is committed.
pub(super) enum IndexChange {
    Added {
        owner: String,
        place: ListCursor,
        state: TaskState,
        context: Option<String>,
    },
    Moved {
        owner: String,
        from: ListCursor,
        to: ListCursor,
        state: TaskState,
    },
    Removed {
        owner: String,
        place: ListCursor,
    },
}

/// The tasks of a page.
#[derive(Default)]
pub(super) struct IndexPage {
    /// Number of tasks on all pages.
    pub(super) total: usize,
    /// The tasks of this page.
    pub(super) ids: Vec<TaskId>,
    /// `true` if more come after these.
    pub(super) more: bool,
}

impl TaskIndex {
    /// Reads the index of what the tables hold.
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreError> {
        let index = Self::default();
        let sql = "select owner, id, status_time, state, context_id from task";
        each_row(connection, sql, [], |row| {
            let state: String = get(row, 3)?;
            let state: Result<_, Error> = TaskState::deserialize(state.into_deserializer());
            index.apply(IndexChange::Added {
                owner: get(row, 0)?,
                place: place(get(row, 2)?, get::<String>(row, 1)?.into()),
                state: state.map_err(StoreError::failed)?,
                context: get(row, 4)?,
            });
            Ok(true)
        })?;
        Ok(index)
    }

    pub(super) fn apply(&self, change: IndexChange) {
        let mut owners = self.lock();
        match change {
            IndexChange::Added {
                owner,
                place,
                state,
                context,
            } => {
                let context = self.hasher.hash_one(context.as_deref());
                let tasks = owners.entry(owner).or_default();
                tasks.put(place, IndexedTask { state, context });
            }
            IndexChange::Moved {
                owner,
                from,
                to,
                state,
            } => {
                if let Some(tasks) = owners.get_mut(&owner)
                    && let Some(task) = tasks.take(&from)
                {
                    tasks.put(to, IndexedTask { state, ..task });
                }
            }
            IndexChange::Removed { owner, place } => {
                if let Some(tasks) = owners.get_mut(&owner) {
                    tasks.take(&place);
                    if tasks.tasks.is_empty() {
                        owners.remove(&owner);
                    }
                }
            }
        }
    }

    /// Returns the tasks of a page of an owner's list.
    pub(super) fn page(&self, owner: &str, listing: &ListQuery) -> IndexPage {
        let context = listing.context_id.as_ref();
        let context = context.map(|id| self.hasher.hash_one(Some(id.as_str())));
        let owners = self.lock();
        match owners.get(owner) {
            Some(tasks) => tasks.page(context, listing),
            None => IndexPage::default(),
        }
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, NameMap<String, OwnerTasks>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OwnerTasks {
    fn put(&mut self, place: ListCursor, task: IndexedTask) {
        *self.states.entry(task.state).or_default() += 1;
        let context = self.contexts.entry(task.context).or_default();
        let index = context.partition_point(|(other, _)| *other > place);
        context.insert(index, (place.clone(), task.state));
        self.tasks.insert(place, task);
    }

    fn take(&mut self, place: &ListCursor) -> Option<IndexedTask> {
        let task = self.tasks.remove(place)?;
        if let Some(count) = self.states.get_mut(&task.state) {
            *count -= 1;
        }
        if let Some(context) = self.contexts.get_mut(&task.context) {
            let index = context.partition_point(|(other, _)| other > place);
            context.remove(index);
            if context.is_empty() {
                self.contexts.remove(&task.context);
            }
        }
        Some(task)
    }

    fn page(&self, context: Option<u64>, listing: &ListQuery) -> IndexPage {
        if let Some(context) = context {
            let tasks = self.contexts.get(&context).into_iter().flatten().rev();
            return filtered(listing, tasks.map(|(place, state)| (place, *state)));
        }
        let total = match (listing.since, listing.status) {
            (None, None) => self.tasks.len(),
            (None, Some(state)) => self.states.get(&state).copied().unwrap_or_default(),
            _ => {
                let tasks = self.tasks.iter();
                return filtered(listing, tasks.map(|(place, task)| (place, task.state)));
            }
        };
        let after = listing.after.as_ref();
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let tasks = self.tasks.range((after, Bound::Unbounded));
        let tasks = tasks.filter(|(_, task)| listing.status.is_none_or(|it| it == task.state));
        // The search is over once all have been found.
        let mut ids = tasks.take(total).map(|(place, _)| &place.task);
        IndexPage {
            total,
            ids: ids.by_ref().take(listing.limit).cloned().collect(),
            more: ids.next().is_some(),
        }
    }
}

/// Returns the page and the total of these tasks, the latest of which is first.
fn filtered<'i>(
    listing: &ListQuery,
    tasks: impl Iterator<Item = (&'i ListCursor, TaskState)>,
) -> IndexPage {
    let mut page = IndexPage::default();
    let since = listing.since.map_or(i64::MIN, Timestamp::as_millis);
    for (place, state) in tasks.take_while(|(place, _)| place.time.0 >= since) {
        if listing.status.is_some_and(|wanted| wanted != state) {
            continue;
        }
        page.total += 1;
        if listing.after.as_ref().is_none_or(|after| place > after) {
            page.more = page.ids.len() == listing.limit;
            if !page.more {
                page.ids.push(place.task.clone());
            }
        }
    }
    page
}

/// Returns the place of a task whose status has this time in the tables.
pub(super) fn place(status_time: i64, task: TaskId) -> ListCursor {
    ListCursor {
        time: std::cmp::Reverse(status_time),
        task,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    const STATES: [TaskState; 3] = [
        TaskState::Working,
        TaskState::Completed,
        TaskState::InputRequired,
    ];

    /// Time, id, state and context of a task.
    type Row = (i64, String, TaskState, Option<String>);

    fn add(index: &TaskIndex, (time, id, state, context): Row) {
        index.apply(IndexChange::Added {
            owner: "ada".to_owned(),
            place: place(time, id.as_str().into()),
            state,
            context,
        });
    }

    /// Reads all pages of a listing, and compares each with what a walk through all rows finds.
    #[track_caller]
    fn check(index: &TaskIndex, rows: &[Row], mut listing: ListQuery) {
        let wanted = rows.iter().filter(|(time, _, state, context)| {
            let context = context.as_deref();
            listing
                .context_id
                .as_ref()
                .is_none_or(|id| Some(id.as_str()) == context)
                && listing.status.is_none_or(|status| status == *state)
                && listing.since.is_none_or(|since| *time >= since.as_millis())
        });
        let mut expected: Vec<_> = wanted.collect();
        expected.sort_by_key(|(time, id, ..)| (Reverse(*time), id));
        let pages = expected.chunks(listing.limit).count().max(1);
        for number in 0..pages {
            let page = index.page("ada", &listing);
            let first = number * listing.limit;
            let last = expected.len().min(first + listing.limit);
            let ids: Vec<_> = page.ids.iter().map(|id| id.as_str()).collect();
            let places = &expected[first..last];
            assert_eq!(ids, places.iter().map(|row| &*row.1).collect::<Vec<_>>());
            assert_eq!(page.total, expected.len());
            assert_eq!(page.more, number + 1 < pages);
            let after = places.last().map(|row| place(row.0, row.1.as_str().into()));
            listing.after = after;
        }
    }

    #[test]
    fn pages_equal_a_walk_through_all_tasks() {
        let index = TaskIndex::default();
        let mut rows: Vec<Row> = Vec::new();
        for number in 0..90_usize {
            // Several tasks have the same time.
            let time = (number * 7 % 30) as i64;
            let context = (number % 4 > 0).then(|| format!("c{}", number % 4));
            let row = (time, format!("t{number}"), STATES[number % 3], context);
            add(&index, row.clone());
            rows.push(row);
        }
        for (number, row) in rows.iter_mut().enumerate().filter(|(at, _)| at % 5 == 0) {
            let from = place(row.0, row.1.as_str().into());
            (row.0, row.2) = (50 + number as i64, TaskState::Completed);
            index.apply(IndexChange::Moved {
                owner: "ada".to_owned(),
                from,
                to: place(row.0, row.1.as_str().into()),
                state: row.2,
            });
        }
        for (time, id, ..) in rows.drain(60..) {
            let place = place(time, id.as_str().into());
            let owner = "ada".to_owned();
            index.apply(IndexChange::Removed { owner, place });
        }
        let contexts = [None, Some("c1"), Some("none")];
        let states = [None, Some(TaskState::Completed), Some(TaskState::Failed)];
        for (context, state) in contexts
            .iter()
            .flat_map(|it| states.map(|state| (*it, state)))
        {
            for since in [None, Some(15), Some(1000)] {
                let mut listing = ListQuery::new(7);
                listing.context_id = context.map(Into::into);
                listing.status = state;
                listing.since = since.and_then(Timestamp::from_millis);
                check(&index, &rows, listing);
            }
        }
        assert_eq!(index.page("grace", &ListQuery::new(7)).total, 0);
    }
}
