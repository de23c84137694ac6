//! State of a mutant agent, on which its bugs depend.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_transport::{CallRequest, Principal, Update};
use a2a_types::{Event, Part, TaskId};

/// State of a mutant agent.
#[derive(Debug, Default)]
pub(super) struct Memory {
    owners: Mutex<HashMap<TaskId, Owner>>,
    tokens: Mutex<HashMap<String, Owner>>,
    read: Mutex<HashSet<TaskId>>,
    /// The last chunk of each task, from a stream that began with the task.
    chunks: Mutex<HashMap<TaskId, Update>>,
    pub(super) message_swap: MessageSwap,
}

/// Owner of a task or a page token.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    principal: Principal,
    tenant: Option<String>,
}

impl Owner {
    pub(super) fn of(call: &CallRequest) -> Self {
        Self {
            principal: call.context.principal.clone(),
            tenant: call.request.tenant().map(str::to_owned),
        }
    }

    /// Changes the caller of a call to this owner.
    pub(super) fn pose(self, call: &mut CallRequest) {
        call.context.principal = self.principal;
        call.request.set_tenant(self.tenant);
    }
}

impl Memory {
    /// Notes the owner of a task, unless it already has one.
    pub(super) fn note(&self, task: &TaskId, owner: &Owner) {
        let mut owners = lock(&self.owners);
        owners.entry(task.clone()).or_insert_with(|| owner.clone());
    }

    pub(super) fn owner(&self, task: &TaskId) -> Option<Owner> {
        lock(&self.owners).get(task).cloned()
    }

    pub(super) fn note_token(&self, token: &str, owner: &Owner) {
        if !token.is_empty() {
            lock(&self.tokens).insert(token.to_owned(), owner.clone());
        }
    }

    pub(super) fn owner_of_token(&self, token: &str) -> Option<Owner> {
        lock(&self.tokens).get(token).cloned()
    }

    /// Notes an update of a stream if it is a chunk.
    pub(super) fn note_chunk(&self, update: &Update) {
        if let Event::ArtifactUpdate(chunk) = &*update.event {
            lock(&self.chunks).insert(chunk.task_id.clone(), update.clone());
        }
    }

    pub(super) fn chunk(&self, task: &TaskId) -> Option<Update> {
        lock(&self.chunks).get(task).cloned()
    }

    /// Returns whether the task was read before, and notes that it was read now.
    pub(super) fn has_read(&self, task: &TaskId) -> bool {
        !lock(&self.read).insert(task.clone())
    }
}

/// A slot for one message that concurrent requests share, so that they mix up their messages.
#[derive(Debug, Default)]
pub(super) struct MessageSwap(Mutex<Vec<Part>>);

impl MessageSwap {
    /// Stores a message, and a moment later returns the one that is stored then.
    pub(super) async fn exchange(&self, parts: &[Part]) -> Vec<Part> {
        *lock(&self.0) = parts.to_vec();
        tokio::time::sleep(MOMENT).await;
        lock(&self.0).clone()
    }
}

/// Pause in which concurrent requests arrive.
const MOMENT: Duration = Duration::from_millis(20);

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
