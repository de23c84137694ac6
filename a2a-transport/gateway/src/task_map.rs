//! Tasks and conversations that were begun through a gateway, by owner.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_transport::Principal;
use a2a_types::{ContextId, ProtocolVersion, TaskId};

use crate::owner::Owner;

/// A task as the agent knows it.
#[derive(Clone, Debug)]
pub(crate) struct KnownTask {
    /// The agent's id of the task.
    pub(crate) id: TaskId,
    /// The agent's id of the conversation, if it sent one.
    pub(crate) context: Option<ContextId>,
    /// The protocol version in which the task was begun.
    pub(crate) protocol_version: ProtocolVersion,
}

/// The task belongs to another owner.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Foreign;

/// A bounded map of names to tasks.
///
/// Beyond its bound the least recently used entry is evicted, of any owner; of a principal that holds more
/// than [`FAIR_SHARE`] of the bound, the least recently used of its own.
#[derive(Debug)]
pub(crate) struct TaskMap {
    most_bytes: usize,
    entries: Mutex<Entries>,
}

/// Entries with their indexes; each holds exactly the keys of `by_key`.
#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Arc<Key>, Entry>,
    by_use: BTreeMap<u64, Arc<Key>>,
    /// The keys of tasks, by the agent's id.
    by_agent: HashMap<TaskId, Arc<Key>>,
    shares: HashMap<Principal, PrincipalEntries>,
    tasks_of: HashMap<Owner, usize>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug, Eq, Hash, PartialEq)]
struct Key {
    owner: Owner,
    name: Name,
}

/// Name of a thing that an owner can refer to.
#[derive(Debug, Eq, Hash, PartialEq)]
enum Name {
    Task(TaskId),
    /// A conversation that the agent named.
    Context(ContextId),
    /// Hash of a long id of the owner's.
    Hash(String),
}

#[derive(Debug)]
struct Entry {
    used: u64,
    bytes: usize,
    value: Value,
}

/// Meaning of a name.
#[derive(Debug)]
enum Value {
    Task(KnownTask),
    /// A conversation, by the name that it also has at the agent.
    Context,
    Id(String),
}

/// Entries of one principal.
#[derive(Debug, Default)]
struct PrincipalEntries {
    by_use: BTreeSet<u64>,
    bytes: usize,
}

/// Bound of the map: about 100,000 tasks with conversations of their own.
const MAX_BYTES: usize = 128 << 20;
/// Part of the bound that no other principal can take away.
const FAIR_SHARE: usize = 8;
/// Bytes of an entry and its places in the indexes, names apart.
const ENTRY_BYTES: usize = 512;

impl Default for TaskMap {
    fn default() -> Self {
        Self::new(MAX_BYTES)
    }
}

impl TaskMap {
    fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            entries: Mutex::default(),
        }
    }

    /// Returns the task that an owner calls by this name.
    pub(crate) fn get(&self, owner: &Owner, name: &TaskId) -> Option<KnownTask> {
        let name = Name::Task(name.clone());
        match &self.entries().used(owner, name)?.value {
            Value::Task(task) => Some(task.clone()),
            Value::Context | Value::Id(_) => None,
        }
    }

    /// Returns the id of an owner that has this hash.
    pub(crate) fn long_id(&self, owner: &Owner, hash: &str) -> Option<String> {
        let name = Name::Hash(hash.to_owned());
        match &self.entries().used(owner, name)?.value {
            Value::Id(id) => Some(id.clone()),
            Value::Context | Value::Task(_) => None,
        }
    }

    /// Keeps an id of an owner by its hash.
    pub(crate) fn keep_long_id(&self, owner: &Owner, hash: String, id: &str) {
        let bytes = hash.len() + id.len();
        let mut entries = self.entries();
        let value = Value::Id(id.to_owned());
        entries.add(owner, Name::Hash(hash), value, bytes);
        entries.shrink(self.most_bytes, &owner.principal);
    }

    /// Returns the owner's name of the task that the agent calls `id`; `None` if it is not the owner's.
    pub(crate) fn name_of(&self, owner: &Owner, id: &TaskId) -> Option<TaskId> {
        let entries = self.entries();
        let key = entries.by_agent.get(id)?;
        match &key.name {
            Name::Task(name) if key.owner == *owner => Some(name.clone()),
            _ => None,
        }
    }

    /// Returns whether the agent gave this owner a conversation of this name.
    pub(crate) fn has_context(&self, owner: &Owner, context: &ContextId) -> bool {
        let name = Name::Context(context.clone());
        self.entries().used(owner, name).is_some()
    }

    /// Returns how many tasks an owner has.
    pub(crate) fn count(&self, owner: &Owner) -> usize {
        let entries = self.entries();
        entries.tasks_of.get(owner).copied().unwrap_or_default()
    }

    /// Gives a task to an owner under a name; a name that is given already stays what it is.
    ///
    /// Fails if the agent's id is that of another owner's task.
    pub(crate) fn give(&self, owner: &Owner, name: TaskId, task: KnownTask) -> Result<(), Foreign> {
        let mut entries = self.entries();
        if let Some(key) = entries.by_agent.get(&task.id)
            && key.owner != *owner
        {
            return Err(Foreign);
        }
        let context = task.context.as_ref();
        let bytes = 2 * name.as_str().len()
            + 2 * task.id.as_str().len()
            + context.map_or(0, |context| context.as_str().len());
        entries.add(owner, Name::Task(name), Value::Task(task), bytes);
        entries.shrink(self.most_bytes, &owner.principal);
        Ok(())
    }

    /// Gives a conversation that the agent named to an owner.
    pub(crate) fn give_context(&self, owner: &Owner, context: ContextId) {
        let bytes = context.as_str().len();
        let mut entries = self.entries();
        entries.add(owner, Name::Context(context), Value::Context, bytes);
        entries.shrink(self.most_bytes, &owner.principal);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Returns an entry, from now on the last to go.
    fn used(&mut self, owner: &Owner, name: Name) -> Option<&Entry> {
        let key = Key {
            owner: owner.clone(),
            name,
        };
        let entry = self.by_key.get_mut(&key)?;
        let key = self.by_use.remove(&entry.used)?;
        let share = self.shares.entry(owner.principal.clone()).or_default();
        share.by_use.remove(&entry.used);
        self.uses += 1;
        entry.used = self.uses;
        share.by_use.insert(entry.used);
        self.by_use.insert(entry.used, key);
        Some(entry)
    }

    fn add(&mut self, owner: &Owner, name: Name, value: Value, names: usize) {
        let key = Arc::new(Key {
            owner: owner.clone(),
            name,
        });
        if self.by_key.contains_key(&key) {
            return;
        }
        self.uses += 1;
        let entry = Entry {
            used: self.uses,
            bytes: ENTRY_BYTES + names + 2 * owner.size(),
            value,
        };
        if let Value::Task(task) = &entry.value {
            self.by_agent.insert(task.id.clone(), Arc::clone(&key));
            *self.tasks_of.entry(owner.clone()).or_default() += 1;
        }
        let share = self.shares.entry(owner.principal.clone()).or_default();
        share.by_use.insert(entry.used);
        share.bytes += entry.bytes;
        self.bytes += entry.bytes;
        self.by_use.insert(entry.used, Arc::clone(&key));
        self.by_key.insert(key, entry);
    }

    /// Removes entries until the map is within its bound, to which `principal` has added.
    fn shrink(&mut self, most_bytes: usize, principal: &Principal) {
        while self.bytes > most_bytes {
            let share = self.shares.get(principal);
            let unfair = share.filter(|share| share.bytes > most_bytes / FAIR_SHARE);
            let oldest = match unfair {
                Some(share) => share.by_use.first().copied(),
                None => self.by_use.keys().next().copied(),
            };
            let Some(oldest) = oldest else { return };
            self.remove(oldest);
        }
    }

    fn remove(&mut self, used: u64) {
        let Some(key) = self.by_use.remove(&used) else {
            return;
        };
        let Some(entry) = self.by_key.remove(&key) else {
            return;
        };
        self.bytes -= entry.bytes;
        let principal = &key.owner.principal;
        if let Some(share) = self.shares.get_mut(principal) {
            share.by_use.remove(&used);
            share.bytes -= entry.bytes;
            if share.by_use.is_empty() {
                self.shares.remove(principal);
            }
        }
        let Value::Task(task) = entry.value else {
            return;
        };
        if self.by_agent.get(&task.id).is_some_and(|of| *of == key) {
            self.by_agent.remove(&task.id);
        }
        if let Some(count) = self.tasks_of.get_mut(&key.owner) {
            *count -= 1;
            if *count == 0 {
                self.tasks_of.remove(&key.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use a2a_types::{GetTaskRequest, Request};

    use super::*;
    use a2a_transport::Context;

    fn owner(name: &str) -> Owner {
        let context = Context::default().principal(Principal::named(name));
        Owner::of(&Request::GetTask(GetTaskRequest::default()), &context)
    }

    fn give(map: &TaskMap, name: &str, task: &str) -> Result<(), Foreign> {
        let known = KnownTask {
            id: task.into(),
            context: None,
            protocol_version: ProtocolVersion::V1_0,
        };
        map.give(&owner(name), task.into(), known)
    }

    fn has(map: &TaskMap, name: &str, task: &str) -> bool {
        map.get(&owner(name), &task.into()).is_some()
    }

    /// Returns a map with room for `count` tasks, and a little more.
    fn map(count: usize) -> TaskMap {
        TaskMap::new(count * (ENTRY_BYTES + 50))
    }

    #[test]
    fn the_least_recently_used_entry_goes_first() {
        let map = map(16);
        for number in 0..16 {
            give(&map, &format!("owner {number}"), &number.to_string()).unwrap();
        }
        assert!(has(&map, "owner 0", "0"));
        give(&map, "another", "16").unwrap();
        assert!(has(&map, "owner 0", "0"), "used since");
        assert!(!has(&map, "owner 1", "1"));
        assert!(!has(&map, "owner 0", "1"), "an evicted task has no owner");
        assert_eq!(map.count(&owner("owner 1")), 0);
        assert_eq!(map.name_of(&owner("owner 1"), &"1".into()), None);
    }

    #[test]
    fn a_principal_beyond_its_share_makes_room_itself() {
        let map = map(64);
        give(&map, "alice", "first").unwrap();
        for number in 0..1_000 {
            give(&map, "mallory", &number.to_string()).unwrap();
        }
        assert!(has(&map, "alice", "first"));
        assert!(!has(&map, "mallory", "0"));
        assert!(has(&map, "mallory", "999"));
        let entries = map.entries();
        assert!(entries.bytes <= map.most_bytes);
        assert_eq!(entries.by_key.len(), entries.by_use.len());
        assert_eq!(entries.by_key.len(), entries.by_agent.len());
        let shares = entries.shares.values();
        assert_eq!(
            shares.map(|share| share.bytes).sum::<usize>(),
            entries.bytes
        );
    }

    #[test]
    fn long_names_count() {
        let map = map(4);
        give(&map, "a", "0").unwrap();
        map.give_context(&owner("b"), "c".repeat(1 << 20).into());
        assert!(!map.has_context(&owner("b"), &"c".repeat(1 << 20).into()));
        assert!(has(&map, "a", "0"));
        assert_eq!(map.entries().shares.len(), 1);
    }

    #[test]
    fn a_task_of_another_owner_is_not_given() {
        let map = map(4);
        give(&map, "alice", "t").unwrap();
        assert_eq!(give(&map, "mallory", "t"), Err(Foreign));
        assert_eq!(give(&map, "alice", "t"), Ok(()));
        assert!(!has(&map, "mallory", "t"));
        assert_eq!(map.name_of(&owner("mallory"), &"t".into()), None);
    }

    #[test]
    fn conversations_belong_to_owners() {
        let map = map(4);
        map.give_context(&owner("alice"), "c".into());
        assert!(map.has_context(&owner("alice"), &"c".into()));
        assert!(!map.has_context(&owner("mallory"), &"c".into()));
        assert!(!has(&map, "alice", "c"), "no task");
    }
}
