//! Keys that seal webhooks at rest.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use a2a_types::{Base64, TaskId, TaskPushNotificationConfig};
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};

use super::Owner;

/// Keys by which a server seals the webhooks in its store, by AES-256-GCM: their URLs, tokens and
/// credentials.
///
/// The first key seals; each of them opens what it has sealed. A key is replaced by a new first one, and
/// removed once the store has no webhook that it sealed: webhooks are sealed again when they are written,
/// and go with their tasks.
#[derive(Clone)]
pub struct EncryptionKeys(Vec<Arc<SealingKey>>);

struct SealingKey {
    id: String,
    key: RandomizedNonceKey,
}

impl EncryptionKeys {
    /// Creates a set with one key and the id of that key, which sealed webhooks have.
    ///
    /// Errors: [`EncryptionKeyError::Malformed`] if the id is not 1 to 64 letters, digits, `-`, `_` and `.`.
    pub fn new(id: &str, key: &[u8; 32]) -> Result<Self, EncryptionKeyError> {
        Self(Vec::new()).and(id, key)
    }

    /// Adds a key that opens what it has sealed.
    ///
    /// Errors: [`EncryptionKeyError::Malformed`], as for the first key, or if there is one of the same id.
    pub fn and(mut self, id: &str, key: &[u8; 32]) -> Result<Self, EncryptionKeyError> {
        let is_named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let malformed = |problem| EncryptionKeyError::Malformed {
            number: self.0.len() + 1,
            problem,
        };
        if !(1..=MAX_ID).contains(&id.len()) || !id.bytes().all(is_named) {
            return Err(malformed(
                "its id is none: expected 1 to 64 letters, digits, `-`, `_` and `.`",
            ));
        }
        if self.0.iter().any(|known| known.id == id) {
            return Err(malformed("another key has the same id"));
        }
        let key = RandomizedNonceKey::new(&AES_256_GCM, key)
            .map_err(|_| malformed("it is not a key of AES-256"))?;
        let id = id.to_owned();
        self.0.push(Arc::new(SealingKey { id, key }));
        Ok(self)
    }

    /// Reads keys: in each line an id and 32 bytes in Base64, the key that seals first. Commas may stand
    /// for the ends of lines; empty lines and lines that begin with `#` are skipped.
    ///
    /// ```
    /// use a2a_server::EncryptionKeys;
    ///
    /// EncryptionKeys::parse(
    ///     "2026-11 Zm9ydHktdHdvIGlzIG5vIHNlY3JldCwgbWluZCB5b3U=
    ///      2026-05 cmVhZCB0aGUgcGFzdCBhbmQgd3JpdGUgdGhlIG5leHQ=",
    /// )?;
    /// # Ok::<_, a2a_server::EncryptionKeyError>(())
    /// ```
    ///
    /// Errors: [`EncryptionKeyError::Malformed`], [`EncryptionKeyError::Missing`].
    pub fn parse(text: &str) -> Result<Self, EncryptionKeyError> {
        let lines = text.split(['\n', ',']).map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut keys = Self(Vec::new());
        for line in lines {
            let (id, key) = line.split_once(char::is_whitespace).unwrap_or_default();
            let key = Base64::from_text(key.trim()).decode().ok();
            let key: Option<[u8; 32]> = key.and_then(|bytes| bytes.try_into().ok());
            let key = key.ok_or(EncryptionKeyError::Malformed {
                number: keys.0.len() + 1,
                problem: "expected an id, and 32 bytes in Base64",
            })?;
            keys = keys.and(id, &key)?;
        }
        match keys.0.is_empty() {
            true => Err(EncryptionKeyError::Missing),
            false => Ok(keys),
        }
    }

    /// Reads keys from a file, as [`parse`](Self::parse) does.
    ///
    /// Errors: the errors of `parse`, and [`EncryptionKeyError::Unreadable`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, EncryptionKeyError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path);
        Self::parse(&text.map_err(|source| EncryptionKeyError::Unreadable {
            place: path.display().to_string(),
            source,
        })?)
    }

    /// Reads keys from an environment variable, as [`parse`](Self::parse) does.
    ///
    /// Errors: the errors of `parse`, and [`EncryptionKeyError::Unreadable`].
    pub fn from_env(name: &str) -> Result<Self, EncryptionKeyError> {
        let text = std::env::var(name);
        Self::parse(&text.map_err(|error| EncryptionKeyError::Unreadable {
            place: format!("${name}"),
            source: io::Error::other(error),
        })?)
    }

    /// Returns the webhook with its URL, token and credentials sealed, bound to its owner, task and id.
    pub(super) fn seal(
        &self,
        owner: &Owner,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, SealError> {
        let context = context(owner, &config.task_id, &config);
        let secret = TaskPushNotificationConfig {
            url: config.url,
            token: config.token,
            authentication: config.authentication,
            ..TaskPushNotificationConfig::default()
        };
        let mut bytes = serde_json::to_vec(&secret).map_err(|_| SealError::NotSealed)?;
        // Every set has at least one key.
        let SealingKey { id, key } = self
            .0
            .first()
            .map(Arc::as_ref)
            .ok_or(SealError::NotSealed)?;
        let nonce = key.seal_in_place_append_tag(Aad::from(context), &mut bytes);
        let nonce = nonce.map_err(|_| SealError::NotSealed)?;
        bytes.splice(..0, *nonce.as_ref());
        Ok(TaskPushNotificationConfig {
            url: format!("{PREFIX}{id}:{}", Base64::encode(bytes).as_text()),
            token: None,
            authentication: None,
            ..config
        })
    }

    /// Returns the unsealed webhook of a task. A webhook in the clear is returned unchanged.
    pub(super) fn open(
        keys: Option<&Self>,
        owner: &Owner,
        task: &TaskId,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, SealError> {
        let Some(sealed) = config.url.strip_prefix(PREFIX) else {
            return Ok(config);
        };
        let (id, text) = sealed.split_once(':').ok_or(SealError::Broken)?;
        let keys = keys.iter().flat_map(|keys| &keys.0);
        let SealingKey { key, .. } = &**keys.into_iter().find(|key| key.id == id).ok_or_else(
            // It may have been written by anybody who can write to the store.
            || SealError::UnknownKey(id.chars().take(MAX_ID).collect()),
        )?;
        let mut bytes = Base64::from_text(text)
            .decode()
            .map_err(|_| SealError::Broken)?;
        let (nonce, bytes) = bytes
            .split_at_mut_checked(NONCE_LEN)
            .ok_or(SealError::Broken)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealError::Broken)?;
        let context = context(owner, task, &config);
        let foreign = |_| SealError::Foreign(id.to_owned());
        let bytes = key
            .open_in_place(nonce, Aad::from(context), bytes)
            .map_err(foreign)?;
        let secret: TaskPushNotificationConfig =
            serde_json::from_slice(bytes).map_err(|_| SealError::Broken)?;
        Ok(TaskPushNotificationConfig {
            tenant: config.tenant,
            id: config.id,
            task_id: config.task_id,
            ..secret
        })
    }
}

/// Returns the place of a webhook, to which its secrets are bound.
fn context(owner: &Owner, task: &TaskId, config: &TaskPushNotificationConfig) -> Vec<u8> {
    let owner = (owner.principal.as_deref(), owner.tenant.as_deref());
    let place = serde_json::json!(["webhook", owner, task, config.id]);
    place.to_string().into_bytes()
}

/// Names the keys.
impl fmt::Debug for EncryptionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|key| &key.id))
            .finish()
    }
}

/// Reason why there are no [`EncryptionKeys`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptionKeyError {
    /// The file or variable cannot be read.
    #[error("the sealing keys in {place} cannot be read")]
    Unreadable {
        /// The file, or the variable.
        place: String,
        /// Reason.
        source: io::Error,
    },
    /// A key is malformed.
    #[error("sealing key {number}: {problem}")]
    Malformed {
        /// Number of the key, from 1.
        number: usize,
        /// Description of the fault.
        problem: &'static str,
    },
    /// There is no key.
    #[error("there is no sealing key: expected a line with an id and 32 bytes in Base64")]
    Missing,
}

/// Reason why a webhook cannot be sealed or opened.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum SealError {
    #[error(
        "a webhook is sealed by the key `{0}`, which is not among the sealing keys: add it after the first"
    )]
    UnknownKey(String),
    #[error(
        "a webhook is not what the key `{0}` has sealed for its place: another key of that id, or it was moved or changed"
    )]
    Foreign(String),
    #[error("a sealed webhook is malformed")]
    Broken,
    #[error("a webhook could not be sealed")]
    NotSealed,
}

/// Begin of the URL of a sealed webhook: no webhook in the clear can have it. The key's id follows, and
/// nonce, ciphertext and tag in Base64.
const PREFIX: &str = "sealed:1:";

/// Bytes of the id of a key.
const MAX_ID: usize = 64;

#[cfg(test)]
mod tests {
    use a2a_transport::Principal;
    use a2a_types::{AuthenticationInfo, ConfigId};

    use super::*;

    fn keys(ids: &[&str]) -> EncryptionKeys {
        let key = |id: &str| std::array::from_fn(|place| id.as_bytes()[place % id.len()]);
        let empty = EncryptionKeys(Vec::new());
        ids.iter()
            .fold(empty, |keys, id| keys.and(id, &key(id)).unwrap())
    }

    fn config() -> TaskPushNotificationConfig {
        TaskPushNotificationConfig {
            tenant: Some("tenant".to_owned()),
            id: "c".into(),
            task_id: "t".into(),
            url: "https://hook.example/?key=u".to_owned(),
            token: Some("token".to_owned()),
            authentication: Some(AuthenticationInfo {
                scheme: "Bearer".to_owned(),
                credentials: Some("credentials".to_owned()),
            }),
        }
    }

    fn owner(name: &'static str) -> Owner {
        Principal::named(name).into()
    }

    fn open(
        keys: &EncryptionKeys,
        owner: &Owner,
        task: &str,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, SealError> {
        EncryptionKeys::open(Some(keys), owner, &task.into(), config)
    }

    #[test]
    fn every_key_opens_what_it_sealed() {
        let sealed = keys(&["old"]).seal(&owner("ada"), config()).unwrap();
        assert!(sealed.url.starts_with("sealed:1:old:"), "{}", sealed.url);
        assert_eq!((&sealed.token, &sealed.authentication), (&None, &None));
        let both = keys(&["new", "old"]);
        assert_eq!(
            open(&both, &owner("ada"), "t", sealed.clone()),
            Ok(config())
        );
        let resealed = both.seal(&owner("ada"), config()).unwrap();
        assert!(
            resealed.url.starts_with("sealed:1:new:"),
            "{}",
            resealed.url
        );
        assert_eq!(
            open(&keys(&["new"]), &owner("ada"), "t", resealed),
            Ok(config())
        );
        let unknown = SealError::UnknownKey("old".to_owned());
        let found = open(&keys(&["new"]), &owner("ada"), "t", sealed.clone());
        assert_eq!(found.unwrap_err(), unknown);
        let found = EncryptionKeys::open(None, &owner("ada"), &"t".into(), sealed);
        assert_eq!(found.unwrap_err(), unknown);
        assert_eq!(
            open(&both, &owner("ada"), "t", config()),
            Ok(config()),
            "in the clear"
        );
    }

    #[test]
    fn moved_or_changed_webhook_is_not_opened() {
        let ours = keys(&["k"]);
        let sealed = ours.seal(&owner("ada"), config()).unwrap();
        let foreign = |found: Result<_, SealError>| {
            assert_eq!(found.unwrap_err(), SealError::Foreign("k".to_owned()));
        };
        foreign(open(&ours, &owner("bob"), "t", sealed.clone()));
        foreign(open(&ours, &owner("ada"), "u", sealed.clone()));
        let tenant = Owner::new(Some("ada".into())).tenant(Some("tenant".into()));
        foreign(open(&ours, &tenant, "t", sealed.clone()));
        let id = ConfigId::from("d");
        foreign(open(
            &ours,
            &owner("ada"),
            "t",
            TaskPushNotificationConfig {
                id,
                ..sealed.clone()
            },
        ));
        let other = EncryptionKeys::new("k", &[7; 32]).unwrap();
        foreign(open(&other, &owner("ada"), "t", sealed.clone()));
        let mut changed = sealed.clone();
        let first = "sealed:1:k:".len();
        let other_letter = if changed.url[first..].starts_with('A') {
            "B"
        } else {
            "A"
        };
        changed.url.replace_range(first..=first, other_letter);
        open(&ours, &owner("ada"), "t", changed).unwrap_err();
        for broken in [
            "sealed:1:",
            "sealed:1:k:",
            "sealed:1:k:AAAA",
            "sealed:1:k:#",
        ] {
            let url = broken.to_owned();
            let found = open(
                &ours,
                &owner("ada"),
                "t",
                TaskPushNotificationConfig { url, ..config() },
            );
            assert_eq!(found.unwrap_err(), SealError::Broken, "{broken}");
        }
    }

    #[test]
    fn nothing_is_sealed_alike_twice() {
        let seal = || keys(&["k"]).seal(&owner("ada"), config()).unwrap();
        assert_ne!(seal().url, seal().url);
    }

    #[test]
    fn keys_are_read_from_text() {
        let key = Base64::encode([7; 32]);
        let key = key.as_text();
        let read = EncryptionKeys::parse(&format!("# keys\n\n a {key} \r\nb\t{key},c {key}"));
        assert_eq!(format!("{:?}", read.unwrap()), r#"["a", "b", "c"]"#);
        for (text, expected) in [
            (String::new(), "there is no sealing key"),
            ("# a".to_owned(), "there is no sealing key"),
            (
                key.to_owned(),
                "sealing key 1: expected an id, and 32 bytes",
            ),
            (
                format!("a {key}\nb AAAA"),
                "sealing key 2: expected an id, and 32 bytes",
            ),
            (
                format!("a {key}\na {key}"),
                "sealing key 2: another key has the same id",
            ),
            (format!("a:b {key}"), "sealing key 1: its id is none"),
            (
                format!("{} {key}", "a".repeat(65)),
                "sealing key 1: its id is none",
            ),
        ] {
            let found = EncryptionKeys::parse(&text).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{text}: {found}");
            assert!(!found.contains(key), "{found}");
        }
        let found = EncryptionKeys::from_file("/nowhere")
            .unwrap_err()
            .to_string();
        assert_eq!(found, "the sealing keys in /nowhere cannot be read");
        EncryptionKeys::from_env("A2A_NO_SUCH_VARIABLE").unwrap_err();
    }
}
