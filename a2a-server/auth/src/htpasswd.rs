//! Names and hashes of passwords, as `htpasswd` writes them.

use std::collections::HashMap;

use crate::password_hash::PasswordHash;

/// Users by name.
#[derive(Clone, Default)]
pub(crate) struct Htpasswd(HashMap<String, PasswordHash>);

impl Htpasswd {
    /// Adds a user. Errors: the name or the hash cannot be used, or there are too many.
    pub(crate) fn insert(&mut self, name: &str, hash: &str) -> Result<(), String> {
        if name.is_empty() || name.contains(':') || name.chars().any(char::is_control) {
            return Err("expected a name without colons".to_owned());
        }
        if self.0.len() == MAX_USERS {
            return Err(format!("expected {MAX_USERS} users at most"));
        }
        let hash = PasswordHash::parse(hash)?;
        match self.0.insert(name.to_owned(), hash) {
            None => Ok(()),
            Some(_) => Err("the name is there twice".to_owned()),
        }
    }

    /// Returns the hash of a user.
    pub(crate) fn hash(&self, name: &str) -> Option<&PasswordHash> {
        self.0.get(name)
    }

    /// Returns the hash of any user; all cost about the same to verify.
    pub(crate) fn any_hash(&self) -> Option<&PasswordHash> {
        self.0.values().next()
    }

    /// Reads the content of a file: a name, a colon and a hash in each line.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "expected UTF-8".to_owned())?;
        let mut users = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let user = match line.split_once(':') {
                Some((name, hash)) => users.insert(name, hash),
                None => Err("expected a name, a colon and a hash".to_owned()),
            };
            user.map_err(|problem| format!("line {}: {problem}", index + 1))?;
        }
        Ok(users)
    }
}

/// Maximum number of users.
const MAX_USERS: usize = 100_000;
