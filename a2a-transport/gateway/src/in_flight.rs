//! Names of tasks whose first message is in flight to the agent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use a2a_types::TaskId;
use tokio::sync::watch;

use crate::owner::Owner;

/// Names that callers have given to tasks which the agent has not answered yet, so that calls about them wait
/// for its id instead of being refused. Each is held by a call that is open.
#[derive(Debug, Default)]
pub(crate) struct NamesInFlight {
    names: Mutex<HashMap<(Owner, TaskId), watch::Receiver<()>>>,
}

/// A name in flight, until this is dropped.
#[derive(Debug)]
pub(crate) struct NameInFlight {
    names: Arc<NamesInFlight>,
    key: (Owner, TaskId),
    /// Dropped after the entry, which wakes the calls that wait.
    _sender: watch::Sender<()>,
}

impl NamesInFlight {
    /// Enters a name. Errors: another call has entered it.
    pub(crate) fn enter(
        self: &Arc<Self>,
        owner: &Owner,
        name: &TaskId,
    ) -> Result<NameInFlight, watch::Receiver<()>> {
        let key = (owner.clone(), name.clone());
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        match names.entry(key) {
            Entry::Occupied(entered) => Err(entered.get().clone()),
            Entry::Vacant(vacant) => {
                let key = vacant.key().clone();
                let (sender, receiver) = watch::channel(());
                vacant.insert(receiver);
                Ok(NameInFlight {
                    names: Arc::clone(self),
                    key,
                    _sender: sender,
                })
            }
        }
    }

    /// Returns the end of the call that has entered a name, if there is one.
    pub(crate) fn entered(&self, owner: &Owner, name: &TaskId) -> Option<watch::Receiver<()>> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&(owner.clone(), name.clone())).cloned()
    }
}

impl Drop for NameInFlight {
    fn drop(&mut self) {
        let mut names = self
            .names
            .names
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        names.remove(&self.key);
    }
}
