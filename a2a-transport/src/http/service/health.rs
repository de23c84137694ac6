//! The health service of gRPC: the readiness probe.

use std::pin::Pin;

use a2a_protobuf::{HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE};
use bytes::Bytes;
use http::Response;
use http::request::Parts;
use serde::Deserialize;
use serde_json::json;

use super::grpc::{form, unknown_method};
use super::settings::{HEALTH, Settings};
use crate::binding::OutgoingReply;
use crate::binding::grpc::{Code, Status};
use crate::http::message::answer::{AnswerFormat, failed};
use crate::http::message::body::Body;
use crate::http::message::grpc::{GrpcFormat, Web, read_message};
use crate::http::message::receive::collect;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    service: String,
}

/// Answers a request. Changes cannot be watched: callers then ask again.
pub(super) async fn answer<B>(
    settings: &Settings,
    head: &Parts,
    body: Pin<&mut B>,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let path = head.uri.path();
    let web = match form(head) {
        Ok(web) => web,
        Err(refusal) => return refusal,
    };
    if path.strip_prefix(HEALTH) != Some("Check") {
        return unknown_method(path, web);
    }
    let format = GrpcFormat {
        response: &HEALTH_CHECK_RESPONSE,
        gzip: false,
        web,
        limit: LIMIT,
    };
    let mut share = settings.receiving.share();
    let Ok(body) = collect(body, LIMIT, settings.rate, &mut share).await else {
        return failed(
            &Status::new(Code::RESOURCE_EXHAUSTED, "expected a short request"),
            format,
        );
    };
    let Some(question) = read(&body, web) else {
        let text = "expected a HealthCheckRequest";
        return failed(&Status::new(Code::INVALID_ARGUMENT, text), format);
    };
    let is_known = question.service.is_empty()
        || a2a_protobuf::services().contains(&question.service.as_str());
    if !is_known {
        let text = format!("there is no service {}", question.service);
        return failed(&Status::new(Code::NOT_FOUND, text), format);
    }
    let status = match settings.readiness.ready().await {
        Ok(()) => "SERVING",
        Err(_) => "NOT_SERVING",
    };
    let body = json!({"status": status}).to_string().into_bytes();
    let status = http::StatusCode::OK;
    AnswerFormat::Grpc(format).written(OutgoingReply { status, body })
}

fn read(body: &[u8], web: Option<Web>) -> Option<Question> {
    let frames = web.map_or(Some(body.into()), |web| web.frames(body))?;
    let message = read_message(&frames, false, LIMIT).ok()?;
    let json = HEALTH_CHECK_REQUEST.to_json(&message).ok()?;
    serde_json::from_slice(&json).ok()
}

/// Maximum bytes of a request and of its answer.
const LIMIT: usize = 4096;
