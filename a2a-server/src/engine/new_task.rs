//! The task that a message begins.

use std::sync::Arc;

use a2a_transport::Context;
use a2a_types::{ContextId, Message, Task, TaskId, TaskPushNotificationConfig};
use uuid::{NoContext, Uuid};

use crate::engine::store_handle::StoreHandle;
use crate::store::{IdempotencyKey, NewTask};

/// A task that a message begins, and the message as it stands in it.
pub(crate) fn new_task(
    message: Message,
    context: &Context,
    config: Option<TaskPushNotificationConfig>,
    receipt: Option<IdempotencyKey>,
    store_handle: &StoreHandle,
) -> (Box<NewTask>, Message) {
    let id = message.task_id.clone().unwrap_or_else(unguessable);
    let conversation = message.context_id.clone();
    let conversation = conversation.unwrap_or_else(ContextId::random);
    let mut message = Message {
        task_id: Some(id.clone()),
        context_id: Some(conversation.clone()),
        ..message
    };
    // Both are kept for long, so spare capacity is freed.
    message.parts.shrink_to_fit();
    let mut task = Task::submitted(id.clone(), conversation);
    task.history = vec![message.clone()];
    let config = config.map(|config| TaskPushNotificationConfig {
        task_id: id,
        ..config
    });
    let holder = Arc::clone(&store_handle.holder);
    let new = NewTask {
        config,
        receipt,
        trace: context.trace.clone(),
        ..NewTask::new(
            Arc::new(task),
            context.protocol_version,
            holder,
            store_handle.term,
        )
    };
    (Box::new(new), message)
}

/// Returns a name for a new task, as a UUID of version 7: its 74 random bits cannot be guessed, and because it
/// begins with the time, a store finds the names of new tasks next to each other.
fn unguessable() -> TaskId {
    let id = Uuid::new_v7(uuid::Timestamp::now(NoContext));
    let mut room = Uuid::encode_buffer();
    TaskId::from(&*id.hyphenated().encode_lower(&mut room))
}

/// A webhook without an id gets that of its caller's protocol version.
pub(crate) fn with_id(
    config: TaskPushNotificationConfig,
    context: &Context,
) -> TaskPushNotificationConfig {
    if !config.id.is_empty() {
        return config;
    }
    let id = context.protocol_version.new_config_id();
    TaskPushNotificationConfig { id, ..config }
}
