//! Body of a push notification, in each protocol version.

use a2a_types::{Event, ProtocolVersion, v0_1, v0_2};
use serde::Serialize;

/// The body of a push notification. It is the same for every binding (specification 1.0 §3.5.1).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NotificationBody {
    /// The media type.
    pub media_type: &'static str,
    /// The JSON, compact: the reference of 0.1 signs it so.
    pub body: Vec<u8>,
}

/// Writes the notification of an event for a webhook registered in `protocol_version`: until 0.3 a whole task, `None`
/// for other events; in 1.0 any event (0.1 §9.4, 0.2 §9.5, 1.0 §4.3.3).
pub fn write_notification(
    event: Event,
    protocol_version: ProtocolVersion,
) -> Option<NotificationBody> {
    match (protocol_version, event) {
        (ProtocolVersion::V1_0, event) => pushed("application/a2a+json", &event),
        (ProtocolVersion::V0_1, Event::Task(task)) => pushed(JSON, &v0_1::Task::from(task)),
        (_, Event::Task(task)) => pushed(JSON, &v0_2::Task::from(task)),
        _ => None,
    }
}

/// Returns whether the webhooks of a version are notified of single events. Webhooks of the other versions get
/// the whole task.
pub fn notifies_of_events(protocol_version: ProtocolVersion) -> bool {
    protocol_version == ProtocolVersion::V1_0
}

/// Returns whether the notifications of two versions have the same form.
pub fn have_same_notifications(one: ProtocolVersion, other: ProtocolVersion) -> bool {
    let both_have_kinds =
        [one, other].map(|it| matches!(it, ProtocolVersion::V0_2 | ProtocolVersion::V0_3));
    one == other || both_have_kinds == [true, true]
}

const JSON: &str = "application/json";

fn pushed(media_type: &'static str, body: &impl Serialize) -> Option<NotificationBody> {
    let body = serde_json::to_vec(body).ok()?;
    Some(NotificationBody { media_type, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_types::{Message, Task};
    use serde_json::{Value, json};

    #[test]
    fn each_version_gets_its_own() {
        let task = Task::submitted("t".into(), "c".into());
        let body = |event: Event, protocol_version| -> Option<Value> {
            let pushed = write_notification(event, protocol_version)?;
            serde_json::from_slice(&pushed.body).ok()
        };
        let whole = |protocol_version| body(Event::Task(task.clone()), protocol_version).unwrap();
        assert_eq!(whole(ProtocolVersion::V0_1)["sessionId"], "c");
        for protocol_version in [ProtocolVersion::V0_2, ProtocolVersion::V0_3] {
            assert_eq!(whole(protocol_version)["contextId"], "c");
            assert_eq!(whole(protocol_version)["kind"], "task");
        }
        assert_eq!(whole(ProtocolVersion::V1_0)["task"]["contextId"], "c");
        let message = Event::Message(Message::agent("hello"));
        assert_eq!(body(message.clone(), ProtocolVersion::V0_2), None);
        let notification = body(message, ProtocolVersion::V1_0).unwrap();
        assert_eq!(notification["message"]["parts"], json!([{"text": "hello"}]));
    }
}
