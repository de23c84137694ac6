//! Headers by which a receiver knows the sender.

use a2a_transport::webhook::TOKEN_HEADERS;
use a2a_types::TaskPushNotificationConfig;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::refusal::Refusal;

/// Returns the headers that a config asks for. Errors: the first of its members that cannot be a header.
///
/// `Authorization` only if there are credentials: a scheme alone says how the sender may identify itself,
/// and a sender that signs knows how. The token goes under the names of all protocol versions.
pub(crate) fn headers_for(config: &TaskPushNotificationConfig) -> Result<HeaderMap, Refusal> {
    let mut headers = HeaderMap::new();
    if let Some(authentication) = &config.authentication {
        let scheme = authentication.scheme.as_str();
        let credentials = authentication.credentials.as_deref().unwrap_or_default();
        if !scheme.bytes().all(is_token) || scheme.len() > MAX_VALUE {
            return Err(Refusal::Header("authentication.scheme"));
        }
        let credentials = visible(credentials, "authentication.credentials")?;
        match (scheme.is_empty(), credentials.is_empty()) {
            (_, true) => {}
            (true, false) => return Err(Refusal::Header("authentication.scheme")),
            (false, false) => {
                let value = secret(&format!("{scheme} {credentials}"), "authentication")?;
                headers.insert(AUTHORIZATION, value);
            }
        }
    }
    let token = visible(config.token.as_deref().unwrap_or_default(), "token")?;
    if !token.is_empty() {
        let value = secret(token, "token")?;
        for name in TOKEN_HEADERS {
            headers.insert(name, value.clone());
        }
    }
    Ok(headers)
}

/// The longest value of a member.
const MAX_VALUE: usize = 4096;

fn visible<'a>(text: &'a str, member: &'static str) -> Result<&'a str, Refusal> {
    match text.len() <= MAX_VALUE && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text),
        false => Err(Refusal::Header(member)),
    }
}

/// Returns whether a byte may be part of a scheme's name. RFC 9110 §5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn secret(text: &str, member: &'static str) -> Result<HeaderValue, Refusal> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Refusal::Header(member))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use a2a_types::AuthenticationInfo;

    use super::*;

    fn config(scheme: &str, credentials: &str, token: &str) -> TaskPushNotificationConfig {
        let some = |text: &str| Some(text.to_owned()).filter(|text| text != "none");
        TaskPushNotificationConfig {
            token: some(token),
            authentication: some(scheme).map(|scheme| AuthenticationInfo {
                scheme,
                credentials: some(credentials),
            }),
            ..TaskPushNotificationConfig::default()
        }
    }

    #[test]
    fn a_config_becomes_headers() {
        let authorization = ("authorization", "Bearer abc.def");
        let tokens = [
            ("x-a2a-notification-token", "t0k&n"),
            ("a2a-notification-token", "t0k&n"),
        ];
        for (config, expected) in [
            (config("none", "none", "none"), vec![]),
            (config("Bearer", "none", ""), vec![]),
            (config("Bearer", "", "none"), vec![]),
            (config("Bearer", "abc.def", "none"), vec![authorization]),
            (config("none", "none", "t0k&n"), tokens.to_vec()),
            (
                config("Bearer", "abc.def", "t0k&n"),
                [&[authorization], &tokens[..]].concat(),
            ),
        ] {
            let headers = headers_for(&config).unwrap();
            assert_eq!(headers.len(), expected.len(), "{config:?}");
            for (name, value) in expected {
                assert_eq!(headers[name], value);
                assert!(headers[name].is_sensitive());
            }
        }
    }

    #[test]
    fn invalid_header_values_are_refused() {
        let long = "a".repeat(MAX_VALUE);
        assert!(headers_for(&config("Bearer", &long, &long)).is_ok());
        let too_long = "a".repeat(MAX_VALUE + 1);
        for bad in [
            "a\r\nX-Injected: b",
            "a\nb",
            "a\rb",
            "a\0b",
            "a b",
            " a",
            "a ",
            "a\tb",
            "a\u{7f}",
            "a\u{85}b",
            "a\u{2028}b",
            "p\u{e4}ss",
            "\u{1f511}",
            "\u{560d}\u{560a}",
            &too_long,
        ] {
            let refused = |config| headers_for(&config).err();
            assert_eq!(
                refused(config("none", "none", bad)),
                Some(Refusal::Header("token"))
            );
            assert_eq!(
                refused(config("Bearer", bad, "none")),
                Some(Refusal::Header("authentication.credentials")),
            );
            assert_eq!(
                refused(config(bad, "abc", "none")),
                Some(Refusal::Header("authentication.scheme")),
            );
        }
        for bad in ["", "Bearer:", "Bea rer", "(a)", "a,b", "a\"b"] {
            let refused = headers_for(&config(bad, "abc", "none"));
            assert_eq!(
                refused,
                Err(Refusal::Header("authentication.scheme")),
                "{bad}"
            );
        }
    }
}
