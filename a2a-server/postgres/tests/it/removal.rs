//! Removal of receipts and webhooks.

use a2a_server::{IdempotencyKey, Retention, Store};
use a2a_types::{Message, TaskPushNotificationConfig};

use crate::database::{LONG_WAIT, open, shared};
use crate::sample::{LONG, ada, new};

/// The database refuses a statement that deletes too much, as it would when it takes too long.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_removed_task_are_deleted_in_several_statements() {
    let Some(database) = shared() else { return };
    let store = open(&database.options().schema("rows")).await;
    for id in ["many", "large"] {
        store.create(&ada(), new(id)).await.unwrap();
    }
    database.psql(
        "create function rows.limit_deletion() returns trigger language plpgsql as $$ begin
           if (select count(*) > 2000 or sum(length(body)) > 30000000 from gone) then raise 'too much'; end if;
           return null;
         end $$;
         create trigger limit_deletion after delete on rows.task_event referencing old table as gone
           for each statement execute function rows.limit_deletion();
         create trigger limit_deletion after delete on rows.task_doc referencing old table as gone
           for each statement execute function rows.limit_deletion();
         create function rows.limit_outbox() returns trigger language plpgsql as $$ begin
           if (select count(*) > 2000 from gone) then raise 'too much'; end if;
           return null;
         end $$;
         create trigger limit_deletion after delete on rows.push_outbox referencing old table as gone
           for each statement execute function rows.limit_outbox();
         insert into rows.task_event select seq, n, 'x' from rows.task, generate_series(2, 10000) n where id = 'many';
         insert into rows.task_event select seq, n, decode(repeat('00', 10000000), 'hex')
           from rows.task, generate_series(2, 6) n where id = 'large';
         insert into rows.task_doc select -n, 1, decode(repeat('00', 10000000), 'hex') from generate_series(1, 6) n;
         insert into rows.push_config(task, config, position, protocol_version, body)
           select seq, gen_random_uuid(), 0, '1.0', '{}' from rows.task where id = 'many';
         insert into rows.push_outbox(task, config, sequence)
           select task, config, n from rows.push_config, generate_series(1, 10000) n;
         insert into rows.task_gone select -n from generate_series(1, 6) n;
         update rows.task set ended = clock_timestamp() - interval '1 year'",
    );
    assert_eq!(store.sweep(Retention::default()).await.unwrap(), 2);
    for table in ["event", "doc", "gone"] {
        let left = database.psql(&format!("select count(*) from rows.task_{table}"));
        assert_eq!(left, "0", "{table}");
    }
    let left = database
        .psql("select (select count(*) from rows.push_outbox) + count(*) from rows.push_config");
    assert_eq!(left, "0");
}

/// The receipts are counted, even if the estimate of the last `analyze` still includes receipts removed since then.
#[tokio::test(flavor = "multi_thread")]
async fn receipts_beyond_the_maximum_are_removed_and_no_others() {
    let Some(database) = shared() else { return };
    let options = database.options().schema("receipts").receipts(20);
    let (one, other) = (open(&options).await, open(&options).await);
    for number in 0..30 {
        let receipt = IdempotencyKey::new(number.to_string().into(), [1; 32], LONG);
        one.store_response(&ada(), receipt, Message::agent("a"))
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
    let options = database.options().schema("webhooks");
    let store = open(&options.statement_timeout(LONG_WAIT)).await;
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
