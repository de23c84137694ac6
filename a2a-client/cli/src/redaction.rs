//! Redaction of the secrets that were given to this program.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Secrets of the command line, the environment and the files.
static SECRETS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Hides a secret in everything that is printed about the connection, also where an agent repeats it.
pub(crate) fn hide(secret: &str) {
    // Shorter ones are parts of other words.
    if secret.len() >= MIN_SECRET_BYTES {
        let mut secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.push(secret.to_owned());
    }
}

/// Returns a text without the secrets.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut redacted = Cow::Borrowed(text);
    for secret in &*secrets {
        if redacted.contains(secret.as_str()) {
            redacted = redacted.replace(secret.as_str(), "***").into();
        }
    }
    redacted
}

const MIN_SECRET_BYTES: usize = 4;
