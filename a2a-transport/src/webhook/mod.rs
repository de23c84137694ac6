//! Push notifications: body, headers and signature. Pure functions, both directions side by side: the agent
//! that sends and the caller that receives use the same ones.
//!
//! ```text
//! agent ─ write_notification ─ Secret::sign, SigningKey::sign ─ POST ─► Secret::verify, Jwk::verify ─ read_notice ─ caller
//! ```
//!
//! Two ways of signing, which can be used together: Standard Webhooks ([`Secret`], three headers, keys that both
//! sides have), and a JSON Web Token in `Authorization` ([`SigningKey`], [`Claims`]), whose public keys the
//! agent publishes as a [`Jwks`]. Times are seconds since the Unix epoch, and always arguments: nothing here
//! reads a clock.

mod headers;
mod jwk;
mod jwks;
mod key;
mod notice;
mod relay;
mod secret;
mod token;

use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

pub use crate::binding::{NotificationBody, write_notification};
pub use headers::{
    AGENT_JWKS_PATH, CHALLENGE, TOKEN, TOKEN_HEADERS, WEBHOOK_ID, WEBHOOK_SIGNATURE,
    WEBHOOK_TIMESTAMP,
};
pub use jwk::Jwk;
pub use jwks::Jwks;
pub use key::{Algorithm, InvalidKey, SigningKey};
pub use notice::{ParsedNotification, read_notice};
pub use relay::{NotificationOutcome, NotificationReceiver, NotificationSender};
pub use secret::Secret;
#[cfg(feature = "card-signature")]
pub(crate) use token::choose_provider;
pub use token::{Claims, TokenError, key_id};

/// Maximum distance in seconds between a signature's time and now.
pub const MAX_CLOCK_DIFFERENCE: u64 = 300;

/// Returns the SHA-256 of a body.
pub fn digest(body: &[u8]) -> [u8; 32] {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, body);
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

/// Returns the SHA-256 of a body as `request_body_sha256` has it: hexadecimal, in lower case.
pub fn hex_digest(body: &[u8]) -> String {
    digest(body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns whether a signature made at `time` is still accepted at `now`, both in seconds.
pub(crate) fn is_recent(time: u64, now: u64) -> bool {
    time.abs_diff(now) <= MAX_CLOCK_DIFFERENCE
}

/// Base64 as JSON Web Tokens have it.
pub(crate) const URL: GeneralPurpose = URL_SAFE_NO_PAD;
/// Base64 of Standard Webhooks; padding is written, and not required.
const TEXT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Signatures have one spelling only.
const EXACT: GeneralPurpose = STANDARD;
