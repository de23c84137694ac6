//! Input of the API: bodies and parameters, with errors as the page shows them.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// A body in JSON. Requires `Content-Type: application/json`.
pub(crate) struct JsonBody<T>(pub(crate) T);

/// The parameters of the query. A parameter with an empty value counts as absent.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let problem = |error: JsonRejection| match error.status() {
            StatusCode::UNPROCESSABLE_ENTITY => Problem::bad_request(error.body_text()),
            status => Problem::new(status, error.body_text()),
        };
        let Json(body) = Json::from_request(request, state).await.map_err(problem)?;
        Ok(Self(body))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let given: Vec<_> = query
            .split('&')
            .filter(|pair| {
                pair.split_once('=')
                    .is_none_or(|(_, value)| !value.is_empty())
            })
            .collect();
        let uri: Result<Uri, _> = format!("/?{}", given.join("&")).parse();
        let uri = uri.map_err(|_| Problem::bad_request("the query is not one"))?;
        let problem = |error: QueryRejection| Problem::new(error.status(), error.body_text());
        let Query(parameters) = Query::try_from_uri(&uri).map_err(problem)?;
        Ok(Self(parameters))
    }
}

/// Bytes of a request to the API: a message with files.
pub(crate) const MAX_REQUEST_BYTES: usize = 32 << 20;
