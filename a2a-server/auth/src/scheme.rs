//! One security scheme, checked.

use std::sync::Arc;

use a2a_transport::http::{AuthChallenge, ProtectedResource};
use a2a_transport::{BoxFuture, Principal};
use a2a_types::SecurityScheme;
use http::header::{AUTHORIZATION, HeaderMap};
use http::request::Parts;

/// A security scheme of the card, and how it is checked.
pub trait Scheme: Send + Sync + 'static {
    /// Checks the credentials of this scheme that a request shows.
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome>;

    /// Returns the scheme as the card states it.
    fn describe(&self) -> SecurityScheme;

    /// Returns the challenge for callers without credentials; `None` if HTTP has none for it.
    fn challenge(&self) -> Option<AuthChallenge>;

    /// Returns the authorization server whose tokens it takes, if there is one.
    fn protected_resource(&self) -> Option<ProtectedResource> {
        None
    }
}

/// Result of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthOutcome {
    /// The request shows no credentials of this scheme.
    Absent,
    /// It shows credentials that are wrong, expired or issued for another service.
    Invalid,
    /// It shows credentials that cannot be checked at the moment.
    Unavailable,
    /// It shows the credentials of this principal.
    Valid(Principal),
}

impl<S: Scheme + ?Sized> Scheme for Arc<S> {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        (**self).check(head)
    }

    fn describe(&self) -> SecurityScheme {
        (**self).describe()
    }

    fn challenge(&self) -> Option<AuthChallenge> {
        (**self).challenge()
    }

    fn protected_resource(&self) -> Option<ProtectedResource> {
        (**self).protected_resource()
    }
}

/// Returns the credentials in the header `Authorization`, if they are of this scheme, like `Bearer`; its case does not
/// matter.
///
/// Errors: `Absent` for none of this scheme, `Invalid` for a header that cannot be read, or for several.
pub(crate) fn credentials<'a>(
    headers: &'a HeaderMap,
    scheme: &str,
) -> Result<&'a str, AuthOutcome> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(AuthOutcome::Absent);
    };
    if values.next().is_some() {
        return Err(AuthOutcome::Invalid);
    }
    let Ok(text) = value.to_str() else {
        return Err(AuthOutcome::Invalid);
    };
    let (name, credentials) = text.split_once(' ').unwrap_or((text, ""));
    match (name.eq_ignore_ascii_case(scheme), credentials.trim()) {
        (false, _) => Err(AuthOutcome::Absent),
        (true, "") => Err(AuthOutcome::Invalid),
        (true, credentials) => Ok(credentials),
    }
}
