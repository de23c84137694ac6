//! Values of headers that hold credentials.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};

/// Returns a value for this header that is kept out of logs.
///
/// Errors: it cannot be sent.
pub(super) fn value(name: &HeaderName, value: &str) -> Result<HeaderValue, String> {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !is_plain || value.trim() != value || value.is_empty() || value.len() > MAX_VALUE {
        return Err(format!(
            "the value for the header `{name}` cannot be sent: expected 1 to {MAX_VALUE} \
             visible ASCII characters"
        ));
    }
    let mut value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the value of `Authorization` with a bearer token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, String> {
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) || token.is_empty() {
        return Err(
            "the bearer token cannot be sent: expected visible ASCII characters".to_owned(),
        );
    }
    value(&AUTHORIZATION, &format!("Bearer {token}"))
}

/// Returns the value of `Authorization` with a name and a password (RFC 7617).
pub(super) fn basic(user: &str, password: &str) -> Result<HeaderValue, String> {
    let has_control = user.chars().chain(password.chars()).any(char::is_control);
    if user.contains(':') || has_control {
        return Err(
            "the user name has a `:`, or it or the password a control character".to_owned(),
        );
    }
    let credentials = STANDARD.encode(format!("{user}:{password}"));
    value(&AUTHORIZATION, &format!("Basic {credentials}"))
}

/// Bytes of a header value.
const MAX_VALUE: usize = 16 << 10;
