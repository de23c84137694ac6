//! Who a request comes from.

use a2a_types::ErrorKind;
use http::request::Parts;

use crate::{BoxFuture, Principal};

/// Finds out who sends a request, from its head.
///
/// Called for every operation, before the body is read. The public card needs nobody.
pub trait Authenticator: Send + Sync + 'static {
    /// The sender, or why it is not let in.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Denied>>;
}

/// Why a request is not let in.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Denied {
    /// It shows no credentials, or wrong ones: HTTP 401.
    Unauthenticated {
        /// The `WWW-Authenticate` header, like `Bearer`.
        challenge: String,
    },
    /// The sender is known, and may not: HTTP 403.
    Forbidden,
}

impl Denied {
    /// What the protocol calls it.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Self::Unauthenticated { .. } => ErrorKind::Unauthenticated,
            Self::Forbidden => ErrorKind::PermissionDenied,
        }
    }
}

/// Lets everyone in, as one anonymous principal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anyone;

impl Authenticator for Anyone {
    fn authenticate<'a>(&'a self, _: &'a Parts) -> BoxFuture<'a, Result<Principal, Denied>> {
        Box::pin(std::future::ready(Ok(Principal::anonymous())))
    }
}
