//! Record of acknowledged webhooks, and of the notifications received.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::{Event, MessageId, ProtocolVersion, TaskId, TaskState, Timestamp};
use bytes::Bytes;

/// Record written by callers and receivers.
#[derive(Default)]
pub(crate) struct DeliveryRecord {
    deliveries: Mutex<Deliveries>,
}

/// The contents of a record.
#[derive(Default)]
pub(crate) struct Deliveries {
    /// The webhooks that a server has acknowledged, by their paths.
    pub(crate) acknowledged: HashMap<String, AcknowledgedWebhook>,
    /// Notifications by the path of their webhook, each the first time that it came.
    pub(crate) received: HashMap<String, Vec<ReceivedNotification>>,
    /// Number of requests received.
    pub(crate) requests: usize,
    /// Number of requests that failed on purpose.
    pub(crate) faults: usize,
    /// Number of duplicate notifications.
    pub(crate) repeats: usize,
    /// Faults of requests.
    pub(crate) strange: Vec<String>,
    /// Milliseconds from the end of a task to its notification, for each end.
    pub(crate) delays: Vec<f64>,
    ids: HashSet<String>,
}

/// A webhook that a server has acknowledged.
pub(crate) struct AcknowledgedWebhook {
    pub(crate) task: TaskId,
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) due_after: DueAfter,
}

/// Events that a webhook must at least receive.
#[derive(Clone, Debug)]
pub(crate) enum DueAfter {
    /// All events: it came with the task.
    Beginning,
    /// Events after a message.
    Message(MessageId),
    /// Events after a step of the agent: the last that a caller saw once the webhook was
    /// registered.
    Step(u64),
}

/// A notification.
pub(crate) struct ReceivedNotification {
    pub(crate) id: String,
    pub(crate) event: Event,
    pub(crate) body: Bytes,
    /// The receiver acknowledged it.
    pub(crate) acknowledged: bool,
    /// It came before the receiver had acknowledged an earlier one of the same webhook.
    pub(crate) early: bool,
}

impl DeliveryRecord {
    pub(crate) fn deliveries(&self) -> MutexGuard<'_, Deliveries> {
        self.deliveries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deliveries {
    /// Records that a server has acknowledged a webhook.
    pub(crate) fn acknowledge(
        &mut self,
        path: &str,
        task: &TaskId,
        protocol_version: ProtocolVersion,
        due_after: DueAfter,
    ) {
        let webhook = AcknowledgedWebhook {
            task: task.clone(),
            protocol_version,
            due_after,
        };
        self.acknowledged.insert(path.to_owned(), webhook);
    }

    /// Records a notification that its receiver could read.
    pub(crate) fn record(&mut self, path: &str, id: &str, event: Event, body: &Bytes) {
        let received = self.received.entry(path.to_owned()).or_default();
        if let Some(before) = received.iter().find(|before| before.id == id) {
            self.repeats += 1;
            // 1.0 sends the event, and earlier versions the current task.
            if before.body != body && !matches!(event, Event::Task(_)) {
                let text = format!("{path} received {id} with two bodies");
                self.strange.push(text);
            }
            return;
        }
        let early = received.iter().any(|before| !before.acknowledged);
        self.delays.extend(delay(&event));
        received.push(ReceivedNotification {
            id: id.to_owned(),
            event,
            body: body.clone(),
            acknowledged: false,
            early,
        });
        if !self.ids.insert(id.to_owned()) {
            self.strange.push(format!("{id} names two notifications"));
        }
    }

    /// Records that the receiver acknowledges a notification.
    pub(crate) fn acknowledge_notification(&mut self, path: &str, id: &str) {
        let received = self.received.get_mut(path).into_iter().flatten();
        for received in received.filter(|received| received.id == id) {
            received.acknowledged = true;
        }
    }
}

/// Returns the milliseconds since the task completed, or `None` if the event does not say so.
fn delay(event: &Event) -> Option<f64> {
    let status = event.status()?;
    let ended = status
        .timestamp
        .filter(|_| status.state == TaskState::Completed)?;
    Some((Timestamp::now().as_millis() - ended.as_millis()) as f64)
}
