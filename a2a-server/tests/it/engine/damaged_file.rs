//! Files that something has damaged.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

use a2a_client::Client;
use a2a_server::{Server, SqliteStore};

use crate::engine::{Worker, card, task};
use crate::stores;
use crate::waiting::reopened;

#[tokio::test]
async fn a_damaged_page_is_found() {
    let file = stores::new_file();
    let store = SqliteStore::open(&file).unwrap();
    let server = Server::builder(card(), Worker::default()).store(store);
    let client = Client::new(server.build().unwrap());
    for _ in 0..100 {
        task(client.send("echo x").await.unwrap());
    }
    let report = SqliteStore::check(&file).unwrap();
    assert_eq!(
        (report.unfinished, report.ended, report.receipts),
        (0, 100, 100)
    );
    assert_eq!(report.damages, Vec::<String>::new());
    drop(client);
    // The store that had the file has written all of it when it can be opened again.
    drop(reopened(&file).await);

    let mut pages = OpenOptions::new().write(true).open(&file).unwrap();
    let half = pages.metadata().unwrap().len() / 2 / 4096 * 4096;
    pages.seek(SeekFrom::Start(half)).unwrap();
    pages.write_all(&[0xa5; 4096]).unwrap();
    drop(pages);
    let report = SqliteStore::check(&file).unwrap();
    assert!(!report.damages.is_empty());
    SqliteStore::check(file.with_extension("none")).unwrap_err();
}
