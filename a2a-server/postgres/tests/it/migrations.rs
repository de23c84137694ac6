//! Migrations: concurrent servers, printed statements, later versions, and roles with few rights.

use std::time::Duration;

use a2a_postgres::{PostgresError, PostgresOptions, PostgresStore, migrate, migrations};
use a2a_server::{Append, Retention, SharedStore, Store};

use crate::database::{open, options, shared};
use crate::sample::{LONG, ada, chunk, new};

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_start_together_make_the_tables_once() {
    let Some(options) = options() else {
        return;
    };
    let starting = (0..6).map(|_| {
        let options = options.clone();
        tokio::spawn(async move { PostgresStore::open(options).await.map(drop) })
    });
    for started in starting.collect::<Vec<_>>() {
        started.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn printed_statements_make_the_tables_and_do_nothing_twice() {
    let Some(database) = shared() else {
        return;
    };
    let sql = migrations("it's \"quoted\"");
    for _ in 0..2 {
        database.psql(&format!("begin; {sql} commit;"));
    }
    let options = database.options().schema("it's \"quoted\"").migrate(false);
    open(&options).await.create(&ada(), new("t")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_are_missing_or_of_a_later_release_are_refused() {
    let Some(database) = shared() else {
        return;
    };
    let options = database.options().schema("versions");
    let missing = PostgresStore::open(options.clone().migrate(false)).await;
    assert!(
        matches!(missing, Err(PostgresError::NotMigrated { found: 0, .. })),
        "{missing:?}"
    );
    migrate(&options).await.unwrap();
    // A later version of the same major is one that this release can work with.
    database.psql("insert into versions.schema_version values (99, 1)");
    open(&options).await;
    database.psql("update versions.schema_version set major = 2 where version = 99");
    for options in [options.clone(), options.migrate(false)] {
        let later = PostgresStore::open(options).await;
        assert!(
            matches!(later, Err(PostgresError::TooNew { found: 2, .. })),
            "{later:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_make_tables_can_use_them() {
    let Some(database) = shared() else {
        return;
    };
    migrate(&database.options().schema("granted"))
        .await
        .unwrap();
    database.psql(
        "create role app login; grant usage on schema granted to app;
         grant select, insert, update, delete on all tables in schema granted to app;
         grant usage on all sequences in schema granted to app",
    );
    let url = database.url().replace("a2a@", "app@");
    let store = open(&PostgresOptions::new(&url).unwrap().schema("granted")).await;
    store.create(&ada(), new("t")).await.unwrap();
    let append = Append::held(1, 1, vec![chunk("t", "x")]);
    store.append(&ada(), &"t".into(), append).await.unwrap();
    let receipt = a2a_server::IdempotencyKey::new("m".into(), [0; 32], LONG);
    store
        .reserve(&ada(), &receipt, "h", LONG, None)
        .await
        .unwrap();
    assert_eq!(store.sweep(Retention::default()).await.unwrap(), 0);
}

/// They may take longer than other statements, also while they wait for another server's.
#[tokio::test(flavor = "multi_thread")]
async fn migration_takes_as_long_as_it_needs() {
    let Some(database) = shared() else {
        return;
    };
    let options = database.options().schema("migration");
    let mut blocking = database.connect().await;
    let other = blocking.transaction().await.unwrap();
    let lock = "select pg_advisory_xact_lock(hashtextextended('a2a migration', 0))";
    other.execute(lock, &[]).await.unwrap();
    let options = options.statement_timeout(Duration::from_secs(2));
    let waits = async {
        database
            .wait_for_locks("create schema \"migration\"", 1)
            .await;
        // Longer than the time limit.
        other.execute("select pg_sleep(2.5)", &[]).await.unwrap();
        other.commit().await.unwrap();
    };
    let (migrated, ()) = tokio::join!(migrate(&options), waits);
    migrated.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_does_not_wait_long_for_a_locked_table() {
    let Some(database) = shared() else {
        return;
    };
    database.psql(
        "create schema busy; create table busy.schema_version (version integer primary key, major integer not null)",
    );
    let mut blocking = database.connect().await;
    let other = blocking.transaction().await.unwrap();
    let lock = "lock table busy.schema_version in share mode";
    other.execute(lock, &[]).await.unwrap();
    let options = database.options().schema("busy");
    let refused = migrate(&options).await;
    assert!(
        matches!(refused, Err(PostgresError::Locked(_))),
        "{refused:?}"
    );
    other.commit().await.unwrap();
    migrate(&options).await.unwrap();
}
