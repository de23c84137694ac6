//! Tests of the outbox in paused time: delays of hours take none.

use std::collections::HashMap;
use std::sync::Mutex;

use a2a_transport::webhook::{WEBHOOK_ID, WEBHOOK_TIMESTAMP};
use a2a_types::{
    Artifact, Part, Task, TaskArtifactUpdateEvent, TaskId, TaskPushNotificationConfig, TaskState,
    TaskStatusUpdateEvent,
};
use bytes::Bytes;
use http::header::HeaderValue;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use serde_json::Value;

use super::*;
use crate::store::{Append, MemoryStore, NewTask, Owner, Store};

/// Records requests, and returns the outcomes planned for their URL, else success.
#[derive(Default)]
struct RecordingSender {
    deliveries: Mutex<Vec<RecordedDelivery>>,
    answers: Mutex<HashMap<String, Vec<DeliveryOutcome>>>,
}

/// A recorded request.
#[derive(Clone, Debug)]
struct RecordedDelivery {
    url: String,
    id: HeaderValue,
    media_type: HeaderValue,
    body: Bytes,
}

impl Delivery for RecordingSender {
    fn send(&self, delivery: DeliveryRequest) -> BoxFuture<'_, DeliveryOutcome> {
        let mut answers = self.answers.lock().unwrap();
        let planned = answers
            .get_mut(&delivery.url)
            .filter(|planned| !planned.is_empty());
        let outcome = planned.map_or(DeliveryOutcome::Delivered, |planned| planned.remove(0));
        assert!(delivery.headers.contains_key(WEBHOOK_TIMESTAMP));
        self.deliveries.lock().unwrap().push(RecordedDelivery {
            url: delivery.url,
            id: delivery.headers[WEBHOOK_ID].clone(),
            media_type: delivery.content_type,
            body: delivery.body,
        });
        Box::pin(std::future::ready(outcome))
    }
}

fn url(webhook: &str) -> String {
    format!("https://example.com/{webhook}")
}

struct OutboxFixture {
    store: Arc<MemoryStore>,
    sender: Arc<RecordingSender>,
    filled: Arc<Notify>,
    sequence: u64,
    /// The outbox works until this is dropped.
    _server: Arc<()>,
}

const TASK: &str = "t";

fn owner() -> Owner {
    a2a_transport::Principal::named("ada").into()
}

impl OutboxFixture {
    async fn start(protocol_version: ProtocolVersion) -> Self {
        Self::with(protocol_version, &PAUSES).await
    }

    async fn with(protocol_version: ProtocolVersion, pauses: &[Duration]) -> Self {
        let store = Arc::new(MemoryStore::default());
        let new = NewTask::new(
            Task::submitted(TASK.into(), "c".into()).into(),
            protocol_version,
            "here".into(),
            Duration::from_secs(1 << 30),
        );
        store.create(&owner(), new).await.unwrap();
        let sender = Arc::new(RecordingSender::default());
        let filled = Arc::new(Notify::new());
        let server = Arc::new(());
        let store_of_outbox = TimedStore::untimed(Arc::clone(&store) as Arc<_>);
        let sender_of_outbox = Arc::clone(&sender);
        let closed = CancellationToken::new();
        let wakes = Arc::clone(&filled);
        let outbox = Outbox::new(
            store_of_outbox,
            sender_of_outbox,
            None,
            pauses.into(),
            wakes,
            closed,
        );
        tokio::spawn(outbox.run(Arc::downgrade(&server)));
        Self {
            store,
            sender,
            filled,
            sequence: 1,
            _server: server,
        }
    }

    async fn watch(
        &self,
        id: &str,
        protocol_version: ProtocolVersion,
        answers: Vec<DeliveryOutcome>,
    ) {
        let config = TaskPushNotificationConfig {
            id: id.into(),
            task_id: TASK.into(),
            url: url(id),
            ..TaskPushNotificationConfig::default()
        };
        self.sender.answers.lock().unwrap().insert(url(id), answers);
        self.store
            .put_config(&owner(), config, protocol_version)
            .await
            .unwrap();
    }

    async fn append(&mut self, events: Vec<Event>) {
        let append = Append {
            notify: true,
            ..Append::held(self.sequence, 1, events)
        };
        let appended = self
            .store
            .append(&owner(), &TaskId::from(TASK), append)
            .await;
        self.sequence = appended.unwrap().sequence;
        self.filled.notify_one();
    }

    /// Returns the requests to one webhook after `hours` more hours.
    async fn delivered(&self, id: &str, hours: u64) -> Vec<RecordedDelivery> {
        tokio::time::sleep(Duration::from_secs(hours * 3600 + 10)).await;
        let deliveries = self.sender.deliveries.lock().unwrap();
        deliveries
            .iter()
            .filter(|delivery| delivery.url == url(id))
            .cloned()
            .collect()
    }
}

fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: TASK.into(),
        context_id: None,
        status: state.into(),
        metadata: None,
    })
}

fn chunk(text: &str, append: bool) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: TASK.into(),
        context_id: None,
        artifact: Artifact {
            artifact_id: "a".into(),
            parts: vec![Part::text(text)],
            ..Artifact::default()
        },
        append,
        last_chunk: false,
        metadata: None,
    })
}

fn later() -> DeliveryOutcome {
    DeliveryOutcome::Later {
        after: None,
        reason: Reason::Timeout,
    }
}

fn body(delivery: &RecordedDelivery) -> Value {
    serde_json::from_slice(&delivery.body).unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_webhook_receives_every_event_in_order_and_in_its_version() {
    let mut fixture = OutboxFixture::start(ProtocolVersion::V1_0).await;
    fixture
        .watch("old", ProtocolVersion::V0_1, vec![later(), later()])
        .await;
    fixture.watch("new", ProtocolVersion::V1_0, vec![]).await;
    fixture
        .append(vec![status(TaskState::Working), chunk("1", false)])
        .await;
    fixture
        .append(vec![chunk("2", true), status(TaskState::Completed)])
        .await;
    let new = fixture.delivered("new", 2).await;
    let members: Vec<_> = new
        .iter()
        .map(|delivery| {
            body(delivery)
                .as_object()
                .unwrap()
                .keys()
                .next()
                .unwrap()
                .clone()
        })
        .collect();
    let update = "artifactUpdate";
    assert_eq!(members, ["statusUpdate", update, update, "statusUpdate"]);
    assert!(
        new.iter()
            .all(|delivery| delivery.media_type == "application/a2a+json")
    );

    // Tried three times, and then only notifications of worth.
    let old = fixture.delivered("old", 0).await;
    let states: Vec<_> = old
        .iter()
        .map(|delivery| body(delivery)["status"]["state"].clone())
        .collect();
    assert_eq!(states[..3], ["working", "working", "working"]);
    assert_eq!(states[3..], ["working", "completed"]);
    assert_eq!(old[0].id, old[2].id);
    assert_eq!(
        body(&old[4])["artifacts"][0]["parts"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let mut ids: Vec<_> = old[2..]
        .iter()
        .chain(&new)
        .map(|delivery| &delivery.id)
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 7);
}

#[tokio::test(start_paused = true)]
async fn undeliverable_notification_becomes_a_dead_letter_and_the_next_is_delivered() {
    let mut fixture = OutboxFixture::start(ProtocolVersion::V1_0).await;
    fixture
        .watch("w", ProtocolVersion::V1_0, vec![later(); 8])
        .await;
    fixture
        .append(vec![
            status(TaskState::Working),
            status(TaskState::Completed),
        ])
        .await;
    // The seventh attempt comes after 14 to 21.1 hours, the eighth after 22.07 to 33.1.
    assert_eq!(fixture.delivered("w", 22).await.len(), 7);
    assert_eq!(fixture.delivered("w", 20).await.len(), 9);
    let dead = fixture.store.dead_letters(10).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].sequence, dead[0].attempt), (2, 8));
}

#[tokio::test(start_paused = true)]
async fn a_server_may_be_more_or_less_patient() {
    let hour = Duration::from_secs(3600);
    for (pauses, after_two_hours) in [(vec![], 1), (vec![hour], 2), (vec![hour / 60; 40], 4)] {
        let mut fixture = OutboxFixture::with(ProtocolVersion::V1_0, &pauses).await;
        fixture
            .watch("w", ProtocolVersion::V1_0, vec![later(); 3])
            .await;
        fixture.append(vec![status(TaskState::Working)]).await;
        let received = fixture.delivered("w", 2).await.len();
        assert_eq!(received, after_two_hours, "{pauses:?}");
        let dead = fixture.store.dead_letters(10).await.unwrap();
        assert_eq!(dead.len(), usize::from(after_two_hours < 4), "{pauses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_says_when_it_wants_to_be_asked_again() {
    let mut fixture = OutboxFixture::start(ProtocolVersion::V1_0).await;
    let after = Some(Duration::from_secs(3 * 3600));
    let reason = Reason::Status(429);
    fixture
        .watch(
            "w",
            ProtocolVersion::V1_0,
            vec![DeliveryOutcome::Later { after, reason }],
        )
        .await;
    fixture.append(vec![status(TaskState::Working)]).await;
    assert_eq!(fixture.delivered("w", 2).await.len(), 1);
    assert_eq!(fixture.delivered("w", 2).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_wants_to_be_asked_at_once_keeps_its_attempts() {
    let mut fixture = OutboxFixture::start(ProtocolVersion::V1_0).await;
    let at_once = DeliveryOutcome::Later {
        after: Some(Duration::ZERO),
        reason: Reason::Status(503),
    };
    fixture
        .watch("w", ProtocolVersion::V1_0, vec![at_once; 7])
        .await;
    fixture.append(vec![status(TaskState::Working)]).await;
    // At once, and after 5 s, 5 min and 30 min.
    assert_eq!(fixture.delivered("w", 2).await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn busy_host_does_not_use_up_attempts() {
    let mut fixture = OutboxFixture::start(ProtocolVersion::V1_0).await;
    let busy = DeliveryOutcome::Later {
        after: None,
        reason: Reason::Busy,
    };
    fixture
        .watch("w", ProtocolVersion::V1_0, vec![busy; 50])
        .await;
    fixture.append(vec![status(TaskState::Working)]).await;
    assert_eq!(fixture.delivered("w", 1).await.len(), 51);
    assert_eq!(fixture.store.dead_letters(10).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_is_gone_is_forgotten() {
    let mut fixture = OutboxFixture::start(ProtocolVersion::V1_0).await;
    fixture
        .watch("w", ProtocolVersion::V1_0, vec![DeliveryOutcome::Gone])
        .await;
    fixture
        .append(vec![
            status(TaskState::Working),
            status(TaskState::Completed),
        ])
        .await;
    assert_eq!(fixture.delivered("w", 30).await.len(), 1);
    let left = fixture
        .store
        .configs(&owner(), &TaskId::from(TASK))
        .await
        .unwrap();
    assert_eq!(left, []);
}

/// Returns the changes of the two metrics of the outbox.
fn counted(recorder: &DebuggingRecorder) -> Vec<String> {
    let metrics = recorder.snapshotter().snapshot().into_vec().into_iter();
    let line = |key: metrics_util::CompositeKey, value| {
        let outcome = key.key().labels().next().map(|label| label.value());
        let value = match value {
            DebugValue::Counter(0) => return None,
            DebugValue::Counter(count) => count.to_string(),
            DebugValue::Gauge(depth) => format!("{depth} wait"),
            DebugValue::Histogram(_) => return None,
        };
        Some(format!("{} {value}", outcome.unwrap_or_default()))
    };
    let mut lines: Vec<_> = metrics
        .filter_map(|(key, _, _, value)| line(key, value))
        .collect();
    lines.sort();
    lines
}

#[test]
fn attempts_count_by_what_became_of_them_and_what_waits_is_counted() {
    let recorder = DebuggingRecorder::new();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().start_paused(true).build().unwrap();
    let test = async {
        let mut fixture =
            OutboxFixture::with(ProtocolVersion::V1_0, &[Duration::from_secs(3600)]).await;
        let busy = DeliveryOutcome::Later {
            after: None,
            reason: Reason::Busy,
        };
        for (id, answers) in [
            ("fine", vec![]),
            ("busy", vec![busy]),
            ("late", vec![later()]),
            ("dead", vec![later(), later()]),
            ("gone", vec![DeliveryOutcome::Gone]),
        ] {
            fixture.watch(id, ProtocolVersion::V1_0, answers).await;
        }
        fixture.append(vec![status(TaskState::Completed)]).await;
        fixture.delivered("fine", 0).await;
        let now = counted(&recorder);
        assert_eq!(
            now,
            [" 2 wait", "delivered 2", "gone 1", "later 2", "untried 1"]
        );
        fixture.delivered("late", 2).await;
        assert_eq!(counted(&recorder), [" 0 wait", "delivered 1", "given_up 1"]);
    };
    metrics::with_local_recorder(&recorder, || runtime.block_on(test));
}
