//! Exchanges as the page gets them.

use std::time::Duration;

use a2a_transport::binding::grpc::Status;
use a2a_types::reading::Deviation;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Version;
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::deviations;
use super::exchange::{Exchange, Frame, Response, Source, State, shown_headers};

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
    /// Name of the status by gRPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    grpc_status: Option<&'static str>,
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
    /// By gRPC, the JSON of each message in a line.
    body: String,
    omitted_bytes: u64,
    /// The events, if it is a stream; by gRPC the messages, also if they are not just one.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<ShownFrame>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trailers: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grpc_status: Option<Value>,
}

#[derive(Debug, Serialize)]
struct ShownFrame {
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    /// In Base64, if there is a problem.
    data: String,
    /// Reason why a message by gRPC cannot be decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
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
            grpc_status: response
                .and_then(Response::grpc_status)
                .map(|status| status.code.name()),
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
        let is_open = exchange.state == State::Open;
        let version = request
            .http_version
            .or(response.map(|response| response.http_version));
        Self {
            summary: Summary::of(exchange),
            request: Half {
                http_version: version.map(http_version),
                headers: request.shown_headers(),
                body: request.text().into_owned(),
                omitted_bytes: request.body.omitted(),
                frames: request.shown_frames().map(shown_frames),
                trailers: Vec::new(),
                grpc_status: None,
            },
            response: response.map(|response| Half {
                http_version: Some(http_version(response.http_version)),
                headers: shown_headers(&response.headers),
                body: response.text().into_owned(),
                omitted_bytes: response.body.omitted(),
                frames: response.shown_frames(is_open).map(shown_frames),
                trailers: shown_headers(&response.trailers),
                grpc_status: response.grpc_status().as_ref().map(shown_status),
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

fn shown_frames(frames: Vec<Frame>) -> Vec<ShownFrame> {
    let shown = frames.into_iter().map(|frame| ShownFrame {
        ms: millis(frame.after),
        id: frame.id,
        event: frame.event,
        data: match &frame.problem {
            Some(_) => STANDARD.encode(&frame.data),
            None => String::from_utf8_lossy(&frame.data).into_owned(),
        },
        problem: frame.problem,
    });
    shown.collect()
}

/// Returns a status by gRPC with the name of its code.
fn shown_status(status: &Status) -> Value {
    let mut shown = json!(status);
    shown["name"] = json!(status.code.name());
    shown
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

#[cfg(test)]
mod tests {
    use a2a_client::ResponseObserver;
    use a2a_transport::http::grpc::{frame_request, frame_response, write_status};
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, Method};

    use super::super::exchange::{Body, MAX_BODY_BYTES, Request};
    use super::super::log::ExchangeLog;
    use super::super::recording::Recording;
    use super::*;
    use crate::changes::Changes;

    const PATH: &str = "/lf.a2a.v1.A2AService/GetTask";

    /// An exchange by gRPC, with its log.
    fn begin(method: &str, body: &[u8]) -> (ExchangeLog, Recording) {
        let log = ExchangeLog::new(Changes::default());
        let media_type = HeaderValue::from_static("application/grpc");
        let headers = [(http::header::CONTENT_TYPE, media_type)];
        let url = format!("http://h/lf.a2a.v1.A2AService/{method}");
        let request = Request {
            method: Method::POST,
            shown_url: url.clone(),
            url,
            http_version: None,
            headers: headers.into_iter().collect(),
            body: Body::of(body),
        };
        let mut recording = Recording::begin(&log, Source::Resend(None), request);
        let response = http::Response::builder().header("content-type", "application/grpc");
        recording.head(&response.body(()).unwrap().into_parts().0);
        (log, recording)
    }

    fn shown(log: &ExchangeLog) -> Value {
        json!(Details::of(&log.get(1).unwrap()))
    }

    fn task() -> Vec<u8> {
        let json = br#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#;
        frame_response(PATH, json).unwrap().to_vec()
    }

    #[test]
    fn a_message_that_is_cut_off_is_shown_in_base64() {
        let request = frame_request(PATH, br#"{"id":"t"}"#).unwrap();
        let (log, mut recording) = begin("GetTask", &request);
        let task = task();
        recording.data(&Bytes::copy_from_slice(&task[..7]));
        let open = shown(&log);
        assert_eq!(open["operation"], "GetTask");
        assert_eq!(open["request"]["body"], r#"{"id":"t"}"#);
        assert!(open["response"]["frames"].is_null(), "{open}");
        recording.finish(None);
        let ended = shown(&log);
        let frame = &ended["response"]["frames"][0];
        assert_eq!(frame["problem"], "the message is not whole");
        assert_eq!(frame["data"], STANDARD.encode(&task[..7]));
        assert_eq!(ended["response"]["body"], "");
    }

    #[test]
    fn messages_beside_one_that_cannot_be_decoded_are_shown() {
        let (log, mut recording) = begin("GetTask", b"\x07no frame");
        let wrong = [0, 0, 0, 0, 2, 0x0a, 9];
        let body = [&task()[..], &wrong, &task()].concat();
        recording.data(&Bytes::from(body));
        let mut trailers = HeaderMap::new();
        write_status(
            &Status::new(a2a_transport::binding::grpc::Code::INTERNAL, "no"),
            &mut trailers,
        );
        recording.trailers(&trailers);
        recording.finish(None);
        let shown = shown(&log);
        let problem = &shown["request"]["frames"][0]["problem"];
        assert!(problem.as_str().unwrap().contains("flags 7"), "{problem}");
        let frames = shown["response"]["frames"].as_array().unwrap();
        let problems: Vec<_> = frames
            .iter()
            .map(|frame| frame["problem"].is_string())
            .collect();
        assert_eq!(problems, [false, true, false]);
        assert_eq!(frames[1]["data"], STANDARD.encode(wrong));
        assert_eq!(
            shown["response"]["trailers"][0],
            json!(["grpc-status", "13"])
        );
        let status = json!({"code": 13, "name": "INTERNAL", "message": "no", "details": []});
        assert_eq!(shown["response"]["grpcStatus"], status);
    }

    #[test]
    fn what_is_kept_of_an_answer_by_grpc_is_bounded() {
        let (log, mut recording) = begin("SubscribeToTask", b"");
        // Messages of an unknown field, which is skipped.
        let mut message = vec![0, 0, 16, 0, 5, 0xfa, 0x7f, 0x80, 0x80, 0x40];
        message.resize(message.len() + (1 << 20), b'x');
        for _ in 0..5 {
            recording.data(&Bytes::from(message.clone()));
        }
        let kept = log.get(1).unwrap();
        let response = kept.response.as_ref().unwrap();
        assert_eq!(response.body.bytes.len(), MAX_BODY_BYTES);
        assert_eq!(response.frames, 5);
        recording.finish(None);
        let shown = shown(&log);
        let frames = shown["response"]["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 4, "three whole messages, and a part of one");
        assert_eq!(frames[0]["data"], "{}");
        assert!(frames[3]["problem"].is_string());
        assert_eq!(log.page(0, 0).bytes, kept.weight());
    }
}
