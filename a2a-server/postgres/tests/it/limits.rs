//! Limit on unfinished tasks.

use std::time::Duration;

use a2a_server::{Append, Store, StoreError};
use a2a_types::{Event, TaskState, TaskStatusUpdateEvent};
use tokio::time::timeout;

use crate::database::{open, shared};
use crate::sample::{ada, new};

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_tasks_beyond_the_maximum_are_refused() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("unfinished").unfinished(3);
    let (one, other) = (open(&options).await, open(&options).await);
    for id in ["a", "b"] {
        one.create(&ada(), new(id)).await.unwrap();
    }
    // The other has not counted yet.
    other.create(&ada(), new("c")).await.unwrap();
    other.sweep(Default::default()).await.unwrap();
    let refused = other.create(&ada(), new("d")).await;
    assert!(matches!(refused, Err(StoreError::Full)), "{refused:?}");
    let known = other.create(&ada(), new("a")).await;
    assert!(matches!(known, Err(StoreError::TaskExists)), "{known:?}");
    let completed = Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: "a".into(),
        context_id: None,
        status: TaskState::Completed.into(),
        metadata: None,
    });
    let end = Append::held(1, 1, vec![completed]);
    one.append(&ada(), &"a".into(), end).await.unwrap();
    let created = async {
        loop {
            match other.create(&ada(), new("d")).await {
                Err(StoreError::Full) => tokio::task::yield_now().await,
                created => return created,
            }
        }
    };
    let created = timeout(Duration::from_secs(30), created).await;
    created.expect("there is room again").unwrap();
}
