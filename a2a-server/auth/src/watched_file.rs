//! Content of a file that is read again when it changes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::digest_cache::{Digest, sha256};
use crate::error::ConfigError;

/// Content of a file. At most once a second a request looks for a change; a file that is broken or
/// gone leaves the content as it was, and is logged.
pub(crate) struct WatchedFile<T> {
    path: PathBuf,
    parse: fn(&[u8]) -> Result<T, String>,
    content: RwLock<Arc<T>>,
    checked: tokio::sync::Mutex<LastCheck>,
}

/// Last check of a file.
struct LastCheck {
    at: Instant,
    /// Digest of what was read, or of the error.
    digest: Digest,
}

impl<T: Send + Sync + 'static> WatchedFile<T> {
    /// Reads a file.
    pub(crate) fn open(
        path: impl Into<PathBuf>,
        parse: fn(&[u8]) -> Result<T, String>,
    ) -> Result<Self, ConfigError> {
        let path = path.into();
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(ConfigError::Read { path, source }),
        };
        let content = match parse(&bytes) {
            Ok(content) => content,
            Err(problem) => return Err(ConfigError::Content { path, problem }),
        };
        Ok(Self {
            path,
            parse,
            content: RwLock::new(Arc::new(content)),
            checked: tokio::sync::Mutex::new(LastCheck {
                at: Instant::now(),
                digest: sha256(&bytes),
            }),
        })
    }

    /// Returns the content, as of a second ago at most.
    pub(crate) async fn content(&self) -> Arc<T> {
        // A caller that comes while another one checks the file uses the current content.
        if let Ok(mut checked) = self.checked.try_lock()
            && checked.at.elapsed() >= PERIOD
        {
            self.check(&mut checked).await;
        }
        let content = self.content.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&content)
    }

    async fn check(&self, checked: &mut LastCheck) {
        let path = self.path.clone();
        let bytes = tokio::task::spawn_blocking(move || read(&path)).await;
        checked.at = Instant::now();
        let bytes = bytes.unwrap_or_else(|error| Err(io::Error::other(error)));
        let digest = match &bytes {
            Ok(bytes) => sha256(bytes),
            Err(error) => sha256(error.to_string().as_bytes()),
        };
        if std::mem::replace(&mut checked.digest, digest) == digest {
            return;
        }
        let read = bytes.map_err(|error| error.to_string());
        match read.and_then(|bytes| (self.parse)(&bytes)) {
            Ok(content) => {
                *self.content.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(content);
                tracing::info!(file = %self.path.display(), "read a file of credentials again");
            }
            Err(problem) => tracing::error!(
                file = %self.path.display(),
                problem,
                "a file of credentials cannot be used: the credentials read before stay in force"
            ),
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::Error::other("it has more than 4 MiB")),
        false => Ok(bytes),
    }
}

/// Least time between two checks.
const PERIOD: Duration = Duration::from_secs(1);

/// Maximum size of a file.
const MAX_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> Result<u32, String> {
        let text = String::from_utf8_lossy(bytes);
        text.trim()
            .parse()
            .map_err(|_| "expected a number".to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_broken_file_leaves_the_content_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("number");
        let open = || WatchedFile::open(&path, number);
        assert!(matches!(open(), Err(ConfigError::Read { .. })));
        std::fs::write(&path, "x").unwrap();
        assert!(matches!(open(), Err(ConfigError::Content { .. })));
        std::fs::write(&path, "1").unwrap();
        let file = open().unwrap();
        for (written, expected) in [
            (Some("2"), 2),
            (Some("two"), 2),
            (Some("3"), 3),
            (None, 3),
            (Some("4"), 4),
        ] {
            match written {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            tokio::time::advance(PERIOD).await;
            assert_eq!(*file.content().await, expected, "{written:?}");
        }
    }
}
