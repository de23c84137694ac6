//! One call in every protocol version and binding.

use a2a_jsonrpc::Id;
use a2a_transport::binding::grpc::{Code, Status};
use a2a_transport::binding::{EventWriter, IncomingCall, OutgoingCall, write_call, write_reply};
use a2a_transport::http::grpc::write_status;
use a2a_transport::{Binding, Error, ResponseContext, sse};
use a2a_types::ProtocolVersion;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;

use super::answer::Answer;
use super::exchange::{Exchange, shown_headers};

/// The call of an exchange, and its answer, in every form.
#[derive(Debug, Serialize)]
pub(crate) struct Versions {
    request: Vec<Form>,
    response: Vec<Form>,
}

/// A message in one protocol version and binding.
#[derive(Debug, Serialize)]
struct Form {
    version: &'static str,
    binding: &'static str,
    #[serde(flatten)]
    message: Message,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Message {
    Request {
        method: String,
        /// Path and query below the URL of the interface.
        path: String,
        headers: Vec<(String, String)>,
        /// By gRPC, the JSON of the message.
        body: String,
    },
    Response {
        status: u16,
        /// By gRPC, the trailers are among them.
        headers: Vec<(String, String)>,
        /// By gRPC, the JSON of each message in a line, and that of the status if it is an error.
        body: String,
    },
    /// Reason why this form does not exist.
    Missing { error: String },
}

/// The forms, the oldest version first. HTTP+JSON and gRPC came with 0.3.
const FORMS: [(ProtocolVersion, Binding); 8] = [
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V0_3, Binding::Grpc),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::Grpc),
];

impl Versions {
    /// Writes an exchange in every form. Errors: it is not a call of an agent.
    pub(crate) fn of(exchange: &Exchange) -> Result<Self, String> {
        let call = exchange.request.readable().read_call()?;
        let extensions = ProtocolVersion::ALL.iter().find_map(|protocol_version| {
            exchange
                .request
                .headers
                .get(protocol_version.extensions_header())
        });
        let extensions = extensions.map(|uris| String::from_utf8_lossy(uris.as_bytes()));
        let response = exchange.response.as_ref();
        let answer = response.map(|response| Answer::read(&call.envelope, response));
        let mut versions = Self {
            request: Vec::new(),
            response: Vec::new(),
        };
        for (protocol_version, binding) in FORMS {
            let form = |message| Form {
                version: protocol_version.version(),
                binding: binding.as_str(),
                message,
            };
            let written = write(&call, protocol_version, binding);
            let response = match (&written, &answer) {
                (Err(error), Some(_)) => Some(missing(error)),
                (Ok(_), Some(Err(problem))) => Some(Message::Missing {
                    error: format!("the answer cannot be read: {problem}"),
                }),
                (Ok(written), Some(Ok(read))) => Some(read.value.write(&written.envelope)),
                (_, None) => None,
            };
            versions.response.extend(response.map(form));
            let request = match written {
                Err(error) => missing(&error),
                Ok(written) => request(written, extensions.as_deref()),
            };
            versions.request.push(form(request));
        }
        Ok(versions)
    }
}

fn missing(error: &Error) -> Message {
    Message::Missing {
        error: error.to_string(),
    }
}

fn write(
    call: &IncomingCall,
    protocol_version: ProtocolVersion,
    binding: Binding,
) -> Result<OutgoingCall, Error> {
    let id = call.envelope.id.clone().unwrap_or(Id::number(1));
    write_call(call.request.clone(), protocol_version, binding, &id)
}

/// Returns a request with the headers that our client sends.
fn request(written: OutgoingCall, extensions: Option<&str>) -> Message {
    let envelope = &written.envelope;
    let media_type = media_type(envelope);
    let is_grpc = envelope.binding == Binding::Grpc;
    let mut headers = Vec::new();
    let mut header = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    if written.body.is_some() {
        header("content-type", media_type);
    }
    match (is_grpc, envelope.operation.is_stream()) {
        (true, _) => header("te", "trailers"),
        (false, true) => header("accept", EVENT_STREAM),
        (false, false) => header("accept", media_type),
    }
    if is_grpc || envelope.protocol_version == ProtocolVersion::V1_0 {
        header("a2a-version", envelope.protocol_version.version());
    }
    if let Some(uris) = extensions {
        header(envelope.protocol_version.extensions_header(), uris);
    }
    Message::Request {
        method: written.method.to_string(),
        path: match written.target.is_empty() {
            true => "/".to_owned(),
            false => written.target,
        },
        headers,
        body: text(written.body.unwrap_or_default()),
    }
}

/// Returns the media type of JSON: 1.0 has its own on HTTP+JSON (1.0 §11.1).
fn media_type(envelope: &ResponseContext) -> &'static str {
    match (envelope.protocol_version, envelope.binding) {
        (ProtocolVersion::V1_0, Binding::HttpJson) => "application/a2a+json",
        (_, Binding::Grpc) => "application/grpc+proto",
        _ => "application/json",
    }
}

const EVENT_STREAM: &str = "text/event-stream";

/// Returns JSON that was written here as text.
fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_default()
}

impl Answer {
    fn write(&self, envelope: &ResponseContext) -> Message {
        if envelope.binding == Binding::Grpc {
            return self.write_grpc(envelope);
        }
        let (status, media_type, body) = match self {
            Self::Once(outcome) => {
                let reply = write_reply(envelope, outcome.clone());
                (
                    reply.status.as_u16(),
                    media_type(envelope),
                    text(reply.body),
                )
            }
            Self::Stream(events) => {
                let mut writer = EventWriter::new(envelope);
                let mut blocks = Vec::new();
                for (sequence, event) in events {
                    // Events of 0.1 have no ids.
                    let id =
                        sequence.filter(|_| envelope.protocol_version != ProtocolVersion::V0_1);
                    match event {
                        Ok(event) => {
                            let lines = writer.write(event);
                            let last = lines.len().saturating_sub(1);
                            for (index, line) in lines.iter().enumerate() {
                                let id = id.filter(|_| index == last);
                                blocks.extend_from_slice(&sse::encode(id, None, &line.json()));
                            }
                        }
                        Err(error) => {
                            let line = writer.write_error(error.clone()).json();
                            blocks.extend_from_slice(&sse::encode(id, None, &line));
                        }
                    }
                }
                (200, EVENT_STREAM, text(blocks))
            }
        };
        let headers = [(CONTENT_TYPE, HeaderValue::from_static(media_type))];
        Message::Response {
            status,
            headers: shown_headers(&headers.into_iter().collect()),
            body,
        }
    }

    fn write_grpc(&self, envelope: &ResponseContext) -> Message {
        let mut lines = Vec::new();
        let is_error = match self {
            Self::Once(outcome) => {
                lines.push(write_reply(envelope, outcome.clone()).body);
                outcome.is_err()
            }
            Self::Stream(events) => {
                let mut writer = EventWriter::new(envelope);
                for (_, event) in events {
                    match event {
                        Ok(event) => lines.extend(writer.write(event).iter().map(|it| it.json())),
                        Err(error) => lines.push(writer.write_error(error.clone()).json()),
                    }
                }
                events.last().is_some_and(|(_, event)| event.is_err())
            }
        };
        let status = match lines.last().filter(|_| is_error) {
            Some(status) => Status::read(status),
            None => Status::new(Code::OK, ""),
        };
        let mut headers = HeaderMap::new();
        let media_type = HeaderValue::from_static(media_type(envelope));
        headers.insert(CONTENT_TYPE, media_type);
        write_status(&status, &mut headers);
        Message::Response {
            status: 200,
            headers: shown_headers(&headers),
            body: text(lines.join(&b'\n')),
        }
    }
}
