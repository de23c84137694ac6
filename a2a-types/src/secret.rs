//! Redaction of secrets in `Debug` output.

use std::fmt;

/// Placeholder for a secret in `Debug` output.
pub(crate) struct Redacted;

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// `Debug` output of a webhook's URL: its origin. The path and the query often contain a secret, and a
/// text that is not a URL may be a secret as a whole.
pub(crate) struct RedactedUrl<'a>(pub(crate) &'a str);

impl fmt::Debug for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme @ ("http" | "https"), rest)) = self.0.split_once("://") else {
            return Redacted.fmt(f);
        };
        let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
        match rest.split_at(end) {
            _ if rest.contains('@') => write!(f, "{scheme}://(hidden)"),
            (host, "" | "/") => write!(f, "{scheme}://{host}/"),
            (host, _) => write!(f, "{scheme}://{host}/(hidden)"),
        }
    }
}

/// Implements `Debug` for a type with secrets: prints the other fields, whether there are secrets, and
/// the origins of URLs.
macro_rules! redacted_debug {
    ($type:ident { $($field:ident),* ; $($secret:ident),* $(; $url:ident)? }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($field), &self.$field))*
                    $(.field(stringify!($secret), &self.$secret.as_ref().map(|_| $crate::secret::Redacted)))*
                    $(.field(stringify!($url), &$crate::secret::RedactedUrl(&self.$url)))?
                    .finish()
            }
        }
    };
}

pub(crate) use redacted_debug;

#[cfg(test)]
mod tests {
    use super::RedactedUrl;
    use crate::{AuthenticationInfo, TaskPushNotificationConfig, v0_1, v0_2, v0_3};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};
    use std::fmt::Debug;

    #[track_caller]
    fn check<T: Debug + DeserializeOwned>(value: Value) {
        let printed = format!("{:?}", serde_json::from_value::<T>(value).unwrap());
        assert!(!printed.contains("canary"), "{printed}");
        assert!(printed.contains("(hidden)"), "{printed}");
    }

    #[test]
    fn only_the_origin_of_a_url_is_printed() {
        for (url, printed) in [
            ("https://example.com", "https://example.com/"),
            ("https://example.com:8443/", "https://example.com:8443/"),
            ("https://example.com/canary", "https://example.com/(hidden)"),
            ("http://[::1]:80?canary", "http://[::1]:80/(hidden)"),
            ("https://example.com#canary", "https://example.com/(hidden)"),
            (
                "https://example.com\\canary",
                "https://example.com/(hidden)",
            ),
            ("https://canary@example.com/", "https://(hidden)"),
            ("https://user:can/ary@example.com/", "https://(hidden)"),
            ("ftp://canary/", "(hidden)"),
            ("canary", "(hidden)"),
            ("", "(hidden)"),
        ] {
            assert_eq!(format!("{:?}", RedactedUrl(url)), printed, "{url}");
        }
    }

    #[test]
    fn no_secret_of_a_webhook_is_printed() {
        let authentication =
            json!({"schemes": ["Bearer"], "scheme": "Bearer", "credentials": "canary"});
        let config = json!({"url": "u", "token": "canary", "authentication": authentication});
        check::<AuthenticationInfo>(authentication.clone());
        check::<TaskPushNotificationConfig>(config.clone());
        check::<v0_1::PushNotificationConfig>(config.clone());
        check::<v0_2::PushNotificationConfig>(config.clone());
        check::<v0_3::PushNotificationConfig>(config);
        check::<v0_1::AgentAuthentication>(authentication);
    }
}
