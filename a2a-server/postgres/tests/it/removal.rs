//! Removal of receipts and webhooks.

use a2a_server::{Receipt, Retention, Store};
use a2a_types::{Message, TaskPushNotificationConfig};

use crate::database::{open, shared};
use crate::sample::{LONG, ada, new};

/// The receipts are counted, whatever the estimate of the last `analyze` says of those that were removed since.
#[tokio::test(flavor = "multi_thread")]
async fn receipts_beyond_the_maximum_are_removed_and_no_others() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("receipts").receipts(20);
    let (one, other) = (open(&options).await, open(&options).await);
    for number in 0..30 {
        let receipt = Receipt::new(number.to_string().into(), [1; 32], LONG);
        one.keep_answer(&ada(), receipt, Message::agent("a"))
            .await
            .unwrap();
    }
    database.psql("analyze receipts.receipt");
    for store in [&one, &one, &other, &one, &other] {
        store.sweep(Retention::default()).await.unwrap();
        assert_eq!(database.psql("select count(*) from receipts.receipt"), "20");
    }
    // The oldest are gone.
    assert_eq!(one.received(&ada(), &"9".into()).await.unwrap(), None);
    assert!(one.received(&ada(), &"10".into()).await.unwrap().is_some());
}

/// A notification that is being written when its webhook is removed does not outlive it.
#[tokio::test(flavor = "multi_thread")]
async fn notifications_go_with_their_webhook() {
    let Some(database) = shared() else { return };
    let store = open(&database.options().schema("webhooks")).await;
    let mut begun = new("t");
    begun.config = Some(TaskPushNotificationConfig {
        id: "w".into(),
        task_id: "t".into(),
        url: "https://receiver.example/".into(),
        ..TaskPushNotificationConfig::default()
    });
    store.create(&ada(), begun).await.unwrap();
    let mut writing = database.connect().await;
    let append = writing.transaction().await.unwrap();
    let notify = "insert into webhooks.push_outbox(task, config, sequence)
      select task, config, 2 from webhooks.push_config";
    append.execute(notify, &[]).await.unwrap();
    let removed = async {
        database.wait_for_locks("webhooks", 1).await;
        append.commit().await.unwrap();
    };
    let (owner, task, config) = (ada(), "t".into(), "w".into());
    let (deleted, ()) = tokio::join!(store.delete_config(&owner, &task, &config), removed);
    deleted.unwrap();
    assert_eq!(
        database.psql("select count(*) from webhooks.push_outbox"),
        "0"
    );
}
