//! The reflection service of gRPC: descriptors of the services, for tools like grpcurl.

use std::pin::Pin;
use std::time::Duration;

use a2a_protobuf::{
    FileDescriptor, SERVER_REFLECTION_REQUEST, SERVER_REFLECTION_RESPONSE, file_descriptors,
    services,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http::request::Parts;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::grpc::{form, unknown_method};
use crate::binding::grpc::{Code, Status};
use crate::http::message::answer::AnswerFormat;
use crate::http::message::body::Body;
use crate::http::message::grpc::{Frames, GrpcFormat};

/// Path of its method.
const METHOD: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/// Returns whether a request is for the service.
pub(super) fn is_asked(path: &str) -> bool {
    path.starts_with("/grpc.reflection.v1.ServerReflection/")
}

/// Answers a request: each message when it comes, since callers ask again on the same stream.
pub(super) fn answer<B>(head: &Parts, body: B) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let web = match form(head) {
        // The requests of a stream are not read in Base64.
        Ok(web @ None) => web,
        Ok(web) => return unknown_method(head.uri.path(), web),
        Err(refusal) => return refusal,
    };
    if head.uri.path() != METHOD {
        return unknown_method(head.uri.path(), web);
    }
    let format = GrpcFormat {
        response: &SERVER_REFLECTION_RESPONSE,
        gzip: false,
        web,
        limit: usize::MAX,
    };
    let questions = Questions {
        body: Box::pin(body),
        frames: Frames::new(false, LIMIT),
        format,
        is_ended: false,
    };
    let answers = stream::unfold(questions, |mut questions| async move {
        let answer = questions.answer_next().await?;
        Some((answer, questions))
    });
    AnswerFormat::Grpc(format).stream(Body::messages(answers))
}

/// The questions of a caller.
struct Questions<B> {
    body: Pin<Box<B>>,
    frames: Frames,
    format: GrpcFormat,
    is_ended: bool,
}

impl<B> Questions<B>
where
    B: http_body::Body<Data = Bytes>,
{
    /// Returns the answer to the next question; `None` when the caller has no more.
    async fn answer_next(&mut self) -> Option<Result<Bytes, Status>> {
        if self.is_ended {
            return None;
        }
        let malformed = |problem: String| Status::new(Code::INVALID_ARGUMENT, problem);
        let answer = loop {
            match self.frames.next() {
                Ok(Some(message)) => break self.answer(&message),
                Ok(None) => {}
                Err(error) => break Err(malformed(error.to_string())),
            }
            match tokio::time::timeout(IDLE, self.body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Some(data) = frame.data_ref() {
                        self.frames.push(data);
                    }
                }
                Ok(None) if self.frames.buffered() > 0 => {
                    break Err(malformed("the stream ends within a message".to_owned()));
                }
                _ => return None,
            }
        };
        self.is_ended = answer.is_err();
        Some(answer)
    }

    fn answer(&self, message: &[u8]) -> Result<Bytes, Status> {
        let question = SERVER_REFLECTION_REQUEST.to_json(message);
        let question =
            question.map_err(|it| Status::new(Code::INVALID_ARGUMENT, it.to_string()))?;
        let question: Value = serde_json::from_slice(&question).unwrap_or_default();
        let mut response = answer_to(&question);
        response["validHost"] = question["host"].as_str().unwrap_or_default().into();
        response["originalRequest"] = question;
        let mut body = Vec::new();
        self.format
            .message(response.to_string().as_bytes(), &mut body)?;
        Ok(body.into())
    }
}

/// Returns the answer to one question, without the question.
fn answer_to(question: &Value) -> Value {
    let text = |name: &str| question[name].as_str();
    let not_found = |what: String| json!({"errorResponse": {"errorCode": Code::NOT_FOUND, "errorMessage": format!("there is no {what}")}});
    let file = |file: Option<&'static FileDescriptor>, what: String| match file {
        Some(file) => {
            let files = with_dependencies(file)
                .into_iter()
                .map(|file| STANDARD.encode(file.bytes()));
            json!({"fileDescriptorResponse": {"fileDescriptorProto": files.collect::<Vec<_>>()}})
        }
        None => not_found(what),
    };
    if text("listServices").is_some() {
        let services: Vec<_> = services()
            .iter()
            .map(|name| json!({"name": name}))
            .collect();
        return json!({"listServicesResponse": {"service": services}});
    }
    if let Some(name) = text("fileByFilename") {
        return file(file_named(name), format!("file {name}"));
    }
    if let Some(symbol) = text("fileContainingSymbol") {
        return file(file_defining(symbol), format!("symbol {symbol}"));
    }
    if let Some(name) = text("allExtensionNumbersOfType") {
        if file_defining(name).is_some() {
            return json!({"allExtensionNumbersResponse": {"baseTypeName": name}});
        }
        return not_found(format!("type {name}"));
    }
    not_found("extension of a message".to_owned())
}

fn file_named(name: &str) -> Option<&'static FileDescriptor> {
    file_descriptors().iter().find(|file| file.name() == name)
}

fn file_defining(symbol: &str) -> Option<&'static FileDescriptor> {
    file_descriptors().iter().find(|file| file.defines(symbol))
}

/// Returns a file and all that it imports, each once.
fn with_dependencies(file: &'static FileDescriptor) -> Vec<&'static FileDescriptor> {
    let mut files = vec![file];
    let mut next = 0;
    while let Some(file) = files.get(next) {
        let new = file
            .dependencies()
            .iter()
            .filter_map(|name| file_named(name));
        let new: Vec<_> = new
            .filter(|new| files.iter().all(|known| known.name() != new.name()))
            .collect();
        files.extend(new);
        next += 1;
    }
    files
}

/// Maximum bytes of a question.
const LIMIT: usize = 4096;
/// Time that a caller has for its next question.
const IDLE: Duration = Duration::from_secs(60);
