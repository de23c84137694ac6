//! Answers to requests that are not admitted.

use std::time::Duration;

use a2a_jsonrpc::Id;
use a2a_types::{Error as A2aError, ProtocolVersion};
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::json;

use super::auth::AuthError;
use super::settings::Settings;
use crate::binding::{CallRefusal, write_refusal};
use crate::http::documents::security::ProtectedResource;
use crate::http::message::answer::{AnswerFormat, plain};
use crate::http::message::body::Body;
use crate::http::message::challenge::AuthChallenge;
use crate::{Binding, metric};

/// Form of the answer to a request that is not admitted.
pub(super) struct DenialFormat {
    pub(super) binding: Binding,
    pub(super) protocol_version: ProtocolVersion,
    /// The id to answer with by JSON-RPC, null if the body was not read.
    pub(super) id: Id,
    pub(super) answer: AnswerFormat,
}

impl Settings {
    /// Answers with a refusal in the caller's own binding and version.
    pub(super) fn deny(
        &self,
        denied: &AuthError,
        head: &Parts,
        format: DenialFormat,
    ) -> Response<Body> {
        metric::AUTH_REFUSALS.count([denied.reason()]);
        let status = match denied {
            AuthError::Unauthenticated { .. } | AuthError::InvalidCredentials { .. } => {
                StatusCode::UNAUTHORIZED
            }
            AuthError::Forbidden { .. } => StatusCode::FORBIDDEN,
            AuthError::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            AuthError::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        let retry_after = match denied {
            AuthError::RateLimited { retry_after } => Some(whole_seconds(*retry_after)),
            AuthError::Unavailable => Some(1),
            _ => None,
        };
        let mut error = A2aError::from(denied.kind());
        if let Some(seconds) = retry_after {
            error = error.with_details(json!({"retryAfter": seconds}));
        }
        let refused = CallRefusal {
            binding: format.binding,
            id: format.id,
            protocol_version: format.protocol_version,
            error,
            status: Some(status),
        };
        let mut response = format.answer.written(write_refusal(refused));
        self.challenge(&mut response, denied.challenges(), head);
        if let Some(seconds) = retry_after {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response
    }

    /// Challenges a caller that the agent itself refused, like the authenticator does.
    pub(super) fn challenge_unauthenticated(&self, response: &mut Response<Body>, head: &Parts) {
        let is_refused = response.status() == StatusCode::UNAUTHORIZED
            || response
                .headers()
                .get("grpc-status")
                .is_some_and(|code| code == "16");
        if is_refused && let Some(security) = &self.security {
            self.challenge(response, &security.challenges, head);
        }
    }

    /// Writes challenges, each as a header of its own: some parsers read no lists of them. OAuth
    /// challenges name the metadata of the endpoint.
    fn challenge(&self, response: &mut Response<Body>, challenges: &[AuthChallenge], head: &Parts) {
        let headers = response.headers_mut();
        if !challenges.is_empty() {
            headers.remove(WWW_AUTHENTICATE);
        }
        for challenge in challenges {
            let mut challenge = challenge.clone();
            if challenge.scheme().eq_ignore_ascii_case("Bearer")
                && challenge.parameter(RESOURCE_METADATA).is_none()
                && let Some(url) = self.metadata_url(head)
            {
                challenge = challenge.with(RESOURCE_METADATA, url);
            }
            if let Ok(value) = HeaderValue::from_str(&challenge.to_string()) {
                headers.append(WWW_AUTHENTICATE, value);
            }
        }
    }

    /// Returns the URL of the metadata of this endpoint, as the caller reaches it.
    fn metadata_url(&self, head: &Parts) -> Option<String> {
        self.security.as_ref()?.protected_resource.as_ref()?;
        ProtectedResource::url(&self.endpoint_url(head)?)
    }

    /// Answers with the metadata of this endpoint. RFC 9728.
    pub(super) fn protected_resource(&self, head: &Parts) -> Response<Body> {
        let security = self.security.as_ref();
        let resource = security.and_then(|security| security.protected_resource.as_ref());
        match resource.zip(self.endpoint_url(head)) {
            Some((resource, endpoint)) => resource.answer(&endpoint, head),
            None => plain(
                StatusCode::NOT_FOUND,
                "this agent names no authorization server",
            ),
        }
    }

    /// Returns the URL of the endpoint: that of the card's first interface.
    fn endpoint_url(&self, head: &Parts) -> Option<String> {
        let interface = self.interfaces(head).into_iter().next()?;
        Some(interface.url)
    }
}

/// Returns a time in seconds, rounded up, because a caller that retries too early is refused again.
pub(super) fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

/// Parameter of a challenge that names the metadata, RFC 9728 §5.1.
const RESOURCE_METADATA: &str = "resource_metadata";
