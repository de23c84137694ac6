//! The token of a launch, which authenticates the page.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// A random token. Never printed but in the URL of the page.
pub(crate) struct LaunchToken(String);

impl LaunchToken {
    /// Generates a token.
    pub(crate) fn generate() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        aws_lc_rs::rand::fill(&mut bytes)
            .map_err(|_| io::Error::other("the system has no random numbers"))?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns the token, for the URL of the page.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in a time that depends on the length alone.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }
}

/// Bytes of randomness.
const BYTES: usize = 32;
