//! Recorder of exchanges into files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

use a2a_transport::binding::rest::Route;
use a2a_transport::binding::{IncomingCall, ReadOptions, grpc, jsonrpc, rest};
use a2a_transport::http::{ResponseObserver, WireObserver};
use a2a_types::ProtocolVersion;
use a2a_types::reading::Mode;
use http::header::HeaderMap;
use http::{Method, request, response};
use serde::{Deserialize, Serialize};

use crate::credentials::{shown_header, shown_text, shown_url};
use crate::fault::causes;

/// Writes every exchange with an agent into a file of its own, in a directory: `0001.json` and so on,
/// each an [`Exchange`].
///
/// Omits the values of headers that are marked as sensitive, and values with a secret name: in headers, in queries
/// ([`is_secret_name`](crate::credentials::is_secret_name)), and members of bodies like `access_token`, `credentials`
/// and the `token` of a webhook. Whatever else is in a body is written.
///
/// By gRPC, a body is the JSON of its messages, each in a line, if all of them can be decoded; trailers are among the
/// headers.
#[derive(Clone, Debug)]
pub struct Recorder {
    directory: Arc<Path>,
    next: Arc<AtomicU64>,
}

impl Recorder {
    /// Writes into this directory, and creates it if it does not exist. Existing files are kept:
    /// numbers continue after theirs.
    pub fn into(directory: impl Into<PathBuf>) -> io::Result<Self> {
        let directory = directory.into();
        fs::create_dir_all(&directory)?;
        let mut last = 0;
        for entry in fs::read_dir(&directory)? {
            let name = entry?.file_name();
            let number = Path::new(&name).file_stem().and_then(|stem| stem.to_str());
            last = last.max(number.and_then(|stem| stem.parse().ok()).unwrap_or(0));
        }
        Ok(Self {
            directory: directory.into(),
            next: Arc::new(AtomicU64::new(last + 1)),
        })
    }
}

/// A request and its response.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The request.
    pub request: RecordedRequest,
    /// The response, if there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RecordedResponse>,
    /// Reason why the response is missing or incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A recorded request.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers; `***` for secret values.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body as text.
    #[serde(default)]
    pub body: String,
}

impl RecordedRequest {
    /// Returns whether it fetches an agent card.
    pub fn is_card(&self) -> bool {
        let path = path_of(&self.url);
        self.method == "GET" && (path.ends_with(".json") || path.ends_with("/agent-card"))
    }

    /// Reads the request leniently as a call in the canonical model, whatever path the agent's URL has. By gRPC, the
    /// body is the JSON of the message. Errors: why it is not a call of an agent.
    pub fn read_call(&self) -> Result<IncomingCall, String> {
        let version = self.headers.get("a2a-version").map(String::as_str);
        let reading = ReadOptions::default();
        let body = self.body.as_bytes();
        let is_post = self.method == "POST";
        let is_json_rpc = is_post && self.body.contains("\"jsonrpc\"");
        let by_grpc = grpc::operation_at(path_of(&self.url)).filter(|_| is_post);
        let read = if let Some((operation, version)) = by_grpc {
            grpc::read_call(operation, version, body, &reading)
        } else if is_json_rpc {
            jsonrpc::read_call(body, version, &reading)
        } else {
            let query = self.url.split_once('?').map(|(_, query)| query);
            let version = version.and_then(ProtocolVersion::from_version);
            let route = route(&self.method, path_of(&self.url), version);
            let route = route.ok_or("no operation has this method and path")?;
            rest::read_call(route, query, body, &reading)
        };
        let call = read.map_err(|refused| refused.error.to_string())?;
        Ok(call)
    }
}

/// A recorded response.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The headers; `***` for secret values.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body as text, of a stream the whole of it: at most 32 MiB.
    #[serde(default)]
    pub body: String,
}

impl WireObserver for Recorder {
    fn request(&self, head: &request::Parts, body: &bytes::Bytes) -> Box<dyn ResponseObserver> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let request = RecordedRequest {
            method: head.method.to_string(),
            url: shown_url(head),
            headers: recorded_headers(&head.headers),
            body: body_text(Half::Request, head.uri.path(), &head.headers, body),
        };
        Box::new(Recording {
            path: head.uri.path().to_owned(),
            headers: HeaderMap::new(),
            file: self.directory.join(format!("{number:04}.json")),
            exchange: Exchange {
                request,
                ..Exchange::default()
            },
            body: Vec::new(),
            is_written: false,
        })
    }
}

/// An exchange in progress.
struct Recording {
    file: PathBuf,
    /// Path of the request.
    path: String,
    /// Headers of the response.
    headers: HeaderMap,
    exchange: Exchange,
    body: Vec<u8>,
    is_written: bool,
}

impl ResponseObserver for Recording {
    fn head(&mut self, head: &response::Parts) {
        self.headers = head.headers.clone();
        self.exchange.response = Some(RecordedResponse {
            status: head.status.as_u16(),
            headers: recorded_headers(&head.headers),
            body: String::new(),
        });
    }

    fn data(&mut self, data: &bytes::Bytes) {
        let room = MAX_RECORDED_BYTES - self.body.len();
        self.body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            let problem = format!("only the first {MAX_RECORDED_BYTES} bytes were recorded");
            self.exchange.failure.get_or_insert(problem);
        }
    }

    fn trailers(&mut self, trailers: &HeaderMap) {
        if let Some(response) = &mut self.exchange.response {
            response.headers.extend(recorded_headers(trailers));
        }
    }

    fn end(&mut self, failure: Option<&(dyn std::error::Error + 'static)>) {
        if let Some(failure) = failure {
            self.exchange.failure = Some(causes(failure));
        }
        self.write();
    }
}

impl Recording {
    fn write(&mut self) {
        self.is_written = true;
        if let Some(response) = &mut self.exchange.response {
            response.body = body_text(Half::Response, &self.path, &self.headers, &self.body);
        }
        let written = serde_json::to_vec_pretty(&self.exchange)
            .map_err(io::Error::other)
            .and_then(|text| fs::write(&self.file, text));
        if let Err(error) = written {
            let (file, error) = (self.file.display(), &error as &dyn std::error::Error);
            tracing::warn!(%file, error, "could not record an exchange");
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.is_written {
            // A follower may stop reading when the task has ended.
            if self.exchange.response.is_none() {
                self.exchange.failure =
                    Some("the caller stopped waiting for the answer".to_owned());
            }
            self.write();
        }
    }
}

/// Half of an exchange.
#[derive(Clone, Copy)]
enum Half {
    Request,
    Response,
}

/// Returns a body without secrets.
fn body_text(half: Half, path: &str, headers: &HeaderMap, body: &[u8]) -> String {
    let text = match messages(half, path, headers, body) {
        Some(json) => json.into(),
        None => String::from_utf8_lossy(body),
    };
    shown_text(&text).into_owned()
}

/// Returns the messages by gRPC as lines of JSON, if all can be decoded.
#[cfg(feature = "grpc")]
fn messages(half: Half, path: &str, headers: &HeaderMap, body: &[u8]) -> Option<String> {
    use a2a_transport::http::grpc::MessageDecoder;

    let media_type = headers.get(http::header::CONTENT_TYPE)?.as_bytes();
    if !media_type.starts_with(b"application/grpc") {
        return None;
    }
    let decoder = match half {
        Half::Request => MessageDecoder::of_requests(path, headers, MAX_RECORDED_BYTES),
        Half::Response => MessageDecoder::of_responses(path, headers, MAX_RECORDED_BYTES),
    };
    let mut decoder = decoder?;
    let messages = decoder.push(body).ok()?;
    let lines = messages.into_iter().map(String::from_utf8);
    let lines: Vec<_> = lines.collect::<Result<_, _>>().ok()?;
    (decoder.buffered() == 0).then(|| lines.join("\n"))
}

#[cfg(not(feature = "grpc"))]
fn messages(_: Half, _: &str, _: &HeaderMap, _: &[u8]) -> Option<String> {
    None
}

/// Returns the path of a URL, without its query.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |slash| &rest[slash..]);
    path.split('?').next().unwrap_or_default()
}

/// Returns the operation of a path, regardless of the path prefix in the agent's URL.
fn route(method: &str, path: &str, version: Option<ProtocolVersion>) -> Option<Route> {
    let method = Method::from_bytes(method.as_bytes()).ok()?;
    let segments: Vec<_> = path.trim_matches('/').split('/').collect();
    // A path of 1.0 may begin with a tenant: with the version, which 0.3 has, and without anything.
    (0..segments.len()).find_map(|start| {
        let path = segments[start..].join("/");
        let found = Route::find(&method, &path, version, Mode::Lenient).ok()?;
        (found.tenant.is_none() || start + 1 == segments.len()).then_some(found)
    })
}

/// Returns headers as they are recorded: `***` for secret values, and values of one name joined.
pub fn recorded_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut recorded = BTreeMap::<String, String>::new();
    for (name, value) in headers {
        let joined = recorded.entry(name.to_string()).or_default();
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(&shown_header(name.as_str(), value));
    }
    recorded
}

/// Bytes of a response that are recorded.
const MAX_RECORDED_BYTES: usize = 32 << 20;

#[cfg(all(test, feature = "grpc"))]
mod tests {
    use a2a_transport::http::grpc::frame_request;
    use http::header::{CONTENT_TYPE, HeaderValue};

    use super::*;

    #[test]
    fn messages_by_grpc_are_recorded_as_json() {
        let path = "/lf.a2a.v1.A2AService/GetTask";
        let frame = frame_request(path, br#"{"id":"t"}"#).unwrap();
        let media_type = HeaderValue::from_static("application/grpc+proto");
        let headers = [(CONTENT_TYPE, media_type)].into_iter().collect();
        let body = |bytes: &[u8]| body_text(Half::Request, path, &headers, bytes);
        let text = body(&frame);
        assert_eq!(text, r#"{"id":"t"}"#);
        let request = RecordedRequest {
            method: "POST".to_owned(),
            url: format!("http://h{path}"),
            body: text,
            ..RecordedRequest::default()
        };
        let call = request.read_call().unwrap();
        assert_eq!(call.request.task_id().unwrap().as_str(), "t");
        assert_eq!(body(&frame[..7]), String::from_utf8_lossy(&frame[..7]));
    }
}
