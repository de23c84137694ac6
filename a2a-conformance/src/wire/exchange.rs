//! Requests and answers of an exchange with an agent, as data.

use a2a_transport::{Binding, Error};
use a2a_types::{ErrorKind, ProtocolVersion};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::Body;
use serde_json::{Map, Value};

use crate::record::{Evidence, HttpMessage, MismatchKind};

/// Answer to a request that is answered once.
pub(crate) struct AgentResponse {
    pub(crate) evidence: Evidence,
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) binding: Binding,
    pub(crate) status: u16,
    /// Headers by their names in lower case.
    pub(crate) headers: Value,
    /// The body, if it is JSON.
    pub(crate) json: Option<Value>,
    pub(crate) outcome: ResponseContent,
    /// `true` if nothing came because the time was over.
    pub(crate) late: bool,
}

/// Content of an answer.
#[derive(Clone, Debug)]
pub(crate) enum ResponseContent {
    /// The result, in protocol 1.0.
    Result(Value),
    /// The agent answered with an error.
    Error { kind: ErrorKind, message: String },
    /// The answer cannot be read, for this reason.
    Unreadable(Problem),
    /// No whole answer came, for this reason.
    Nothing(Problem),
}

/// Reason why there is no answer, or none that can be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    pub(crate) text: String,
    pub(crate) kind: MismatchKind,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        let kind = MismatchKind::Value;
        Self { text, kind }
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let kind = match error {
            Error::Unreachable(_) => MismatchKind::NoConnection,
            Error::Malformed(violation) if ["$", "$.result"].contains(&&*violation.path) => {
                MismatchKind::Unreadable
            }
            Error::NotA2a { .. } => MismatchKind::Unreadable,
            _ => MismatchKind::Value,
        };
        let text = causes(error);
        Self { text, kind }
    }
}

/// A request as it goes over the wire.
#[derive(Clone)]
pub(crate) struct WireRequest {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    /// `true` if it is sent by gRPC.
    pub(crate) is_grpc: bool,
    /// The bytes that are sent by gRPC, where they are not the body in its frame.
    pub(crate) frame: Option<Bytes>,
    /// Params in protocol 1.0; null if the case altered them.
    pub(crate) params: Value,
    /// `true` if the request departs from the version on purpose.
    pub(crate) is_altered: bool,
    /// `true` if header names begin with capitals, where the connection can do that.
    pub(crate) has_title_case_headers: bool,
}

/// The body of an answer.
pub(crate) type ResponseBody = BoxBody<Bytes, Error>;

/// Returns a body that was received as one of the suite.
pub(crate) fn boxed<B>(body: B) -> ResponseBody
where
    B: Body<Data = Bytes, Error = hyper::Error> + Send + Sync + 'static,
{
    let broken_off = |error: hyper::Error| Error::Connection(error.into());
    body.map_err(broken_off).boxed()
}

/// Returns the scheme, host and port of a URL.
pub(crate) fn origin(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |end| end + 3);
    let end = url[scheme..]
        .find('/')
        .map_or(url.len(), |slash| scheme + slash);
    &url[..end]
}

/// Returns the path of a URL, without its query.
pub(crate) fn path(url: &str) -> &str {
    let path = &url[origin(url).len()..];
    path.split('?').next().unwrap_or_default()
}

/// Sets a header of one request, or leaves it out if there is no value.
pub(crate) fn set_header(
    headers: &mut HeaderMap,
    name: &str,
    value: Option<&str>,
) -> Result<(), String> {
    let bad = |error: String| format!("the header `{name}`: {error}");
    let name = HeaderName::try_from(name).map_err(|error| bad(error.to_string()))?;
    let Some(value) = value else {
        headers.remove(name);
        return Ok(());
    };
    let value = HeaderValue::from_str(value).map_err(|error| bad(error.to_string()))?;
    headers.insert(name, value);
    Ok(())
}

pub(crate) fn headers_as_json(headers: &HeaderMap) -> Value {
    let pairs = headers_as_pairs(headers).into_iter();
    Value::Object(
        pairs
            .map(|(name, value)| (name, value.into()))
            .collect::<Map<_, _>>(),
    )
}

pub(crate) fn headers_as_pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown_value = |value: &HeaderValue| match value.is_sensitive() {
        true => "***".to_owned(),
        false => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    };
    let pairs = headers.iter();
    pairs
        .map(|(name, value)| (name.to_string(), shown_value(value)))
        .collect()
}

/// Adds the first 64 KiB of a body to the evidence.
pub(crate) fn add_body(half: &mut HttpMessage, body: &[u8]) {
    const MAX_SHOWN_BYTES: usize = 64 << 10;
    let shown = &body[..body.len().min(MAX_SHOWN_BYTES)];
    half.body = String::from_utf8_lossy(shown).into_owned();
    half.left_out = body.len() - shown.len();
}

/// Formats an error with its causes.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// Returns a text with what is not plain in a URL percent-encoded.
pub(crate) fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let bytes = text.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// Returns whether the body of an error names a code of JSON-RPC, which is negative.
pub(crate) fn has_code(json: &Value) -> bool {
    let codes = [&json["code"], &json["error"]["code"]];
    codes
        .iter()
        .any(|code| code.as_i64().is_some_and(|code| code < 0))
}

/// Returns the task of a result: its member `task`, or the result itself if it has a status.
pub(crate) fn task_of(result: &Value) -> Option<&Value> {
    match result.get("task") {
        Some(task) => Some(task),
        None => result.get("status").map(|_| result),
    }
}

/// Returns the items of an array; none if it is not one.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
