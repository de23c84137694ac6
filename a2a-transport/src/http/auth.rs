//! Authentication of requests.

use a2a_types::ErrorKind;
use http::request::Parts;

use crate::{BoxFuture, Principal};

/// Authenticates the sender of a request by its head.
///
/// Called for every operation, before the body is read; not for the public card.
pub trait Authenticator: Send + Sync + 'static {
    /// Returns the sender, or the reason to refuse it.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, AuthError>>;
}

/// Reason to refuse a request.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthError {
    /// It shows no credentials, or wrong ones: HTTP 401.
    Unauthenticated {
        /// The `WWW-Authenticate` header, like `Bearer`.
        challenge: String,
    },
    /// The sender is known, and may not: HTTP 403.
    Forbidden,
}

impl AuthError {
    /// Returns the error kind of the protocol.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Self::Unauthenticated { .. } => ErrorKind::Unauthenticated,
            Self::Forbidden => ErrorKind::PermissionDenied,
        }
    }
}

/// Admits every request, as one anonymous principal.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAnonymous;

impl Authenticator for AllowAnonymous {
    fn authenticate<'a>(&'a self, _: &'a Parts) -> BoxFuture<'a, Result<Principal, AuthError>> {
        Box::pin(std::future::ready(Ok(Principal::anonymous())))
    }
}
