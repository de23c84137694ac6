//! Calls by gRPC.

use std::sync::Arc;

use a2a_edge::budget::{Exhausted, Share};
use a2a_jsonrpc::Id;
use a2a_protobuf::Method;
use a2a_types::size::size_of_task;
use a2a_types::{ErrorKind, Request as A2aRequest};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE};
use http::{Request, Response, StatusCode, Uri, Version};
use http_body_util::{BodyExt, Full};
use tracing::Span;

use super::busy_error::busy_error;
use super::deviation_observer::tell;
use super::event_stream::{EventDecoder, EventStream};
use super::foreign_body::shown;
use super::http_client::challenges;
use super::transport::{MIN_HEAP, Shared};
use super::wire_observer::ObservedBody;
use crate::binding::{EventReader, read_reply, write_call};
use crate::http::message::address::bad_address;
use crate::http::message::grpc::{GrpcDecoder, frame};
use crate::spans::HTTP_STATUS;
use crate::{Binding, CallResponse, Context, Error, Phase};

impl Shared {
    /// Sends a call by gRPC.
    pub(super) async fn ask_by_grpc(
        &self,
        request: A2aRequest,
        context: &Context,
        span: &Span,
    ) -> Result<CallResponse, Error> {
        let operation = request.operation();
        let forgets = self.cannot_say(&request);
        let asking = write_call(request, self.protocol_version, Binding::Grpc, &Id::Null)?;
        let method = Method::at(&asking.target).ok_or(Error::NotSupported {
            operation,
            protocol_version: self.protocol_version,
        })?;
        let said = frame(method.request(), asking.body.as_deref().unwrap_or(b"{}"))?;
        let request = || self.grpc_request(method, &said, context);
        let response = self
            .http
            .send_as(self.credentials(context), request)
            .await?;
        let (head, body) = response.into_parts();
        span.record(HTTP_STATUS, head.status.as_u16());
        if head.status != StatusCode::OK || !is_grpc(&head.headers) {
            return Err(self.foreign(Response::from_parts(head, body)).await);
        }
        let limit = match method.is_stream() {
            true => self.bounds.event,
            false => self.http.limit,
        };
        let mut decoder = GrpcDecoder::new(method.response(), &head.headers, limit);
        let refused = |error| refused(error, &head.headers);
        if method.is_stream() {
            if http_body::Body::is_end_stream(&body) {
                // An error before the first event.
                decoder.finish().map_err(refused)?;
            }
            let reader = EventReader::new(asking.envelope, self.mode, self.limits(limit));
            let (idle, budget) = (self.http.timeouts.idle, self.http.receiving.clone());
            let (reader, observer) = ((reader, self.mode), self.deviations.clone());
            let decoder = EventDecoder::Grpc(decoder);
            let updates = EventStream::updates(body, reader, observer, decoder, idle, budget);
            return Ok(CallResponse::stream(updates));
        }
        let mut share = self.http.receiving.share();
        let receiving = self.receive(body, &mut decoder, &mut share);
        let json = match tokio::time::timeout(self.http.timeouts.body, receiving).await {
            Ok(json) => json.map_err(refused)?,
            Err(_) => {
                return Err(Error::Timeout {
                    phase: Phase::Body,
                    limit: self.http.timeouts.body,
                });
            }
        };
        let mut limits = self.limits(limit.saturating_mul(2));
        limits.heap = limits.heap.min(json.len().saturating_mul(4).max(MIN_HEAP));
        let read = read_reply(&asking.envelope, StatusCode::OK, &json, self.mode, &limits)?;
        let mut response = tell(self.deviations.as_ref(), read);
        if forgets {
            response.tasks_mut().for_each(|task| task.history.clear());
        }
        drop(json);
        let bytes = response.tasks_mut().map(|task| size_of_task(task)).sum();
        share.resize(bytes).map_err(|Exhausted| self.crowded())?;
        Ok(CallResponse::once(response).holding(Some(Arc::new(share))))
    }

    /// Receives the one message of an answer, as JSON.
    async fn receive(
        &self,
        mut body: ObservedBody,
        decoder: &mut GrpcDecoder,
        share: &mut Share,
    ) -> Result<Vec<u8>, Error> {
        let idle = self.http.timeouts.idle;
        let mut messages = Vec::new();
        loop {
            let frame = tokio::time::timeout(idle, body.frame()).await;
            let frame = frame.map_err(|_| Error::Timeout {
                phase: Phase::Idle,
                limit: idle,
            })?;
            let Some(frame) = frame else { break };
            match frame
                .map_err(|error| Error::Connection(error.into()))?
                .into_data()
            {
                Ok(data) => messages.extend(decoder.push(&data)?),
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        decoder.trailers(&trailers);
                    }
                }
            }
            let kept = messages.iter().map(Vec::len).sum::<usize>() + decoder.buffered();
            share.resize(kept).map_err(|Exhausted| self.crowded())?;
            if messages.len() > 1 {
                break;
            }
        }
        if messages.len() <= 1 {
            decoder.finish()?;
        }
        let count = messages.len();
        match messages.pop() {
            Some(message) if count == 1 => Ok(message),
            _ => Err(Error::NotA2a {
                status: StatusCode::OK.as_u16(),
                problem: format!(
                    "expected one message, found {}",
                    if count == 0 { "none" } else { "more" }
                ),
            }),
        }
    }

    fn crowded(&self) -> Error {
        Error::Crowded {
            limit: self.http.receiving.limit(),
        }
    }

    fn grpc_request(
        &self,
        method: &Method,
        said: &Bytes,
        context: &Context,
    ) -> Result<Request<Full<Bytes>>, Error> {
        // A service has its place at the root.
        let mut parts = self.url.clone().into_parts();
        parts.path_and_query = method.path().parse().ok();
        let url =
            Uri::from_parts(parts).map_err(|error| bad_address(&self.url.to_string(), error))?;
        let mut request = Request::post(url)
            .version(Version::HTTP_2)
            .body(Full::from(said.clone()))
            .map_err(|error| bad_address(&self.url.to_string(), error))?;
        let headers = request.headers_mut();
        let version = HeaderValue::from_static(self.protocol_version.version());
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/grpc+proto"),
        );
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(&ACCEPT_ENCODING, HeaderValue::from_static("identity,gzip"));
        headers.insert("a2a-version", version);
        if method.is_stream() {
            // Asks for the ids of the events.
            headers.insert("last-event-id", HeaderValue::from_static("0"));
        }
        self.write_context(context, headers);
        Ok(request)
    }

    /// Returns the error of an answer that is not of gRPC.
    async fn foreign(&self, response: Response<ObservedBody>) -> Error {
        let (head, body) = response.into_parts();
        if let status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) = head.status {
            return Error::Refused {
                status: status.as_u16(),
                challenge: challenges(&head.headers),
            };
        }
        let problem = match self.http.collect(body).await {
            Ok((body, _)) => format!(
                "expected an answer by gRPC, found {}",
                shown(&head.headers, &body)
            ),
            Err(error) => return error,
        };
        let status = head.status.as_u16();
        busy_error(Error::NotA2a { status, problem }, &head)
    }
}

/// Returns the refusal that an error means, with its challenge, as by HTTP.
fn refused(error: Error, headers: &HeaderMap) -> Error {
    let status = match &error {
        Error::Agent(answer) => match answer.kind {
            ErrorKind::Unauthenticated => 401,
            ErrorKind::PermissionDenied => 403,
            _ => return error,
        },
        _ => return error,
    };
    Error::Refused {
        status,
        challenge: challenges(headers),
    }
}

fn is_grpc(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    content_type.is_some_and(|text| text.starts_with(b"application/grpc"))
}

static ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");
