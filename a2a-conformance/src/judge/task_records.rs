//! Records of the agent's reports on its tasks, with which later answers must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Records of the agent's reports on its tasks so far.
#[derive(Debug, Default)]
pub(crate) struct TaskRecords {
    pub(super) tasks: Mutex<BTreeMap<String, TaskRecord>>,
    /// Messages that were sent to the agent, by their ids.
    pub(super) sent: Mutex<BTreeMap<String, Value>>,
}

impl TaskRecords {
    /// Records the message of a request that is about to be sent.
    pub(crate) fn record_message(&self, params: &Value) {
        let message = &params["message"];
        if let Some(id) = message["messageId"].as_str() {
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.insert(id.to_owned(), message.clone());
        }
    }
}

/// The tasks that the suite has begun, in all interfaces of the agent. The tasks of other callers are not
/// checked in lists.
#[derive(Debug, Default)]
pub(crate) struct OwnTasks(Mutex<BTreeSet<String>>);

impl OwnTasks {
    pub(crate) fn add(&self, id: &str) {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !own.contains(id) {
            own.insert(id.to_owned());
        }
    }

    /// Leaves only the suite's own tasks in a page of a list.
    pub(crate) fn retain(&self, page: &mut Value) {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tasks) = page.get_mut("tasks").and_then(Value::as_array_mut) {
            tasks.retain(|task| task["id"].as_str().is_some_and(|id| own.contains(id)));
        }
    }

    /// Takes the contents out of the tasks of others in a page of a list: an agent may keep what it should have refused,
    /// from any caller.
    pub(crate) fn strip_others(&self, page: &mut Value) {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks = page.get_mut("tasks").and_then(Value::as_array_mut);
        for task in tasks.into_iter().flatten() {
            let is_own = task["id"].as_str().is_some_and(|id| own.contains(id));
            if let (Some(task), false) = (task.as_object_mut(), is_own) {
                task.retain(|name, _| ["id", "contextId", "status"].contains(&&**name));
            }
        }
    }
}

/// Record of the reports on one task.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskRecord {
    pub(super) context: Option<Value>,
    /// The task as it ended.
    pub(super) ended: Option<Value>,
    /// The message for which it was made.
    pub(super) made_for: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tasks_of_others_are_left_out_of_a_page() {
        let own = OwnTasks::default();
        own.add("mine");
        let mut page = json!({"tasks": [{"id": "theirs"}, {"id": "mine"}, {}], "totalSize": 3});
        own.retain(&mut page);
        assert_eq!(page, json!({"tasks": [{"id": "mine"}], "totalSize": 3}));
    }

    #[test]
    fn contents_of_tasks_of_others_are_not_read() {
        let own = OwnTasks::default();
        own.add("mine");
        let whole = |id: &str| json!({"id": id, "status": {}, "history": [{"parts": [{}]}]});
        let mut page = json!({"tasks": [whole("theirs"), whole("mine"), 1]});
        own.strip_others(&mut page);
        let stripped = json!({"id": "theirs", "status": {}});
        assert_eq!(page, json!({"tasks": [stripped, whole("mine"), 1]}));
    }
}
