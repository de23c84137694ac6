//! Constant-time comparison with the secrets of a sender.

use a2a_transport::webhook::digest;
use subtle::{Choice, ConstantTimeEq};

/// Secrets of which the sender must present one, kept only as digests.
///
/// Compares the digests of both sides in full, with every secret: the time taken reveals neither how
/// much of a guess is right nor how long a secret is.
#[derive(Default)]
pub(super) struct SecretSet(Vec<[u8; 32]>);

impl SecretSet {
    pub(super) fn add(&mut self, value: &str) {
        self.0.push(digest(value.as_bytes()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, shown: &[u8]) -> bool {
        let shown = digest(shown);
        let found = self
            .0
            .iter()
            .fold(Choice::from(0), |found, known| found | known.ct_eq(&shown));
        found.into()
    }
}
