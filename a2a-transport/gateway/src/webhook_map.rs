//! Webhooks that callers have registered through a gateway.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_transport::Context;
use a2a_types::TaskPushNotificationConfig as Config;
use a2a_types::{ConfigId, ContextId, Error as A2aError, ErrorKind, ProtocolVersion, TaskId};

use crate::owner::{Owner, Scope};

/// Webhooks of one task, behind one URL of the gateway.
#[derive(Clone)]
pub(crate) struct TaskWebhooks {
    pub(crate) owner: Owner,
    pub(crate) scope: Scope,
    /// The caller's id of the task, if it chose it.
    pub(crate) named: Option<TaskId>,
    /// The agent's id of the task, once it is known.
    pub(crate) task: Option<TaskId>,
    /// The id of the config at the agent.
    pub(crate) agents_id: ConfigId,
    /// Context of the call that registered the first webhook, to read the task with.
    pub(crate) context: Context,
    pub(crate) tenant: Option<String>,
    pub(crate) webhooks: Vec<Webhook>,
}

/// A webhook of a caller.
#[derive(Clone)]
pub(crate) struct Webhook {
    pub(crate) config: Config,
    /// Protocol version of its caller.
    pub(crate) protocol_version: ProtocolVersion,
    /// Hash of the last body that it has accepted.
    pub(crate) delivered: Option<[u8; 32]>,
}

/// A bounded map of secrets to the webhooks of tasks. Beyond its bound the least recently used are evicted.
pub(crate) struct WebhookMap {
    most_bytes: usize,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_secret: HashMap<String, Entry>,
    by_task: HashMap<(Owner, TaskId), String>,
    by_use: BTreeMap<u64, String>,
    uses: u64,
    bytes: usize,
}

struct Entry {
    used: u64,
    bytes: usize,
    webhooks: TaskWebhooks,
}

/// Maximum number of webhooks of a task.
const MAX_WEBHOOKS: usize = 16;

/// Bound of the map: about 20,000 tasks with a webhook each.
const MAX_BYTES: usize = 32 << 20;

/// Bytes of the webhooks of a task, and of each, names and secrets apart.
const ENTRY_BYTES: usize = 1024;

impl Default for WebhookMap {
    fn default() -> Self {
        Self {
            most_bytes: MAX_BYTES,
            entries: Mutex::default(),
        }
    }
}

impl WebhookMap {
    /// Adds the webhooks of a task, and returns the secret of their URL.
    pub(crate) fn add(&self, webhooks: TaskWebhooks) -> String {
        // A random number of 122 bits.
        let secret = ContextId::random().as_str().to_owned();
        let mut entries = self.entries();
        if let (owner, Some(task)) = (&webhooks.owner, &webhooks.task) {
            let key = (owner.clone(), task.clone());
            entries.by_task.insert(key, secret.clone());
        }
        entries.uses += 1;
        let entry = Entry {
            used: entries.uses,
            bytes: bytes_of(&webhooks),
            webhooks,
        };
        entries.bytes += entry.bytes;
        entries.by_use.insert(entry.used, secret.clone());
        entries.by_secret.insert(secret.clone(), entry);
        while entries.bytes > self.most_bytes
            && let Some(oldest) = entries.by_use.values().next().cloned()
        {
            entries.remove(&oldest);
        }
        secret
    }

    /// Returns the webhooks behind a URL.
    pub(crate) fn get(&self, secret: &str) -> Option<TaskWebhooks> {
        let mut entries = self.entries();
        entries.touch(secret);
        let entry = entries.by_secret.get(secret)?;
        Some(entry.webhooks.clone())
    }

    /// Returns the webhooks of a task, and the secret of their URL.
    pub(crate) fn of_task(&self, owner: &Owner, task: &TaskId) -> Option<(String, TaskWebhooks)> {
        let key = (owner.clone(), task.clone());
        let secret = self.entries().by_task.get(&key).cloned()?;
        Some((secret.clone(), self.get(&secret)?))
    }

    /// Changes the webhooks behind a URL, if they still exist.
    pub(crate) fn change<R>(
        &self,
        secret: &str,
        change: impl FnOnce(&mut TaskWebhooks) -> R,
    ) -> Option<R> {
        let mut entries = self.entries();
        let entry = entries.by_secret.get_mut(secret)?;
        let result = change(&mut entry.webhooks);
        let before = std::mem::replace(&mut entry.bytes, bytes_of(&entry.webhooks));
        let after = entry.bytes;
        entries.bytes = entries.bytes - before + after;
        Some(result)
    }

    /// Records the task of webhooks that were sent with its first message.
    pub(crate) fn bind(&self, secret: &str, task: &TaskId) {
        let owner = self.change(secret, |webhooks| {
            webhooks.task = Some(task.clone());
            webhooks.owner.clone()
        });
        if let Some(owner) = owner {
            let key = (owner, task.clone());
            self.entries().by_task.insert(key, secret.to_owned());
        }
    }

    /// Removes the webhooks behind a URL.
    pub(crate) fn remove(&self, secret: &str) {
        self.entries().remove(secret);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn touch(&mut self, secret: &str) {
        let Some(entry) = self.by_secret.get_mut(secret) else {
            return;
        };
        self.by_use.remove(&entry.used);
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, secret.to_owned());
    }

    fn remove(&mut self, secret: &str) {
        let Some(entry) = self.by_secret.remove(secret) else {
            return;
        };
        self.by_use.remove(&entry.used);
        self.bytes -= entry.bytes;
        if let Some(task) = entry.webhooks.task {
            let key = (entry.webhooks.owner, task);
            if self.by_task.get(&key).is_some_and(|of| of == secret) {
                self.by_task.remove(&key);
            }
        }
    }
}

impl TaskWebhooks {
    /// Adds a webhook in place of one of the same id. Errors: the task has too many.
    pub(crate) fn put(&mut self, webhook: Webhook) -> Result<(), A2aError> {
        let known = self.webhooks.iter_mut();
        let mut known = known.filter(|known| known.config.id == webhook.config.id);
        if let Some(known) = known.next() {
            *known = webhook;
            return Ok(());
        }
        if self.webhooks.len() == MAX_WEBHOOKS {
            let text = format!(
                "the task has {MAX_WEBHOOKS} push notification configs, and may have no more"
            );
            return Err(A2aError::new(ErrorKind::InvalidParams, text));
        }
        self.webhooks.push(webhook);
        Ok(())
    }
}

fn bytes_of(webhooks: &TaskWebhooks) -> usize {
    let id = |id: &Option<TaskId>| id.as_ref().map_or(0, |id| id.as_str().len());
    let names = id(&webhooks.named) + 2 * id(&webhooks.task) + 2 * webhooks.owner.size();
    let of_one = |webhook: &Webhook| {
        let config = &webhook.config;
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let authentication = config.authentication.as_ref();
        ENTRY_BYTES
            + config.url.len()
            + config.id.as_str().len()
            + text(&config.token)
            + authentication.map_or(0, |it| it.scheme.len() + text(&it.credentials))
    };
    let credentials = webhooks.context.credentials.as_ref();
    let names = names + credentials.map_or(0, |credentials| credentials.size());
    ENTRY_BYTES + names + webhooks.webhooks.iter().map(of_one).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use a2a_types::{GetTaskRequest, Request};

    use super::*;

    fn webhooks(task: Option<&str>) -> TaskWebhooks {
        let context = Context::default();
        let owner = Owner::of(&Request::GetTask(GetTaskRequest::default()), &context);
        TaskWebhooks {
            scope: Scope::of(&owner),
            owner,
            named: None,
            task: task.map(TaskId::from),
            agents_id: ConfigId::default(),
            context,
            tenant: None,
            webhooks: Vec::new(),
        }
    }

    fn webhook(id: &str) -> Webhook {
        Webhook {
            config: Config {
                id: id.into(),
                ..Config::default()
            },
            protocol_version: ProtocolVersion::V1_0,
            delivered: None,
        }
    }

    #[test]
    fn the_least_recently_used_webhooks_go_first() {
        let map = WebhookMap {
            most_bytes: 4 * ENTRY_BYTES,
            ..WebhookMap::default()
        };
        let owner = webhooks(None).owner;
        let secrets = [(); 3].map(|()| map.add(webhooks(None)));
        map.bind(&secrets[0], &"t".into());
        assert!(map.of_task(&owner, &"t".into()).is_some());
        let new = map.add(webhooks(Some("u")));
        assert!(map.get(&secrets[0]).is_some() && map.get(&new).is_some());
        assert!(map.get(&secrets[1]).is_none());
        map.remove(&secrets[0]);
        assert!(map.of_task(&owner, &"t".into()).is_none());
        let entries = map.entries();
        assert_eq!(entries.by_use.len(), entries.by_secret.len());
        let sum: usize = entries.by_secret.values().map(|entry| entry.bytes).sum();
        assert_eq!(sum, entries.bytes);
    }

    #[test]
    fn a_task_has_a_limited_number_of_webhooks() {
        let mut task = webhooks(None);
        for id in 0..MAX_WEBHOOKS {
            task.put(webhook(&id.to_string())).unwrap();
        }
        assert!(task.put(webhook("one more")).is_err());
        assert!(task.put(webhook("0")).is_ok(), "in place of another");
        assert_eq!(task.webhooks.len(), MAX_WEBHOOKS);
    }
}
