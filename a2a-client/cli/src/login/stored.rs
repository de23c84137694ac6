//! Tokens that `a2a auth login` has stored, in a file that only its user can read.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use a2a_types::Timestamp;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::show::note;
use crate::sources::config_directory;

/// A token for an agent.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredToken {
    /// Origin of the agent: the token goes nowhere else.
    pub(crate) agent: String,
    /// Name of the scheme on the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scheme: Option<String>,
    pub(crate) access_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) token_url: String,
    pub(crate) client_id: String,
}

impl StoredToken {
    /// Returns whether the token is valid for long enough that a call can be made with it.
    pub(crate) fn is_valid(&self) -> bool {
        let soon = Timestamp::now().as_millis() + MIN_VALIDITY_MILLIS;
        self.expires_at.is_none_or(|end| end.as_millis() > soon)
    }
}

const MIN_VALIDITY_MILLIS: i64 = 10_000;

/// The file.
pub(crate) struct StoredTokens {
    pub(crate) path: PathBuf,
    pub(crate) tokens: Vec<StoredToken>,
}

impl StoredTokens {
    /// Reads the file, which need not exist.
    pub(crate) fn read() -> Result<Self, Failure> {
        let Some(directory) = config_directory() else {
            return Err(Failure::usage(
                "tokens cannot be stored: expected HOME or XDG_CONFIG_HOME",
            ));
        };
        let path = directory.join("tokens.json");
        let tokens = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(std::io::Error::other),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        let tokens = tokens.map_err(Failure::machine(path.display().to_string()))?;
        Ok(Self { path, tokens })
    }

    /// Returns the token for an agent.
    pub(crate) fn find(&self, agent: &str) -> Option<&StoredToken> {
        self.tokens.iter().find(|token| token.agent == agent)
    }

    /// Stores a token in place of the one for that agent, and returns the path of the file.
    pub(crate) fn put(token: StoredToken) -> Result<PathBuf, Failure> {
        let locked = Self::lock()?;
        let path = locked.stored.path.clone();
        locked.put(token)?;
        Ok(path)
    }

    /// Removes the token for an agent, and returns whether there was one.
    pub(crate) fn remove(agent: &str) -> Result<bool, Failure> {
        let mut locked = Self::lock()?;
        let was_there = locked.stored.find(agent).is_some();
        locked.stored.tokens.retain(|token| token.agent != agent);
        locked.write()?;
        Ok(was_there)
    }

    /// Reads the file for a change, and keeps other commands from changing it until the change is made. Waits up to 30 s
    /// while another command does so.
    pub(crate) fn lock() -> Result<LockedTokens, Failure> {
        let path = Self::read()?.path.with_extension("lock");
        // A file that cannot be changed says so when it is written.
        let lock = acquire(&path);
        if let Err(error) = &lock {
            note(&format!("{}: {error}: going on without it", path.display()));
        }
        Ok(LockedTokens {
            stored: Self::read()?,
            _lock: lock.ok(),
        })
    }
}

/// Locks a file. A command that was stopped may hold the lock forever.
fn acquire(path: &Path) -> std::io::Result<File> {
    if let Some(directory) = path.parent() {
        private_directory().create(directory)?;
    }
    let lock = private_options().create(true).open(path)?;
    let end = Instant::now() + MAX_WAIT;
    while Instant::now() < end {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // There is no signal for the end of a file's lock.
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    let problem = "another command has held the lock for 30 s";
    Err(std::io::Error::other(problem))
}

const MAX_WAIT: Duration = Duration::from_secs(30);

/// The file while this process alone may change it.
pub(crate) struct LockedTokens {
    pub(crate) stored: StoredTokens,
    _lock: Option<File>,
}

impl LockedTokens {
    /// Stores a token in place of the one for that agent.
    pub(crate) fn put(mut self, token: StoredToken) -> Result<(), Failure> {
        let tokens = &mut self.stored.tokens;
        tokens.retain(|other| other.agent != token.agent);
        tokens.push(token);
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let path = &self.stored.path;
        let text = serde_json::to_vec_pretty(&self.stored.tokens).map_err(std::io::Error::other);
        let written = text.and_then(|text| write_private(path, &text));
        written.map_err(Failure::machine(path.display().to_string()))
    }
}

/// Replaces a file by one that only its user can read.
fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut file = private_file(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

fn private_directory() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn private_file(path: &Path) -> std::io::Result<File> {
    // A file left over would keep its mode.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    private_options().create_new(true).open(path)
}

fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
