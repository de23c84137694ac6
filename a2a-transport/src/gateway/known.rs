//! What a gateway remembers of the tasks that were begun through it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use a2a_types::{ContextId, Dialect, TaskId};

use crate::{Context, Principal};

/// A task as its caller names it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Place {
    principal: Principal,
    pub(super) task: TaskId,
}

impl Place {
    pub(super) fn new(context: &Context, task: TaskId) -> Self {
        Self {
            principal: context.principal.clone(),
            task,
        }
    }
}

/// What is known of a task.
#[derive(Clone, Debug)]
pub(super) struct KnownTask {
    /// The agent's own id.
    pub(super) id: TaskId,
    /// Its conversation, if anyone said.
    pub(super) context: Option<ContextId>,
    /// The generation in which it was begun.
    pub(super) dialect: Dialect,
}

/// The tasks that are remembered, the oldest forgotten first.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Tasks>);

#[derive(Debug, Default)]
struct Tasks {
    by_place: HashMap<Place, KnownTask>,
    order: VecDeque<Place>,
}

/// How many tasks are remembered.
const CAPACITY: usize = 100_000;

impl Known {
    pub(super) fn get(&self, place: &Place) -> Option<KnownTask> {
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.by_place.get(place).cloned()
    }

    /// Remembers a task; one that is known already stays what it is.
    pub(super) fn remember(&self, place: Place, task: KnownTask) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.by_place.contains_key(&place) {
            return;
        }
        if tasks.order.len() == CAPACITY
            && let Some(oldest) = tasks.order.pop_front()
        {
            tasks.by_place.remove(&oldest);
        }
        tasks.order.push_back(place.clone());
        tasks.by_place.insert(place, task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let known = Known::default();
        let place = |number: usize| {
            Place::new(
                &Context::default(),
                TaskId::from(number.to_string().as_str()),
            )
        };
        for number in 0..=CAPACITY {
            let task = KnownTask {
                id: "t".into(),
                context: None,
                dialect: Dialect::V0_1,
            };
            known.remember(place(number), task);
        }
        assert!(known.get(&place(0)).is_none());
        assert!(known.get(&place(1)).is_some());
        assert!(known.get(&place(CAPACITY)).is_some());
    }
}
