//! Saved settings: a file of connections without their secrets.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::problem::Problem;

/// The saved settings, the latest last, and their file. Without a file they last as long as the process.
pub(super) struct SavedSettings {
    file: Option<PathBuf>,
    settings: Mutex<Vec<Settings>>,
}

/// Content of the file.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct StateFile {
    agents: Vec<Settings>,
}

impl SavedSettings {
    /// Reads the file. A file that cannot be read counts as missing, and is replaced at the next
    /// change.
    pub(super) fn of(file: Option<PathBuf>) -> Self {
        let read = file.as_deref().map(read).unwrap_or_default();
        Self {
            file,
            settings: Mutex::new(read),
        }
    }

    pub(super) fn all(&self) -> Vec<Settings> {
        self.settings().clone()
    }

    /// Saves settings without secrets. They replace saved settings of the same URL, version and binding.
    pub(super) fn put(&self, settings: Settings) -> Result<(), Problem> {
        let mut saved = self.settings();
        let key = |of: &Settings| (of.url.clone(), of.version, of.binding);
        saved.retain(|other| key(other) != key(&settings));
        if saved.len() >= MAX_SAVED {
            saved.remove(0);
        }
        saved.push(settings);
        self.write(&saved)
    }

    /// Removes all settings of a URL.
    pub(super) fn remove(&self, url: &str) -> Result<(), Problem> {
        let mut saved = self.settings();
        let before = saved.len();
        saved.retain(|settings| settings.url != url);
        if saved.len() == before {
            return Err(Problem::not_found("no settings are saved for this URL"));
        }
        self.write(&saved)
    }

    fn write(&self, agents: &[Settings]) -> Result<(), Problem> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let state = StateFile {
            agents: agents.to_vec(),
        };
        replace(file, &state).map_err(|error| {
            let problem = format!("the settings cannot be saved: {}: {error}", file.display());
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, problem)
        })
    }

    fn settings(&self) -> MutexGuard<'_, Vec<Settings>> {
        // Every change is one insertion or removal, so a panic elsewhere leaves the list whole.
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(file: &Path) -> Vec<Settings> {
    let read = || -> io::Result<StateFile> {
        if std::fs::metadata(file)?.len() > MAX_FILE_BYTES {
            return Err(io::Error::other("the file is too large"));
        }
        Ok(serde_json::from_slice(&std::fs::read(file)?)?)
    };
    match read() {
        Ok(mut state) => {
            state.agents.truncate(MAX_SAVED);
            state.agents
        }
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                let file = file.display();
                tracing::warn!(%file, %error, "the saved settings cannot be read");
            }
            Vec::new()
        }
    }
}

/// Writes a file that only its owner reads, as a whole or not at all.
fn replace(file: &Path, state: &StateFile) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut draft = file.as_os_str().to_owned();
    draft.push(".new");
    let text = serde_json::to_vec_pretty(state)?;
    io::Write::write_all(&mut options.open(&draft)?, &text)?;
    std::fs::rename(&draft, file)
}

/// Settings that are kept.
const MAX_SAVED: usize = 256;
/// Bytes of the file that are read.
const MAX_FILE_BYTES: u64 = 4 << 20;
