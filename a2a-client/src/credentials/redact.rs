//! Redaction of secrets in shown and recorded exchanges.
//!
//! One rule says which names are secret. It is used for every output of the wire: `--debug`, recordings, exports,
//! reports.

use std::borrow::Cow;
use std::ops::Range;

use http::HeaderValue;
use http::request::Parts as Head;

use super::secret::Secret;

/// Text in place of a secret.
const MASK: &str = "***";

/// Returns whether a header, or a parameter of a query, holds a secret by its name: the name contains a word like
/// `token`, `secret`, `key`, `auth`, `cookie`, `session`, `signature`, `dpop` or `jwt`, in any case.
///
/// Challenges (`WWW-Authenticate`), page tokens and rate limits hold none.
pub fn is_secret_name(name: &str) -> bool {
    let plain = plain(name);
    let is_public = PUBLIC.contains(&plain.as_str())
        || plain.ends_with("pagetoken")
        || plain.contains("ratelimit");
    !is_public
        && (SECRET_NAMES.contains(&plain.as_str())
            || SECRET_WORDS.iter().any(|word| plain.contains(word)))
}

/// Returns whether a member of JSON holds a secret by its name. Protocol documents have members whose names merely
/// contain such a word, like `tokenUrl`, `sessionId` and the `signature` of a card: the word must be the last.
fn is_secret_member(name: &str) -> bool {
    let plain = plain(name);
    !plain.ends_with("pagetoken") && SECRET_ENDS.iter().any(|end| plain.ends_with(end))
}

/// Returns the letters and digits of a name in lower case: `X-Api-Key`, `api_key` and `apiKey` are alike.
fn plain(name: &str) -> String {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    plain.map(|letter| letter.to_ascii_lowercase()).collect()
}

const SECRET_WORDS: &[&str] = &[
    "assertion",
    "auth",
    "bearer",
    "cookie",
    "credential",
    "devicecode",
    "dpop",
    "hmac",
    "jwt",
    "key",
    "passphrase",
    "passw",
    "pwd",
    "saml",
    "secret",
    "session",
    "sessid",
    "signature",
    "ticket",
    "token",
];

/// Names that hold secrets as a whole: parts of them are in many others.
const SECRET_NAMES: &[&str] = &["code", "otp", "pass", "pin", "sid", "sig"];

const PUBLIC: &[&str] = &[
    "accesscontrolallowcredentials",
    "authority",
    "proxyauthenticate",
    "wwwauthenticate",
];

const SECRET_ENDS: &[&str] = &[
    "accesskey",
    "apikey",
    "assertion",
    "authorization",
    "bearer",
    "clientkey",
    "cookie",
    "credential",
    "credentials",
    "devicecode",
    "dpop",
    "encryptionkey",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "signingkey",
    "token",
];

/// Returns the URL of a request as it may be shown: with `***` in place of the API key that a card puts in the
/// query, and of the [secrets](is_secret_name) in the URL; for a [`WireObserver`](crate::WireObserver) that records
/// the wire.
pub fn shown_url(head: &Head) -> String {
    let url = head.uri.to_string();
    let url = match (head.extensions.get(), url.split_once('?')) {
        (Some(SecretPairs(hidden)), Some((place, query))) => {
            let is_hidden = |pair: &str| hidden.iter().any(|secret| secret.expose() == pair);
            let shown = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) if is_hidden(pair) => format!("{name}={MASK}"),
                _ => pair.to_owned(),
            });
            let shown: Vec<_> = shown.collect();
            format!("{place}?{}", shown.join("&"))
        }
        _ => url,
    };
    shown_text(&url).into_owned()
}

/// Returns the value of a header as it may be shown: `***` if it is marked as sensitive, or secret
/// [by its name](is_secret_name).
pub fn shown_header(name: &str, value: &HeaderValue) -> String {
    if value.is_sensitive() || is_secret_name(name) {
        return MASK.to_owned();
    }
    shown_text(&String::from_utf8_lossy(value.as_bytes())).into_owned()
}

/// Returns a text as it may be shown, with `***` in place of values with a secret name: members of JSON, also of
/// JSON within its strings, and parameters of URLs and forms; and of credentials in a URL, and after the name of an
/// authentication scheme. The text may be cut off at any place.
pub fn shown_text(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut shown = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let secret = match byte {
            b'"' => member(bytes, at),
            b'=' => parameter(bytes, at),
            b':' => userinfo(bytes, at),
            b' ' => credentials(bytes, at),
            _ => None,
        };
        match secret.filter(|secret| !secret.is_empty()) {
            // Each begins after an ASCII character, and ends before one or with the text.
            Some(secret) => {
                shown.push_str(&text[copied..secret.start]);
                shown.push_str(MASK);
                copied = secret.end;
                at = secret.end;
            }
            None => at += 1,
        }
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(shown + &text[copied..]),
    }
}

/// Returns the place of a secret string, if this quote begins its name.
fn member(bytes: &[u8], quote: usize) -> Option<Range<usize>> {
    // JSON in a string of JSON escapes each quote, and the escapes again in each further string: 1, 3, 7.
    let escapes = backslashes(bytes, 0, quote);
    let level = (escapes + 1).ilog2();
    if (1 << level) - 1 != escapes {
        return None;
    }
    let quoted = |at: usize| -> Option<usize> {
        let rest = bytes.get(at..)?;
        let is_escaped = rest.iter().take(escapes).all(|byte| *byte == b'\\');
        (is_escaped && rest.get(escapes) == Some(&b'"')).then_some(at + escapes + 1)
    };
    let blanks = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        at + blanks.count()
    };
    let name = bytes.get(quote + 1..)?.iter().take(MAX_NAME);
    let name = name.take_while(|byte| is_name_byte(**byte)).count();
    let name_end = quote + 1 + name;
    let colon = blanks(quoted(name_end)?);
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let start = quoted(blanks(colon + 1))?;
    let name = str::from_utf8(&bytes[quote + 1..name_end]).ok()?;
    if !is_secret_member(name) {
        return None;
    }
    let rest = bytes[start..].iter().enumerate();
    let quotes = rest.filter(|(_, byte)| **byte == b'"');
    for (offset, _) in quotes {
        let found = backslashes(bytes, start, start + offset);
        let mut left = found;
        for _ in 0..level {
            // An even number ends the string that is around this one.
            left = if left % 2 == 1 { left / 2 } else { 0 };
        }
        if left.is_multiple_of(2) {
            return Some(start..start + offset - found.min(escapes));
        }
    }
    Some(start..bytes.len())
}

/// Returns the number of backslashes before a place, back to `start`.
fn backslashes(bytes: &[u8], start: usize, end: usize) -> usize {
    let before = bytes[start..end].iter().rev();
    before.take_while(|byte| **byte == b'\\').count()
}

/// Returns the place of a secret value, if this `=` follows its name.
fn parameter(bytes: &[u8], equals: usize) -> Option<Range<usize>> {
    let before = bytes[..equals].iter().rev().take(MAX_NAME);
    let name = before.take_while(|byte| is_name_byte(**byte)).count();
    let start = equals - name;
    let before = start.checked_sub(1).map(|before| bytes[before]);
    let is_first = matches!(before, None | Some(b'?' | b'&' | b';' | b'\n' | b'\r'));
    let name = str::from_utf8(&bytes[start..equals]).ok()?;
    if !is_first || !is_secret_name(name) {
        return None;
    }
    // A query may follow the parameter of a path.
    let ends: &[u8] = if before == Some(b';') { b"?&#" } else { b"&#" };
    Some(span(bytes, equals + 1, ends))
}

/// Returns the place of the name and password of a URL, if this colon follows its scheme.
fn userinfo(bytes: &[u8], colon: usize) -> Option<Range<usize>> {
    if !bytes[colon..].starts_with(b"://") {
        return None;
    }
    let authority = span(bytes, colon + 3, b"/?#");
    let at = bytes[authority.clone()]
        .iter()
        .rposition(|byte| *byte == b'@')?;
    Some(authority.start..authority.start + at)
}

/// Returns the place of the credentials, if this blank follows the name of an authentication scheme. Words of prose
/// are shorter.
fn credentials(bytes: &[u8], blank: usize) -> Option<Range<usize>> {
    let before = bytes[..blank].iter().rev();
    let word = before.take_while(|byte| byte.is_ascii_alphanumeric());
    let word = str::from_utf8(&bytes[blank - word.take(MAX_NAME).count()..blank]).ok()?;
    if !SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        return None;
    }
    let rest = &bytes[blank..];
    let start = blank + rest.iter().take_while(|byte| **byte == b' ').count();
    let is_token = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'-')
    };
    let length = bytes[start..].iter().take_while(is_token).count();
    let padding = bytes[start + length..]
        .iter()
        .take_while(|byte| **byte == b'=');
    (length >= MIN_CREDENTIALS).then(|| start..start + length + padding.count())
}

/// Returns the place from `start` to a blank, a quote, a bracket, a backslash or one of `ends`.
fn span(bytes: &[u8], start: usize, ends: &[u8]) -> Range<usize> {
    let is_inside = |byte: &&u8| {
        !byte.is_ascii_whitespace() && !b"\"'<>\\".contains(byte) && !ends.contains(byte)
    };
    start..start + bytes[start..].iter().take_while(is_inside).count()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%')
}

/// Authentication schemes whose credentials are found in any text.
const SCHEMES: &[&str] = &["Bearer", "Basic", "DPoP"];

/// Bytes of a name that is looked at.
const MAX_NAME: usize = 128;

/// Bytes of credentials that are found in any text.
const MIN_CREDENTIALS: usize = 16;

/// Marks this `name=value` in the query of a request as secret.
pub(super) fn hide(head: &mut Head, pair: &Secret) {
    let SecretPairs(hidden) = head.extensions.get_or_insert_default();
    hidden.push(pair.clone());
}

#[derive(Clone, Default)]
struct SecretPairs(Vec<Secret>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_in_any_spelling() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "set-cookie",
            "X-Access-Token",
            "DPoP",
            "X-API-Key",
            "apikey",
            "Ocp-Apim-Subscription-Key",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "X-Goog-IAP-JWT-Assertion",
            "Cf-Access-Client-Secret",
            "X-Hub-Signature-256",
            "JSESSIONID",
            "X-Session-Id",
            "client_assertion",
            "sig",
            "code",
            "accessToken",
            "X-CSRFToken",
            "x-user-password",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "accept",
            "a2a-version",
            "a2a-extensions",
            "content-type",
            "etag",
            "keep-alive",
            "last-event-id",
            "pageToken",
            "traceparent",
            "WWW-Authenticate",
            "x-ratelimit-remaining-tokens",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(shown_text(text), expected);
    }

    #[test]
    fn secret_members_are_masked() {
        check(
            r#"{"token": "ab\"cd\\", "pageToken": "p"}"#,
            r#"{"token": "***", "pageToken": "p"}"#,
        );
        check(
            r#"{"access_token":"x","token_type":"Bearer","expires_in":1,"refresh_token":"é"}"#,
            r#"{"access_token":"***","token_type":"Bearer","expires_in":1,"refresh_token":"***"}"#,
        );
        check(
            r#"{"X-Access-Token":"x","device_code":"y","clientSecret" : "z"}"#,
            r#"{"X-Access-Token":"***","device_code":"***","clientSecret" : "***"}"#,
        );
        let card = r#"{"tokenUrl":"https://a/t","sessionId":"s","signature":"abc","keyId":"k","key":"v","token":1}"#;
        check(card, card);
        check(r#"{"token":"cut o"#, r#"{"token":"***"#);
        check(r#"{"token":"cut \"#, r#"{"token":"***"#);
        check(r#"{"token":""}"#, r#"{"token":""}"#);
        check(r#"{"token"}, "token", :"#, r#"{"token"}, "token", :"#);
    }

    #[test]
    fn secret_members_of_json_in_strings_are_masked() {
        let mut text = r#"{"token":"a\"b\\","id":"1"}"#.to_owned();
        for _ in 0..3 {
            text = serde_json::to_string(&serde_json::json!({"text": text})).unwrap();
            let shown = shown_text(&text).into_owned();
            let mut read = shown.clone();
            while let Ok(outer) = serde_json::from_str::<serde_json::Value>(&read)
                && let Some(inner) = outer["text"].as_str()
            {
                read = inner.to_owned();
            }
            assert_eq!(read, r#"{"token":"***","id":"1"}"#, "{shown}");
        }
    }

    #[test]
    fn secrets_of_urls_forms_and_prose_are_masked() {
        check(
            "GET http://me:p@ss@host/a?token=abc&n=1#x",
            "GET http://***@host/a?token=***&n=1#x",
        );
        check("access_token=abc&x=1", "access_token=***&x=1");
        check(
            "http://h/a;key=a/b?x=1&key=a/b?c",
            "http://h/a;key=***?x=1&key=***",
        );
        check(
            r#"{"url":"https://h/?X-Amz-Signature=a&sv=1&sig=b"}"#,
            r#"{"url":"https://h/?X-Amz-Signature=***&sv=1&sig=***"}"#,
        );
        check(
            "you sent Bearer abcdefghijklmnop1234==.",
            "you sent Bearer ***.",
        );
        for plain in [
            "Bearer authentication is required",
            "mail me@host",
            "https://h/?pageToken=abc",
            "é=ü ://é token =",
            "",
        ] {
            check(plain, plain);
        }
    }

    #[test]
    fn a_text_that_is_cut_anywhere_shows_no_secret() {
        let whole = r#"data: {"a":"\"token\":","token":"hunter2é","url":"http://h/?key=hunter2"}"#;
        for (end, _) in whole.char_indices() {
            let shown = shown_text(&whole[..end]);
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}
