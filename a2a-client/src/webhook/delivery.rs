//! Headers of Standard Webhooks.

use a2a_transport::webhook::{Secret, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
use http::HeaderMap;
use http::header::HeaderName;

/// The headers of Standard Webhooks.
pub(super) struct Delivery<'a> {
    pub(super) id: &'a str,
    timestamp: u64,
    signatures: &'a str,
}

impl<'a> Delivery<'a> {
    /// Reads the headers, or returns `None` unless all three are present, once, and well-formed.
    pub(super) fn of(headers: &'a HeaderMap) -> Option<Self> {
        let written = only(headers, &WEBHOOK_TIMESTAMP)?;
        let timestamp: u64 = written.parse().ok()?;
        // The number is signed as it is written, and so has only one spelling.
        (timestamp.to_string() == written).then_some(())?;
        Some(Self {
            id: id(headers)?,
            timestamp,
            signatures: only(headers, &WEBHOOK_SIGNATURE)?,
        })
    }

    pub(super) fn is_signed_by(&self, secrets: &[Secret], body: &[u8], now: u64) -> bool {
        let Self {
            id,
            timestamp,
            signatures,
        } = *self;
        secrets
            .iter()
            .any(|secret| secret.verify(id, timestamp, body, signatures, now))
    }
}

/// Returns the id of the delivery.
pub(super) fn id(headers: &HeaderMap) -> Option<&str> {
    only(headers, &WEBHOOK_ID).filter(|id| is_word(id))
}

/// Returns a header that occurs exactly once, in ASCII.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns whether a text is 1 to 256 characters of visible ASCII.
pub(super) fn is_word(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
