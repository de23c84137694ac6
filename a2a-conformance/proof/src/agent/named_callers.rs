//! Callers of test agents whose tokens are their names.

use a2a_server::{AuthError, Authenticator, Principal};
use a2a_transport::CallRequest;
use a2a_types::Operation;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;

/// Authenticator that knows two callers, and one who may do nothing.
pub(super) struct NamedCallerAuthenticator {
    /// Admits callers without valid credentials as anonymous, so that [`authorize`] decides.
    pub(super) admits_everybody: bool,
}

impl Authenticator for NamedCallerAuthenticator {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        let credentials = head
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            // The scheme may be written in any case.
            .and_then(|shown| shown.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| format!("Bearer {token}"));
        match credentials.as_deref() {
            Some(FIRST) => Ok(Principal::named("first")),
            Some(SECOND) => Ok(Principal::named("second")),
            Some(FORBIDDEN) => Err(AuthError::forbidden()),
            _ if self.admits_everybody => Ok(Principal::anonymous()),
            _ => Err(AuthError::unauthenticated("Bearer")),
        }
    }
}

/// Refuses anonymous calls, except calls about webhooks: an agent that authenticates operation by operation, and
/// has forgotten these.
pub(super) fn authorize(caller: &Principal, call: &CallRequest) -> Result<(), AuthError> {
    let is_forgotten = matches!(
        call.request.operation(),
        Operation::CreateTaskPushNotificationConfig
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::DeleteTaskPushNotificationConfig
    );
    match caller.name() {
        None if !is_forgotten => Err(AuthError::unauthenticated("Bearer")),
        _ => Ok(()),
    }
}

/// Returns the headers with credentials.
pub(super) fn headers(credentials: &'static str) -> HeaderMap {
    let mut value = HeaderValue::from_static(credentials);
    value.set_sensitive(true);
    HeaderMap::from_iter([(AUTHORIZATION, value)])
}

/// Credentials of the first caller.
pub(super) const FIRST: &str = "Bearer first";
/// Credentials of the second caller.
pub(super) const SECOND: &str = "Bearer second";
/// Credentials of a caller who may do nothing.
pub(super) const FORBIDDEN: &str = "Bearer guest";
