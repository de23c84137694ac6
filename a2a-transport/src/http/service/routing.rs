//! Routes of requests by HTTP+JSON.

use a2a_types::reading::Mode;
use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion};
use http::header::{ALLOW, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};

use super::error_format::ErrorFormat;
use super::request_headers::RequestHeaders;
use super::tenants::Tenants;
use crate::Binding;
use crate::binding::rest::{NoRoute, Route};
use crate::binding::{ReadOptions, SupportedVersions};
use crate::error::clip;
use crate::http::message::answer::{AnswerFormat, JSON};
use crate::http::message::body::Body;
use crate::http::message::media;

/// Finds the route of a request by HTTP+JSON, before its body is read.
pub(super) fn find_route(
    head: &Parts,
    path: &str,
    headers: &RequestHeaders<'_>,
    reading: &ReadOptions,
    tenants: &Tenants,
    error_format: &mut ErrorFormat,
) -> Result<Route, Response<Body>> {
    let requested = match asked_for(headers, reading.offer) {
        Ok(requested) => requested,
        Err(error) => {
            // It names a version, so it is of 1.0.
            error_format.protocol_version = ProtocolVersion::V1_0;
            return Err(error_format.refuse(None, error));
        }
    };
    let route = match route(head, path, requested, reading, tenants) {
        Ok(route) => route,
        Err(RoutingError::Version(error)) => return Err(error_format.refuse(None, error)),
        Err(RoutingError::Route(NoRoute::Path)) => {
            let text = format!("there is no operation at `{}`", clip(path));
            let error = A2aError::new(ErrorKind::MethodNotFound, text);
            return Err(error_format.refuse(None, error));
        }
        Err(RoutingError::Route(NoRoute::Method(allowed))) => {
            let text = format!("expected {allowed} here");
            let error = A2aError::new(ErrorKind::InvalidRequest, text);
            let mut response = error_format.refuse(Some(StatusCode::METHOD_NOT_ALLOWED), error);
            if let Ok(allowed) = HeaderValue::from_str(&allowed) {
                response.headers_mut().insert(ALLOW, allowed);
            }
            return Err(response);
        }
    };
    error_format.protocol_version = route.protocol_version;
    if route.protocol_version != ProtocolVersion::V1_0 {
        error_format.answer = AnswerFormat::Json(JSON);
    }
    if !media::takes_answers(&head.headers) {
        let text = "expected `Accept` to name `application/json` or `text/event-stream`";
        let error = A2aError::new(ErrorKind::InvalidRequest, text);
        return Err(error_format.refuse(Some(StatusCode::NOT_ACCEPTABLE), error));
    }
    Ok(route)
}

/// Finds the place of a request, in a version that is offered and of a tenant that is served.
fn route(
    head: &Parts,
    path: &str,
    requested: Option<ProtocolVersion>,
    reading: &ReadOptions,
    tenants: &Tenants,
) -> Result<Route, RoutingError> {
    let offers = |protocol_version| reading.offer.has(Binding::HttpJson, protocol_version);
    let find = |requested| {
        let route = Route::find(&head.method, path, requested, reading.mode)?;
        match &route.tenant {
            Some(tenant) if !tenants.has(tenant) => Err(NoRoute::Path),
            _ => Ok(route),
        }
    };
    // A request without a version is of 0.3 (1.0 §3.6.2); a lenient reader goes by the path.
    let not_offered = || {
        let version = ProtocolVersion::V0_3.version();
        RoutingError::Version(reading.offer.refusal(Binding::HttpJson, version))
    };
    match requested {
        None if !offers(ProtocolVersion::V1_0) => Ok(find(Some(ProtocolVersion::V0_3))?),
        None if !offers(ProtocolVersion::V0_3) && reading.mode == Mode::Strict => {
            Err(not_offered())
        }
        None if !offers(ProtocolVersion::V0_3) => match find(None) {
            // A path that looks like one of 0.3 may begin with a tenant.
            Ok(route) if route.protocol_version == ProtocolVersion::V0_3 => {
                find(Some(ProtocolVersion::V1_0)).map_err(|_| not_offered())
            }
            found => Ok(found?),
        },
        requested => Ok(find(requested)?),
    }
}

/// Reason for which a request has no route.
enum RoutingError {
    /// Its version is not offered.
    Version(A2aError),
    Route(NoRoute),
}

impl From<NoRoute> for RoutingError {
    fn from(no_route: NoRoute) -> Self {
        Self::Route(no_route)
    }
}

/// Returns the version that the caller names. A draft of 0.3 was part of 0.2, so 0.2 counts as 0.3.
/// Errors: HTTP+JSON is not offered in that version.
fn asked_for(
    headers: &RequestHeaders<'_>,
    offer: SupportedVersions,
) -> Result<Option<ProtocolVersion>, A2aError> {
    let requested = offer.requested(Binding::HttpJson, headers.version().as_deref())?;
    Ok(requested.map(|protocol_version| protocol_version.max(ProtocolVersion::V0_3)))
}

/// Returns the version in which a request is refused that has no route yet.
pub(super) fn unrouted(offer: SupportedVersions) -> ProtocolVersion {
    match offer.has(Binding::HttpJson, ProtocolVersion::V1_0) {
        true => ProtocolVersion::V1_0,
        false => ProtocolVersion::V0_3,
    }
}
