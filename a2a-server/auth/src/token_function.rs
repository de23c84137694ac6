//! Opaque bearer tokens, checked by a function of the program.

use a2a_transport::BoxFuture;
use a2a_transport::http::AuthChallenge;
use a2a_types::{HttpAuthSecurityScheme, SecurityScheme};
use http::request::Parts;

use crate::scheme::{AuthOutcome, Scheme, credentials};

/// Scheme of bearer tokens that a function checks, like one that looks them up in a database.
///
/// ```
/// use a2a_auth::{AnyOf, AuthOutcome, TokenFunction};
/// use a2a_transport::Principal;
///
/// # async fn owner_of(token: String) -> Result<Option<String>, std::io::Error> { Ok(None) }
/// let tokens = TokenFunction::new(|token| async move {
///     match owner_of(token).await {
///         Ok(Some(name)) => AuthOutcome::Valid(Principal::named(name).with_scopes(["tasks:read"])),
///         Ok(None) => AuthOutcome::Invalid,
///         Err(_) => AuthOutcome::Unavailable,
///     }
/// });
/// let authenticator = AnyOf::new(("token", tokens));
/// ```
///
/// A function that compares tokens itself should compare digests of them: the time that it takes to compare texts
/// tells how much of a guess is right.
pub struct TokenFunction {
    check: CheckToken,
}

/// Function from a token to a verdict.
type CheckToken = Box<dyn Fn(String) -> BoxFuture<'static, AuthOutcome> + Send + Sync>;

impl TokenFunction {
    /// Checks tokens by this function. It is called for every request.
    pub fn new<F>(check: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = AuthOutcome> + Send + 'static,
    {
        Self {
            check: Box::new(move |token| Box::pin(check(token))),
        }
    }
}

impl Scheme for TokenFunction {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        match credentials(&head.headers, "Bearer") {
            Ok(token) => (self.check)(token.to_owned()),
            Err(verdict) => Box::pin(std::future::ready(verdict)),
        }
    }

    fn describe(&self) -> SecurityScheme {
        opaque_bearer()
    }

    fn challenge(&self) -> Option<AuthChallenge> {
        Some(AuthChallenge::new("Bearer"))
    }
}

/// Returns the scheme of bearer tokens of no known format.
pub(crate) fn opaque_bearer() -> SecurityScheme {
    SecurityScheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
        description: None,
        scheme: "Bearer".to_owned(),
        bearer_format: None,
    })
}
