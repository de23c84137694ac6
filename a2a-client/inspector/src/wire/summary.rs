//! Exchanges as the page gets them.

use std::time::Duration;

use a2a_types::reading::Deviation;
use http::Version;
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::deviations;
use super::exchange::{Exchange, Frame, Source, State, shown_headers};

/// An exchange in a line.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    number: u64,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<String>,
    started_at: String,
    method: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    state: &'static str,
    request_bytes: u64,
    response_bytes: u64,
    frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    head_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// An exchange in full.
#[derive(Debug, Serialize)]
pub(crate) struct Details {
    #[serde(flatten)]
    summary: Summary,
    request: Half,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Half>,
    /// Deviations from the specification, despite which the answer is read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deviations: Vec<Value>,
}

/// A request or an answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Half {
    #[serde(skip_serializing_if = "Option::is_none")]
    http_version: Option<&'static str>,
    headers: Vec<(String, String)>,
    body: String,
    omitted_bytes: u64,
    /// The events, if it is a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<ShownFrame>>,
}

#[derive(Debug, Serialize)]
struct ShownFrame {
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    data: String,
}

impl Summary {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        let (source, proxy) = match &exchange.source {
            Source::Client(_) => ("client", None),
            Source::Proxy(proxy) => ("proxy", Some(proxy)),
            Source::Resend(_) => ("resend", None),
        };
        let (call, response) = (exchange.call.as_ref(), exchange.response.as_ref());
        Self {
            number: exchange.number,
            source,
            agent: exchange.source.agent().map(str::to_owned),
            proxy: proxy.cloned(),
            started_at: exchange.began_at.to_string(),
            method: exchange.request.method.to_string(),
            url: exchange.request.shown_url.clone(),
            operation: call.map(|call| call.operation),
            version: call.and_then(|call| call.version),
            binding: call.and_then(|call| call.binding),
            status: response.map(|response| response.status.as_u16()),
            state: match exchange.state {
                State::Open => "open",
                State::Done => "done",
                State::Failed => "failed",
            },
            request_bytes: exchange.request.body.total,
            response_bytes: response.map_or(0, |response| response.body.total),
            frames: response.map_or(0, |response| response.frames),
            head_ms: response.map(|response| millis(response.head_after)),
            duration_ms: exchange.duration.map(millis),
            failure: exchange.failure.clone(),
        }
    }
}

impl Details {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        let request = &exchange.request;
        let response = exchange.response.as_ref();
        let version = request
            .http_version
            .or(response.map(|response| response.http_version));
        Self {
            summary: Summary::of(exchange),
            request: Half {
                http_version: version.map(http_version),
                headers: request.shown_headers(),
                body: request.body.text().into_owned(),
                omitted_bytes: request.body.omitted(),
                frames: None,
            },
            response: response.map(|response| Half {
                http_version: Some(http_version(response.http_version)),
                headers: shown_headers(&response.headers),
                body: response.body.text().into_owned(),
                omitted_bytes: response.body.omitted(),
                frames: response
                    .is_stream()
                    .then(|| response.frames().into_iter().map(shown).collect()),
            }),
            deviations: deviations(exchange).iter().map(shown_deviation).collect(),
        }
    }
}

/// Returns a deviation with the description of its kind.
pub(crate) fn shown_deviation(deviation: &Deviation) -> Value {
    let mut shown = json!(deviation);
    shown["about"] = json!(deviation.quirk.about());
    shown
}

fn shown(frame: Frame) -> ShownFrame {
    ShownFrame {
        ms: millis(frame.after),
        id: frame.id,
        event: frame.event,
        data: String::from_utf8_lossy(&frame.data).into_owned(),
    }
}

/// Returns a duration in milliseconds, to a tenth.
pub(crate) fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}

/// Returns the name of a version of HTTP.
pub(crate) fn http_version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    }
}
