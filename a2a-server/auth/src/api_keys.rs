//! API keys in a header, the query or a cookie.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::SystemTime;

use a2a_transport::BoxFuture;
use a2a_transport::http::AuthChallenge;
use a2a_types::{ApiKeySecurityScheme, SecurityScheme};
use http::header::{COOKIE, HeaderName};
use http::request::Parts;

use crate::api_key_list::{ApiKey, ApiKeyList};
use crate::digest_cache::sha256;
use crate::error::ConfigError;
use crate::scheme::{AuthOutcome, Scheme};
use crate::watched_file::WatchedFile;

/// Scheme of API keys: each has a principal, scopes and perhaps an expiry.
///
/// Requests show a key; it is compared with the others by SHA-256, in constant time. A key in the query is
/// also in the logs of proxies, and a key in a cookie is sent for every page in the browser; prefer a
/// header.
pub struct ApiKeys {
    place: Place,
    keys: ApiKeyList,
    files: Vec<WatchedFile<ApiKeyList>>,
}

/// Place of a key in a request.
enum Place {
    Header(HeaderName),
    Query(String),
    Cookie(String),
}

impl ApiKeys {
    /// Takes keys from a header, like `x-api-key`. Errors: it is not a valid header name.
    pub fn header(name: &str) -> Result<Self, ConfigError> {
        let name = HeaderName::try_from(name).map_err(|_| {
            ConfigError::value("header of API keys", "expected the name of a header")
        })?;
        Ok(Self::at(Place::Header(name)))
    }

    /// Takes keys from a parameter of the query.
    pub fn query(name: impl Into<String>) -> Self {
        Self::at(Place::Query(name.into()))
    }

    /// Takes keys from a cookie.
    pub fn cookie(name: impl Into<String>) -> Self {
        Self::at(Place::Cookie(name.into()))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            keys: ApiKeyList::default(),
            files: Vec::new(),
        }
    }

    /// Adds a key. Errors: there are more than 10,000.
    pub fn key(mut self, key: ApiKey) -> Result<Self, ConfigError> {
        let added = self.keys.push(key);
        added.map_err(|problem| ConfigError::value("API keys", problem))?;
        Ok(self)
    }

    /// Adds the keys of a file, one in a line:
    ///
    /// ```text
    /// # key, or its SHA-256      principal   options
    /// sha256:9f86d081884c7d65…   ada         scopes=tasks:read,tasks:write expires=2027-01-31T00:00:00Z
    /// Zm9yIGJvYiBhbG9uZQ         bob
    /// ```
    ///
    /// The file is read again within a second after it has changed. A broken file leaves the keys in force,
    /// and is logged. Errors: it cannot be read, or is broken.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        self.files.push(WatchedFile::open(path, ApiKeyList::parse)?);
        Ok(self)
    }

    async fn verdict(&self, head: &Parts) -> AuthOutcome {
        let shown = self.place.shown(head);
        let key = match shown.as_slice() {
            [] => return AuthOutcome::Absent,
            [key] => key,
            _ => return AuthOutcome::Invalid,
        };
        let (digest, now) = (sha256(key), SystemTime::now());
        if let Some(principal) = self.keys.find(&digest, now) {
            return AuthOutcome::Valid(principal.clone());
        }
        for file in &self.files {
            if let Some(principal) = file.content().await.find(&digest, now) {
                return AuthOutcome::Valid(principal.clone());
            }
        }
        AuthOutcome::Invalid
    }
}

impl Place {
    /// Returns every key that a request shows.
    fn shown<'a>(&self, head: &'a Parts) -> Vec<Cow<'a, [u8]>> {
        match self {
            Self::Header(name) => {
                let values = head.headers.get_all(name).iter();
                values.map(|value| value.as_bytes().into()).collect()
            }
            Self::Query(name) => {
                let query = head.uri.query().unwrap_or_default();
                let parameters = form_urlencoded::parse(query.as_bytes());
                let values = parameters.filter(|(parameter, _)| parameter == name);
                values
                    .map(|(_, value)| value.into_owned().into_bytes().into())
                    .collect()
            }
            Self::Cookie(name) => {
                let headers = head.headers.get_all(COOKIE).iter();
                let cookies =
                    headers.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
                let values = cookies.filter_map(|cookie| {
                    let mut halves = cookie.trim_ascii().splitn(2, |byte| *byte == b'=');
                    let is_named = halves.next()? == name.as_bytes();
                    halves.next().filter(|_| is_named)
                });
                values.map(Into::into).collect()
            }
        }
    }

    /// Returns the place and the name, as cards have them.
    fn names(&self) -> (&'static str, &str) {
        match self {
            Self::Header(name) => ("header", name.as_str()),
            Self::Query(name) => ("query", name),
            Self::Cookie(name) => ("cookie", name),
        }
    }
}

impl Scheme for ApiKeys {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        Box::pin(self.verdict(head))
    }

    fn describe(&self) -> SecurityScheme {
        let (location, name) = self.place.names();
        SecurityScheme::ApiKeySecurityScheme(ApiKeySecurityScheme {
            description: None,
            location: location.to_owned(),
            name: name.to_owned(),
        })
    }

    /// HTTP has no scheme of API keys. RFC 9110 §15.5.2 requires a challenge, and this one says what to do.
    fn challenge(&self) -> Option<AuthChallenge> {
        let (location, name) = self.place.names();
        Some(
            AuthChallenge::new("ApiKey")
                .with("in", location)
                .with("name", name),
        )
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const KEY: &str = "0123456789abcdef";

    #[track_caller]
    fn check(keys: ApiKeys, target: &str, headers: &[(&str, &str)], expected: &[&str]) {
        let mut request = Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let shown = keys.place.shown(&head);
        let shown: Vec<_> = shown
            .iter()
            .map(|key| String::from_utf8_lossy(key))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn keys_are_where_the_card_says() {
        let header = || ApiKeys::header("X-API-Key").unwrap();
        check(header(), "/?x-api-key=a", &[("cookie", "x-api-key=a")], &[]);
        check(header(), "/", &[("x-api-key", KEY)], &[KEY]);
        check(
            header(),
            "/",
            &[("x-api-key", "a"), ("X-Api-Key", "b")],
            &["a", "b"],
        );
        let query = || ApiKeys::query("key");
        check(query(), "/", &[("key", "a")], &[]);
        check(query(), "/?a=b&key=x%2By%20z&keys=1", &[], &["x+y z"]);
        let cookie = || ApiKeys::cookie("key");
        check(cookie(), "/?key=a", &[("cookie", "keys=a; Key=b")], &[]);
        check(
            cookie(),
            "/",
            &[("cookie", "a=b; key=x=y"), ("cookie", "key=z")],
            &["x=y", "z"],
        );
    }

    #[tokio::test]
    async fn one_key_is_checked() {
        let keys = ApiKeys::header("x-api-key").unwrap();
        let keys = keys.key(ApiKey::new(KEY, "ada").unwrap()).unwrap();
        for (shown, expected) in [
            (&[][..], AuthOutcome::Absent),
            (
                &[KEY][..],
                AuthOutcome::Valid(a2a_transport::Principal::named("ada")),
            ),
            (&["0123456789abcdeg"][..], AuthOutcome::Invalid),
            (&[""][..], AuthOutcome::Invalid),
            (&[KEY, KEY][..], AuthOutcome::Invalid),
        ] {
            let mut request = Request::get("/");
            for key in shown {
                request = request.header("x-api-key", *key);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(keys.check(&head).await, expected, "{shown:?}");
        }
    }
}
