//! Lock of a file that belongs to one process.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::store::StoreError;

/// Lock of a store's file, until it is dropped: two processes that write to the file would not know of each other's tasks.
#[derive(Debug)]
pub(super) struct FileLock(File);

impl FileLock {
    /// Takes the lock.
    ///
    /// Errors: another process has it, or there is no file for it.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let file = File::create(PathBuf::from(name)).map_err(StoreError::failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {
                let text = format!("`{}` is in use by another process", path.display());
                Err(StoreError::failed(text))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::failed(error)),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file is not enough: between fork and exec, a child process has the file open, too.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::FileLock;

    #[test]
    fn file_that_another_process_has_open_is_unlocked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tasks.db");
        let lock = FileLock::take(&path).unwrap();
        let _inherited = lock.0.try_clone().unwrap();
        FileLock::take(&path).unwrap_err();
        drop(lock);
        FileLock::take(&path).unwrap();
    }
}
