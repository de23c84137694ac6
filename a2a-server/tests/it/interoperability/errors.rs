//! Every error in every protocol version and binding: code, HTTP status, shape.

use a2a_server::Transport;
use a2a_transport::http::{Body, HttpService};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error};
use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// One kind of error in each protocol version, as the tables of the specifications have it.
struct ErrorRow {
    kind: ErrorKind,
    /// Codes in 0.1, 0.2, 0.3 and 1.0. A version that has no code for the error uses another one.
    codes: [i64; 4],
    /// HTTP statuses with HTTP+JSON in 0.3 and 1.0.
    statuses: [u16; 2],
    grpc: &'static str,
    reason: &'static str,
}

const fn row(
    kind: ErrorKind,
    codes: [i64; 4],
    statuses: [u16; 2],
    grpc: &'static str,
    reason: &'static str,
) -> ErrorRow {
    ErrorRow {
        kind,
        codes,
        statuses,
        grpc,
        reason,
    }
}

/// Specification 1.0.1 §5.4 and §9.5, 0.3 §8.2, 0.2 §8, 0.1's schema.
#[rustfmt::skip]
const ROWS: [ErrorRow; 18] = [
    row(ErrorKind::JsonParse, [-32700; 4], [400, 400], "INVALID_ARGUMENT", "JSON_PARSE"),
    row(ErrorKind::InvalidRequest, [-32600; 4], [400, 400], "INVALID_ARGUMENT", "INVALID_REQUEST"),
    row(ErrorKind::MethodNotFound, [-32601; 4], [404, 404], "UNIMPLEMENTED", "METHOD_NOT_FOUND"),
    row(ErrorKind::InvalidParams, [-32602; 4], [400, 400], "INVALID_ARGUMENT", "INVALID_PARAMS"),
    row(ErrorKind::Internal, [-32603; 4], [500, 500], "INTERNAL", "INTERNAL"),
    row(ErrorKind::TaskNotFound, [-32001; 4], [404, 404], "NOT_FOUND", "TASK_NOT_FOUND"),
    row(ErrorKind::TaskNotCancelable, [-32002; 4], [409, 400], "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
    row(ErrorKind::PushNotificationNotSupported, [-32003; 4], [400, 400], "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    row(ErrorKind::UnsupportedOperation, [-32004; 4], [400, 400], "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    row(ErrorKind::ContentTypeNotSupported, [-32005; 4], [415, 400], "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    row(ErrorKind::InvalidAgentResponse, [-32603, -32006, -32006, -32006], [502, 500], "INTERNAL", "INVALID_AGENT_RESPONSE"),
    row(ErrorKind::ExtendedAgentCardNotConfigured, [-32004, -32004, -32007, -32007], [400, 400], "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    row(ErrorKind::ExtensionSupportRequired, [-32600, -32600, -32600, -32008], [400, 400], "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"),
    row(ErrorKind::VersionNotSupported, [-32600, -32600, -32600, -32009], [400, 400], "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
    row(ErrorKind::Unauthenticated, [-32000; 4], [401, 401], "UNAUTHENTICATED", "UNAUTHENTICATED"),
    row(ErrorKind::PermissionDenied, [-32000; 4], [403, 403], "PERMISSION_DENIED", "PERMISSION_DENIED"),
    row(ErrorKind::RateLimited, [-32000; 4], [429, 429], "RESOURCE_EXHAUSTED", "RATE_LIMITED"),
    row(ErrorKind::Unavailable, [-32000; 4], [503, 503], "UNAVAILABLE", "UNAVAILABLE"),
];

/// Says no, always in the same way.
struct FailingTransport(ErrorKind);

impl Transport for FailingTransport {
    fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let details = json!({"path": "$.x", "problem": "p"});
        let error = A2aError::new(self.0, "no").with_details(details);
        Box::pin(async move { Err(Error::Agent(error)) })
    }
}

#[test]
fn every_error_kind_has_a_row() {
    let named: Vec<_> = ROWS.iter().map(|row| row.kind).collect();
    assert_eq!(named, ErrorKind::ALL);
}

#[tokio::test]
async fn every_error_has_its_form_in_every_version_and_binding() {
    for row in &ROWS {
        let service = HttpService::new(FailingTransport(row.kind));
        for (index, &protocol_version) in ProtocolVersion::ALL.iter().enumerate() {
            for streams in [false, true] {
                let answer = service.handle(by_json_rpc(protocol_version, streams)).await;
                assert_eq!(
                    answer.status(),
                    by_json_rpc_status(row.kind),
                    "{protocol_version} {:?}",
                    row.kind
                );
                let error = json_of(answer).await;
                let expected = json!({
                    "jsonrpc": "2.0", "id": 7, "error": {
                        "code": row.codes[index], "message": "no", "data": data(protocol_version, row),
                    },
                });
                assert_eq!(error, expected, "{protocol_version} {:?}", row.kind);
            }
        }
        for (index, protocol_version) in [ProtocolVersion::V0_3, ProtocolVersion::V1_0]
            .into_iter()
            .enumerate()
        {
            for request in by_http_json(protocol_version) {
                let answer = service.handle(request).await;
                let status = row.statuses[index];
                assert_eq!(answer.status(), status, "{protocol_version} {:?}", row.kind);
                assert_eq!(answer.headers()["content-type"], "application/json");
                let expected = match protocol_version {
                    ProtocolVersion::V1_0 => json!({"error": {
                        "code": status, "status": row.grpc, "message": "no",
                        "details": data(protocol_version, row),
                    }}),
                    _ => {
                        json!({"code": row.codes[2], "message": "no", "data": data(protocol_version, row)})
                    }
                };
                assert_eq!(
                    json_of(answer).await,
                    expected,
                    "{protocol_version} {:?}",
                    row.kind
                );
            }
        }
    }
}

/// With JSON-RPC the error is in the body; only errors of access have an HTTP status.
fn by_json_rpc_status(kind: ErrorKind) -> u16 {
    match kind {
        ErrorKind::Unauthenticated => 401,
        ErrorKind::PermissionDenied => 403,
        ErrorKind::RateLimited => 429,
        _ => 200,
    }
}

/// Data of an error for programs: as it was given, until 1.0 made a list of typed objects of it.
fn data(protocol_version: ProtocolVersion, row: &ErrorRow) -> Value {
    if protocol_version != ProtocolVersion::V1_0 {
        return json!({"path": "$.x", "problem": "p"});
    }
    let mut details = vec![
        json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": row.reason,
            "domain": "a2a-protocol.org",
        }),
        json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": "$.x", "description": "p"}],
        }),
    ];
    if row.kind == ErrorKind::Unavailable {
        let again = "type.googleapis.com/google.rpc.RetryInfo";
        details.push(json!({"@type": again, "retryDelay": "1s"}));
    }
    Value::Array(details)
}

fn by_json_rpc(protocol_version: ProtocolVersion, streams: bool) -> Request<Full<bytes::Bytes>> {
    use a2a_types::Operation::{SendMessage, SendStreamingMessage};
    let operation = if streams {
        SendStreamingMessage
    } else {
        SendMessage
    };
    let message = match protocol_version {
        ProtocolVersion::V0_1 => json!({"role": "user", "parts": [{"type": "text", "text": "hi"}]}),
        ProtocolVersion::V1_0 => {
            json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]})
        }
        _ => json!({"kind": "message", "messageId": "m", "role": "user",
            "parts": [{"kind": "text", "text": "hi"}]}),
    };
    let call = json!({
        "jsonrpc": "2.0", "id": 7, "method": protocol_version.method(operation),
        "params": {"id": "t", "message": message},
    });
    let request = Request::post("/")
        .header("content-type", "application/json")
        .header("a2a-version", protocol_version.version());
    request.body(Full::from(call.to_string())).unwrap()
}

/// A GET, a POST and a POST that wants a stream.
fn by_http_json(protocol_version: ProtocolVersion) -> Vec<Request<Full<bytes::Bytes>>> {
    let prefix = if protocol_version == ProtocolVersion::V1_0 {
        ""
    } else {
        "/v1"
    };
    let (parts, version) = match protocol_version {
        ProtocolVersion::V1_0 => ("parts", "1.0"),
        _ => ("content", "0.3"),
    };
    let message = json!({"messageId": "m", "role": "ROLE_USER", parts: [{"text": "hi"}]});
    let body = json!({ "message": message }).to_string();
    let get = Request::get(format!("{prefix}/tasks/t")).header("a2a-version", version);
    let post = |verb: &str| {
        Request::post(format!("{prefix}/message:{verb}"))
            .header("content-type", "application/json")
            .body(Full::from(body.clone()))
    };
    [get.body(Full::default()), post("send"), post("stream")]
        .map(Result::unwrap)
        .into()
}

async fn json_of(answer: Response<Body>) -> Value {
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}
