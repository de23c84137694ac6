//! Authentication and authorization of requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use a2a_types::ErrorKind;
use http::request::Parts;

use crate::http::documents::security::Security;
use crate::http::message::challenge::AuthChallenge;
use crate::{BoxFuture, CallRequest, Principal};

/// Authenticates the sender of a request by its head.
///
/// Called for every operation, before the body is read; not for the public card. [`PeerAddress`] is
/// among the extensions of the head, if the request came over a connection of [`serve`].
///
/// [`PeerAddress`]: crate::http::PeerAddress
/// [`serve`]: crate::http::serve
pub trait Authenticator: Send + Sync + 'static {
    /// Returns the sender, or the reason to refuse it.
    fn authenticate(
        &self,
        head: &Parts,
    ) -> impl Future<Output = Result<Principal, AuthError>> + Send;

    /// Returns the schemes and requirements that it checks, for cards, challenges and metadata; `None`, the
    /// default, if it does not know.
    fn security(&self) -> Option<Security> {
        None
    }
}

/// Authorizes calls of authenticated principals.
///
/// Called for every operation, after the request is read and before any task is looked up: a refusal
/// must not depend on whether a task exists.
pub trait Authorizer: Send + Sync + 'static {
    /// Permits a call, or returns the reason to refuse it.
    fn authorize(&self, call: &CallRequest) -> impl Future<Output = Result<(), AuthError>> + Send;

    /// Returns the scopes that skills need in addition to the scopes that the card requires, by the id of the
    /// skill, for the card; none by default.
    fn skill_scopes(&self) -> BTreeMap<String, Vec<String>> {
        BTreeMap::new()
    }
}

/// A function of the principal and the call.
impl<F> Authorizer for F
where
    F: Fn(&Principal, &CallRequest) -> Result<(), AuthError> + Send + Sync + 'static,
{
    async fn authorize(&self, call: &CallRequest) -> Result<(), AuthError> {
        self(&call.context.principal, call)
    }
}

/// An authenticator of any type, which is shared by its clones.
#[derive(Clone)]
pub struct DynAuthenticator(Arc<dyn ErasedAuthenticator>);

/// An authorizer of any type, which is shared by its clones.
#[derive(Clone)]
pub struct DynAuthorizer(Arc<dyn ErasedAuthorizer>);

impl<A: Authenticator> From<A> for DynAuthenticator {
    fn from(authenticator: A) -> Self {
        Self(Arc::new(authenticator))
    }
}

impl<A: Authorizer> From<A> for DynAuthorizer {
    fn from(authorizer: A) -> Self {
        Self(Arc::new(authorizer))
    }
}

impl DynAuthenticator {
    /// Returns the sender, or the reason to refuse it.
    pub async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        self.0.authenticate_boxed(head).await
    }

    /// Returns the schemes and requirements that it checks: see [`Authenticator::security`].
    pub fn security(&self) -> Option<Security> {
        self.0.security_of()
    }
}

impl DynAuthorizer {
    /// Permits a call, or returns the reason to refuse it.
    pub async fn authorize(&self, call: &CallRequest) -> Result<(), AuthError> {
        self.0.authorize_boxed(call).await
    }

    /// Returns the scopes that skills need: see [`Authorizer::skill_scopes`].
    pub fn skill_scopes(&self) -> BTreeMap<String, Vec<String>> {
        self.0.skill_scopes_of()
    }
}

/// An [`Authenticator`] for use as `dyn`.
trait ErasedAuthenticator: Send + Sync {
    fn authenticate_boxed<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthError>>;

    fn security_of(&self) -> Option<Security>;
}

impl<A: Authenticator> ErasedAuthenticator for A {
    fn authenticate_boxed<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthError>> {
        Box::pin(self.authenticate(head))
    }

    fn security_of(&self) -> Option<Security> {
        self.security()
    }
}

/// An [`Authorizer`] for use as `dyn`.
trait ErasedAuthorizer: Send + Sync {
    fn authorize_boxed<'a>(&'a self, call: &'a CallRequest)
    -> BoxFuture<'a, Result<(), AuthError>>;

    fn skill_scopes_of(&self) -> BTreeMap<String, Vec<String>>;
}

impl<A: Authorizer> ErasedAuthorizer for A {
    fn authorize_boxed<'a>(
        &'a self,
        call: &'a CallRequest,
    ) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(self.authorize(call))
    }

    fn skill_scopes_of(&self) -> BTreeMap<String, Vec<String>> {
        self.skill_scopes()
    }
}

/// Reason to refuse a request.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AuthError {
    /// It shows no credentials: HTTP 401.
    Unauthenticated {
        /// The ways to authenticate.
        challenges: Vec<AuthChallenge>,
    },
    /// The call shows credentials that are wrong, expired or for another audience: HTTP 401.
    InvalidCredentials {
        /// The ways to authenticate.
        challenges: Vec<AuthChallenge>,
    },
    /// The sender is known, and lacks permission: HTTP 403.
    Forbidden {
        /// The challenge, if other credentials would be accepted.
        challenges: Vec<AuthChallenge>,
    },
    /// The sender asks too often: HTTP 429.
    RateLimited {
        /// Time until it may ask again.
        retry_after: Duration,
    },
    /// Its credentials cannot be checked at the moment: HTTP 503.
    Unavailable,
}

impl AuthError {
    /// Returns the refusal of a request without credentials.
    pub fn unauthenticated(challenge: impl Into<AuthChallenge>) -> Self {
        Self::Unauthenticated {
            challenges: vec![challenge.into()],
        }
    }

    /// Returns the refusal of a sender that other credentials would not help.
    pub fn forbidden() -> Self {
        Self::Forbidden {
            challenges: Vec::new(),
        }
    }

    /// Returns the refusal of a sender whose credentials lack one of these scopes. RFC 6750 §3.1.
    pub fn insufficient_scope(scopes: &[impl AsRef<str>]) -> Self {
        let scopes: Vec<_> = scopes.iter().map(AsRef::as_ref).collect();
        let challenge = AuthChallenge::new("Bearer").with("error", "insufficient_scope");
        Self::Forbidden {
            challenges: vec![challenge.with("scope", scopes.join(" "))],
        }
    }

    /// Returns the error kind of the protocol.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Self::Unauthenticated { .. } | Self::InvalidCredentials { .. } => {
                ErrorKind::Unauthenticated
            }
            Self::Forbidden { .. } => ErrorKind::PermissionDenied,
            Self::RateLimited { .. } => ErrorKind::RateLimited,
            Self::Unavailable => ErrorKind::Unavailable,
        }
    }

    /// Returns the label of the metric of refusals.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Unauthenticated { .. } => "no_credentials",
            Self::InvalidCredentials { .. } => "invalid_credentials",
            Self::Forbidden { .. } => "forbidden",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unavailable => "unavailable",
        }
    }

    /// Returns the challenges to answer with.
    pub(super) fn challenges(&self) -> &[AuthChallenge] {
        match self {
            Self::Unauthenticated { challenges }
            | Self::InvalidCredentials { challenges }
            | Self::Forbidden { challenges } => challenges,
            Self::RateLimited { .. } | Self::Unavailable => &[],
        }
    }
}

/// Admits every request, as one anonymous principal.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAnonymous;

impl Authenticator for AllowAnonymous {
    async fn authenticate(&self, _: &Parts) -> Result<Principal, AuthError> {
        Ok(Principal::anonymous())
    }
}
