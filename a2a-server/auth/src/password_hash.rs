//! Hashes of passwords.

use argon2::password_hash::PasswordVerifier;
use argon2::password_hash::phc::PasswordHash as PhcHash;
use argon2::{Argon2, Params};

/// Hash of a password, by Argon2 or bcrypt.
#[derive(Clone)]
pub(crate) enum PasswordHash {
    Argon2(String),
    Bcrypt(String),
}

impl PasswordHash {
    /// Reads a hash. Errors: it is of another algorithm, or too costly to be verified.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if ["$2a$", "$2b$", "$2x$", "$2y$"]
            .iter()
            .any(|kind| text.starts_with(kind))
        {
            let parts = text.parse::<bcrypt::HashParts>();
            let parts = parts.map_err(|_| "expected a whole bcrypt hash".to_owned())?;
            return match parts.get_cost() > MAX_BCRYPT_COST {
                true => Err(format!(
                    "expected a bcrypt cost of {MAX_BCRYPT_COST} at most"
                )),
                false => Ok(Self::Bcrypt(text.to_owned())),
            };
        }
        if !text.starts_with("$argon2") {
            return Err("expected a hash by Argon2 or bcrypt, as of `htpasswd -B`".to_owned());
        }
        let whole = "expected a whole Argon2 hash".to_owned();
        let hash = PhcHash::new(text).map_err(|_| whole.clone())?;
        let params = Params::try_from(&hash).map_err(|_| whole)?;
        match params.m_cost() > MAX_ARGON2_KIB || params.t_cost() > MAX_ARGON2_PASSES {
            true => Err(format!(
                "expected {MAX_ARGON2_KIB} KiB and {MAX_ARGON2_PASSES} passes of Argon2 at most"
            )),
            false => Ok(Self::Argon2(text.to_owned())),
        }
    }

    /// Returns whether it is the hash of this password. Takes milliseconds, and for Argon2 much memory.
    pub(crate) fn verify(&self, password: &[u8]) -> bool {
        match self {
            Self::Argon2(hash) => PhcHash::new(hash)
                .is_ok_and(|hash| Argon2::default().verify_password(password, &hash).is_ok()),
            // bcrypt would ignore what follows the 72nd byte.
            Self::Bcrypt(hash) => bcrypt::non_truncating_verify(password, hash).unwrap_or(false),
        }
    }
}

/// Maximum cost of bcrypt: 2 s on a usual core.
const MAX_BCRYPT_COST: u32 = 15;

/// Maximum memory of Argon2 in KiB.
const MAX_ARGON2_KIB: u32 = 256 << 10;

/// Maximum number of passes of Argon2.
const MAX_ARGON2_PASSES: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// `secret` by bcrypt of cost 4, and by Argon2id with 64 KiB and one pass.
    const BCRYPT: &str = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
    const ARGON2: &str =
        "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$Sm3MnLdCFk0Af+croKgebRoqqmhbKd88iiW3yUOXn78";

    #[test]
    fn passwords_are_verified() {
        for hash in [BCRYPT, ARGON2] {
            let hash = PasswordHash::parse(hash).unwrap();
            assert!(hash.verify(b"secret"));
            assert!(!hash.verify(b"Secret"));
            assert!(!hash.verify(b""));
        }
    }

    #[test]
    fn weak_and_costly_hashes_are_refused() {
        let costly = BCRYPT.replacen("$04$", "$16$", 1);
        let large = ARGON2.replacen("m=64,", "m=4194304,", 1);
        for (hash, problem) in [
            ("secret", "Argon2 or bcrypt"),
            ("{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "Argon2 or bcrypt"),
            ("$apr1$lZL6V/ci$eIMz/iKDkbtys/uU7LEK00", "Argon2 or bcrypt"),
            (&BCRYPT[..30], "whole bcrypt"),
            (&ARGON2[..30], "whole Argon2"),
            (&costly, "cost of 15 at most"),
            (&large, "262144 KiB"),
        ] {
            let error = PasswordHash::parse(hash).err().expect(hash);
            assert!(error.contains(problem), "{hash}: {error}");
        }
    }
}
