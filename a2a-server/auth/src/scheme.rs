//! One security scheme, checked.

use std::sync::Arc;

use a2a_transport::http::{AuthChallenge, ProtectedResource};
use a2a_transport::{BoxFuture, Principal};
use a2a_types::SecurityScheme;
use http::request::Parts;

/// A security scheme of the card, and how it is checked.
pub trait Scheme: Send + Sync + 'static {
    /// Checks the credentials of this scheme that a request shows.
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Verdict>;

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
pub enum Verdict {
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
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Verdict> {
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
