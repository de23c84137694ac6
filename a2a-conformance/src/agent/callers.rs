//! Credentials of the callers that the suite plays.

use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};

use super::options::Options;
use crate::case::Caller;
use crate::wire::exchange::percent_encoded;

/// Headers that authenticate each caller.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    /// Query parameters that authenticate the first caller, in addition to its headers.
    pub(crate) query: Vec<(String, HeaderValue)>,
    pub(crate) first: HeaderMap,
    pub(crate) second: HeaderMap,
    pub(crate) forbidden: HeaderMap,
    pub(crate) expired: HeaderMap,
    pub(crate) wrong_audience: HeaderMap,
    pub(crate) wrong_scope: HeaderMap,
}

impl Callers {
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            query: options.query.clone(),
            first: options.headers.clone(),
            second: options.second_headers.clone(),
            forbidden: options.forbidden_headers.clone(),
            expired: options.expired_headers.clone(),
            wrong_audience: options.wrong_audience_headers.clone(),
            wrong_scope: options.wrong_scope_headers.clone(),
        }
    }

    /// Returns the headers of a caller.
    pub(crate) fn headers(&self, caller: Caller) -> HeaderMap {
        match caller {
            Caller::First => self.first.clone(),
            Caller::Second => self.second.clone(),
            Caller::Forbidden => self.forbidden.clone(),
            Caller::Expired => self.expired.clone(),
            Caller::WrongAudience => self.wrong_audience.clone(),
            Caller::WrongScope => self.wrong_scope.clone(),
            Caller::Nobody => HeaderMap::new(),
            Caller::Wrong => self.wrong(),
            Caller::OtherCase => self.other_case(),
        }
    }

    /// Returns the parameters that a caller adds to the query.
    pub(crate) fn query(&self, caller: Caller) -> String {
        let parameters = self.query.iter().map(|(name, value)| {
            let value = match caller {
                Caller::Wrong => WRONG_SECRET,
                _ => value.to_str().unwrap_or_default(),
            };
            format!("{}={}", percent_encoded(name), percent_encoded(value))
        });
        match caller {
            Caller::First | Caller::Wrong | Caller::OtherCase => {
                parameters.collect::<Vec<_>>().join("&")
            }
            _ => String::new(),
        }
    }

    /// Returns the headers of the first caller with the authentication scheme in other letters.
    fn other_case(&self) -> HeaderMap {
        let mut headers = self.first.clone();
        if let Some(shown) = headers.get_mut(AUTHORIZATION)
            && let Ok(text) = shown.to_str()
            && let Some((scheme, secret)) = text.split_once(' ')
        {
            let other = match scheme.chars().any(char::is_uppercase) {
                true => scheme.to_lowercase(),
                false => scheme.to_uppercase(),
            };
            let is_sensitive = shown.is_sensitive();
            if let Ok(mut other) = HeaderValue::from_str(&format!("{other} {secret}")) {
                other.set_sensitive(is_sensitive);
                *shown = other;
            }
        }
        headers
    }

    /// Returns the headers of the first caller with wrong secrets.
    fn wrong(&self) -> HeaderMap {
        let wrong = |name: &HeaderName, value: &HeaderValue| {
            let separator = if name == COOKIE { '=' } else { ' ' };
            let text = value.to_str().unwrap_or_default();
            let text = match text.split_once(separator) {
                Some((before, _)) => format!("{before}{separator}{WRONG_SECRET}"),
                None => WRONG_SECRET.to_owned(),
            };
            HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("wrong"))
        };
        let headers = self.first.iter();
        headers
            .map(|(name, value)| (name.clone(), wrong(name, value)))
            .collect()
    }
}

/// Replacement of a secret: `wrong:canary-secret` in base64, so that it is well-formed for Basic, too.
const WRONG_SECRET: &str = "d3Jvbmc6Y2FuYXJ5LXNlY3JldA==";
