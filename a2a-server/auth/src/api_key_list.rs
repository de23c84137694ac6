//! API keys and the files that hold them.

use std::fmt;
use std::time::SystemTime;

use a2a_transport::Principal;
use a2a_types::Timestamp;
use subtle::{ConditionallySelectable, ConstantTimeEq};

use crate::digest_cache::{Digest, sha256};
use crate::error::ConfigError;

/// An API key with what it grants. Only its SHA-256 is in memory.
#[derive(Clone)]
pub struct ApiKey {
    digest: Digest,
    principal: Principal,
    expires: Option<SystemTime>,
}

impl ApiKey {
    /// Creates a key of a principal, without scopes and without expiry. Errors: it is shorter than 16 bytes, or
    /// has a byte that no header can have.
    pub fn new(secret: &str, principal: &str) -> Result<Self, ConfigError> {
        match problem(secret) {
            Some(problem) => Err(ConfigError::value(
                format!("API key of `{principal}`"),
                problem,
            )),
            None => Ok(Self::of_sha256(sha256(secret.as_bytes()), principal)),
        }
    }

    /// Makes a key that is known by its SHA-256.
    pub fn of_sha256(digest: [u8; 32], principal: &str) -> Self {
        Self {
            digest,
            principal: Principal::named(principal),
            expires: None,
        }
    }

    /// Sets the scopes that it grants.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.principal = self.principal.with_scopes(scopes);
        self
    }

    /// Sets the time from which on it is refused.
    pub fn expires(mut self, time: SystemTime) -> Self {
        self.expires = Some(time);
        self
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey")
            .field("principal", &self.principal)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

fn problem(secret: &str) -> Option<&'static str> {
    if secret.len() < MIN_KEY {
        return Some("expected 16 bytes or more");
    }
    let is_visible = secret.bytes().all(|byte| byte.is_ascii_graphic());
    (!is_visible).then_some("expected visible ASCII characters")
}

/// Keys in force.
#[derive(Default)]
pub(crate) struct ApiKeyList(Vec<ApiKey>);

impl ApiKeyList {
    /// Adds a key. Errors: there are too many.
    pub(crate) fn push(&mut self, key: ApiKey) -> Result<(), String> {
        if self.0.len() == MAX_KEYS {
            return Err(format!("expected {MAX_KEYS} keys at most"));
        }
        self.0.push(key);
        Ok(())
    }

    /// Returns the principal of the key with this digest, unless it has expired. Every digest is compared, each in
    /// constant time, so that the duration reveals nothing about them.
    pub(crate) fn find(&self, digest: &Digest, now: SystemTime) -> Option<&Principal> {
        let mut position = u64::MAX;
        for (index, key) in self.0.iter().enumerate() {
            position.conditional_assign(&(index as u64), key.digest.ct_eq(digest));
        }
        let key = self.0.get(usize::try_from(position).ok()?)?;
        let is_in_force = key.expires.is_none_or(|expires| now < expires);
        is_in_force.then_some(&key.principal)
    }

    /// Reads the content of a file: a key or `sha256:` and its digest in hexadecimal, the name of its principal,
    /// and options, in each line.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "expected UTF-8".to_owned())?;
        let mut keys = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = line_of(line).and_then(|key| keys.push(key));
            key.map_err(|problem| format!("line {}: {problem}", index + 1))?;
        }
        Ok(keys)
    }
}

/// Reads one key with what it grants.
fn line_of(line: &str) -> Result<ApiKey, String> {
    let mut words = line.split_whitespace();
    let (Some(secret), Some(principal)) = (words.next(), words.next()) else {
        return Err("expected a key and the name of its principal".to_owned());
    };
    if principal.contains('=') {
        return Err("expected the name of the principal after the key".to_owned());
    }
    let mut key = match secret.strip_prefix("sha256:") {
        Some(hex) => {
            let digest = digest_of(hex).ok_or("expected 64 hexadecimal digits after `sha256:`")?;
            ApiKey::of_sha256(digest, principal)
        }
        None => match problem(secret) {
            Some(problem) => return Err(problem.to_owned()),
            None => ApiKey::of_sha256(sha256(secret.as_bytes()), principal),
        },
    };
    for option in words {
        key = match option.split_once('=') {
            Some(("scopes", scopes)) => {
                key.scopes(scopes.split(',').filter(|scope| !scope.is_empty()))
            }
            Some(("expires", time)) => {
                let time = Timestamp::parse_zone_optional(time);
                let time =
                    time.map_err(|_| "expected a time like `expires=2027-01-31T00:00:00Z`")?;
                let millis = u64::try_from(time.as_millis()).unwrap_or(0);
                key.expires(SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(millis))
            }
            _ => return Err("expected `scopes=A,B` or `expires=TIME` after the name".to_owned()),
        };
    }
    Ok(key)
}

fn digest_of(hex: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        let pair = &hex[2 * index..2 * index + 2];
        if !pair.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(digest)
}

/// Minimum length of a key in bytes: 128 bits of a random key take 22 characters, weak keys are shorter.
const MIN_KEY: usize = 16;

/// Maximum number of keys: each request compares all of them.
const MAX_KEYS: usize = 10_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const KEY: &str = "0123456789abcdef";

    #[track_caller]
    fn refused(text: &str, problem: &str) {
        let error = ApiKeyList::parse(text.as_bytes()).err().expect(text);
        assert!(error.contains(problem), "{text}: {error}");
        assert!(!error.contains("0123456789"), "{error}");
    }

    #[test]
    fn keys_are_found_by_digest_until_they_expire() {
        let hex: String = sha256(b"another key of bob")
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        let text = format!(
            "# keys\n\n{KEY} ada scopes=tasks:read,tasks:write\r\nsha256:{hex} bob expires=2027-01-31T00:00:00Z"
        );
        let keys = ApiKeyList::parse(text.as_bytes()).unwrap();
        let before = SystemTime::UNIX_EPOCH + Duration::from_secs(1_801_353_599);
        let find = |key: &str, now| keys.find(&sha256(key.as_bytes()), now);
        let ada = find(KEY, before).unwrap();
        assert_eq!(ada.name(), Some("ada"));
        assert_eq!(
            ada.scopes().collect::<Vec<_>>(),
            ["tasks:read", "tasks:write"]
        );
        let bob = find("another key of bob", before).unwrap();
        assert_eq!((bob.name(), bob.scopes().count()), (Some("bob"), 0));
        let later = before + Duration::from_secs(1);
        assert_eq!(find("another key of bob", later), None);
        assert!(find(KEY, later).is_some());
        assert_eq!(find("0123456789abcdeF", before), None);
        assert_eq!(ApiKeyList::default().find(&sha256(b""), before), None);
    }

    #[test]
    fn a_broken_file_is_refused_without_quoting_it() {
        refused(KEY, "line 1: expected a key and the name");
        refused(&format!("\n{KEY} scopes=a"), "line 2: expected the name");
        refused(&format!("{KEY} a b"), "expected `scopes=A,B`");
        refused(&format!("{KEY} a expires=tomorrow"), "expected a time");
        refused("0123456789 a", "16 bytes");
        refused("0123456789abcdé a", "visible ASCII");
        refused("sha256:0123456789 a", "64 hexadecimal digits");
        refused(
            &format!("sha256:{} a", "+0".repeat(32)),
            "64 hexadecimal digits",
        );
        let many = format!("{KEY} a\n").repeat(MAX_KEYS + 1);
        refused(&many, "10000 keys at most");
        assert!(ApiKeyList::parse(b"\xFF").is_err());
    }

    #[test]
    fn debug_output_has_no_key() {
        let key = ApiKey::new(KEY, "ada").unwrap();
        assert_eq!(
            format!("{key:?}"),
            "ApiKey { principal: ada, expires: None, .. }"
        );
        let refused = ApiKey::new("0123456789", "ada").unwrap_err().to_string();
        assert_eq!(refused, "API key of `ada`: expected 16 bytes or more");
    }
}
