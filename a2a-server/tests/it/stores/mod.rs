//! Stores to test with: the same behaviour is expected of each.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use a2a_server::SqliteStore;

/// Directory of this run's databases. Databases of earlier runs are removed, but not at once: such a run may
/// still go on.
static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("databases");
    std::fs::create_dir_all(&all).unwrap();
    for old in std::fs::read_dir(&all).unwrap().flatten() {
        let age = old.metadata().and_then(|about| about.modified());
        if age.is_ok_and(|since| since.elapsed().unwrap_or_default() > HOUR) {
            // Another run may remove it, too.
            drop(std::fs::remove_dir_all(old.path()));
        }
    }
    tempfile::tempdir_in(all).unwrap().keep()
});

const HOUR: Duration = Duration::from_secs(3600);

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
