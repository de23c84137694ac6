//! Stores to test with: the same behaviour is expected of each.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use a2a_server::SqliteStore;

/// Where this test's databases are; what an earlier run has left there is removed.
static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
    // There is nothing to remove the first time.
    drop(std::fs::remove_dir_all(&directory));
    std::fs::create_dir_all(&directory).unwrap();
    directory
});

/// A name for a database that does not exist yet.
pub(crate) fn new_file() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    DIRECTORY.join(format!("{number}.db"))
}

/// A new, empty database.
pub(crate) fn sqlite() -> SqliteStore {
    SqliteStore::open(new_file()).unwrap()
}
