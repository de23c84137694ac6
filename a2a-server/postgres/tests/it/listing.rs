//! Cost of listings.

use std::time::Duration;

use a2a_server::{ListQuery, Store};

use crate::database::{open, shared};
use crate::sample::{ada, new};

/// The database counts the rows that it reads.
#[tokio::test(flavor = "multi_thread")]
async fn page_reads_no_row_of_the_other_pages() {
    let Some(database) = shared() else { return };
    let store = open(&database.options().schema("listing")).await;
    for number in 0..60 {
        let task = new(&number.to_string());
        store.create(&ada(), task).await.unwrap();
    }
    database.psql(
        "insert into listing.task(key, owner_key, owner, id, protocol_version, sequence, state, status_time, active, busy,
           messages, bytes, turn, lease_owner, lease_epoch)
         select gen_random_uuid(), owner_key, owner, 'old ' || n, protocol_version, 1, state, -n, false, false, 0, 0, 0, '', 1
           from listing.task, generate_series(1, 20000) n where id = '0'",
    );
    // A vacuum leaves out rows that a transaction elsewhere in the database might not see yet.
    let all_visible =
        "select relallvisible = relpages from pg_class where oid = 'listing.task'::regclass";
    let vacuumed = async {
        database.psql("vacuum analyze listing.task");
        while database.psql(all_visible) != "t" {
            tokio::task::yield_now().await;
            database.psql("vacuum listing.task");
        }
    };
    let vacuumed = tokio::time::timeout(MAX_WAIT, vacuumed).await;
    vacuumed.expect("no transaction is open for a minute");
    let read = || {
        let rows = database.psql(&format!("select seq_tup_read + idx_tup_fetch {STATISTICS}"));
        rows.parse::<i64>().unwrap()
    };
    let (before, scans) = (
        read(),
        database.psql(&format!("select idx_scan {STATISTICS}")),
    );
    let page = store.list(&ada(), ListQuery::new(50)).await.unwrap();
    assert_eq!(
        (page.tasks.len(), page.total, page.more),
        (50, 20_060, true)
    );
    // The database counts a while after a statement: the page, and its 50 tasks.
    let counted = format!("select idx_scan >= {scans} + 51 {STATISTICS}");
    database.until(&counted).await;
    let rows = read() - before;
    assert!(rows < 1000, "{rows} rows were read");
}

const MAX_WAIT: Duration = Duration::from_secs(60);

const STATISTICS: &str =
    "from pg_stat_user_tables where schemaname = 'listing' and relname = 'task'";
