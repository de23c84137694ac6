//! Deliberate faults: a replay that does not notice them proves nothing.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use a2a_server::Server;
use a2a_transport::http::{Body, HttpService};
use a2a_transport::{Answer, BoxFuture, Call, Error, Reply, Transport, Update};
use a2a_types::{Content, Event, Request, Response, SendMessageResponse};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio_stream::StreamExt;

macro_rules! faults {
    ($($side:ident { $($(#[$doc:meta])* $fault:ident = $name:literal;)* })*) => {
        /// A deliberate fault of one end.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Fault { $($($(#[$doc])* $fault,)*)* }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$($(Self::$fault,)*)*];

            /// A short name.
            pub fn name(self) -> &'static str {
                match self { $($(Self::$fault => $name,)*)* }
            }

            /// Returns the end that has the fault.
            pub fn side(self) -> Side {
                match self { $($(Self::$fault => Side::$side,)*)* }
            }
        }
    };
}

/// The end that has a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The server.
    Agent,
    /// The client.
    Client,
}

faults! {
    Agent {
        /// Answers have an id other than that of the request.
        WrongId = "wrong-id";
        /// Results come without an envelope.
        NoEnvelope = "no-envelope";
        /// `final` is missing everywhere.
        NoFinal = "no-final";
        /// Every error is an internal one.
        WrongCode = "wrong-code";
        /// The second artifact event of a stream is missing.
        LostChunk = "lost-chunk";
        /// An event comes twice.
        RepeatedEvent = "repeated-event";
        /// The history begins with the latest message.
        ReversedHistory = "reversed-history";
        /// Objects lack their discriminator.
        NoKind = "no-kind";
        /// A stream never ends.
        OpenStream = "open-stream";
        /// Members are named as in another version.
        MixedDialect = "mixed-dialect";
        /// Answers are status 200 without a body.
        NoBody = "no-body";
        /// Ended tasks are reported as working.
        WrongState = "wrong-state";
        /// Streams do not say that they are streams.
        WrongMediaType = "wrong-media-type";
        /// Webhooks come back elsewhere.
        WrongUrl = "wrong-url";
    }
    Client {
        /// The conversation is forgotten.
        LostContext = "lost-context";
        /// The text is not what was meant.
        WrongText = "wrong-text";
        /// A task other than the one meant is named.
        WrongTask = "wrong-task";
        /// Every second event is skipped.
        SkippedEvent = "skipped-event";
        /// The history of tasks is empty.
        LostHistory = "lost-history";
        /// Errors pass for the end of a stream.
        SwallowedError = "swallowed-error";
    }
}

/// The name is that of no fault.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no fault `{0}`")]
pub struct NoSuchFault(String);

impl std::str::FromStr for Fault {
    type Err = NoSuchFault;

    fn from_str(name: &str) -> Result<Self, NoSuchFault> {
        let found = Self::ALL.iter().copied().find(|fault| fault.name() == name);
        found.ok_or_else(|| NoSuchFault(name.to_owned()))
    }
}

/// A server with a fault between it and the wire.
#[derive(Clone)]
pub(crate) struct FaultyService {
    inner: HttpService<Server>,
    fault: Option<Fault>,
}

impl FaultyService {
    pub(crate) fn new(inner: HttpService<Server>, fault: Option<Fault>) -> Self {
        let fault = fault.filter(|fault| fault.side() == Side::Agent);
        Self { inner, fault }
    }
}

type FaultyBody = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

impl hyper::service::Service<http::Request<Incoming>> for FaultyService {
    type Response = http::Response<FaultyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: http::Request<Incoming>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move {
            let response = service.inner.handle(request).await;
            Ok(match service.fault {
                Some(fault) => inject_fault(response, fault).await,
                None => response.map(BodyExt::boxed_unsync),
            })
        })
    }
}

async fn inject_fault(response: http::Response<Body>, fault: Fault) -> http::Response<FaultyBody> {
    let (mut head, body) = response.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    let streams = head
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value == "text/event-stream");
    if streams {
        if fault == Fault::WrongMediaType {
            head.headers
                .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        }
        let body = FaultyStream {
            inner: body,
            fault,
            artifacts: 0,
        };
        return http::Response::from_parts(head, body.boxed_unsync());
    }
    let bytes = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let spoiled = match serde_json::from_slice::<Value>(&bytes) {
        _ if fault == Fault::NoBody => Bytes::new(),
        Ok(mut message) => {
            inject_into_message(&mut message, fault);
            message.to_string().into()
        }
        Err(_) => bytes,
    };
    http::Response::from_parts(head, http_body_util::Full::from(spoiled).boxed_unsync())
}

struct FaultyStream {
    inner: Body,
    fault: Fault,
    artifacts: usize,
}

impl http_body::Body for FaultyStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => Poll::Ready(Some(Ok(Frame::data(self.inject_fault(&data))))),
                Err(frame) => Poll::Ready(Some(Ok(frame))),
            },
            Poll::Ready(None) if self.fault == Fault::OpenStream => Poll::Pending,
            other => other,
        }
    }
}

impl FaultyStream {
    fn inject_fault(&mut self, data: &[u8]) -> Bytes {
        let text = String::from_utf8_lossy(data);
        let mut spoiled = String::new();
        for block in text.split_inclusive("\n\n") {
            let Some((head, json)) = block.trim_end().split_once("data: ") else {
                spoiled.push_str(block);
                continue;
            };
            let Ok(mut message) = serde_json::from_str::<Value>(json) else {
                continue;
            };
            let is_artifact = message["result"].get("artifact").is_some();
            self.artifacts += usize::from(is_artifact);
            if self.fault == Fault::LostChunk && is_artifact && self.artifacts == 2 {
                continue;
            }
            inject_into_message(&mut message, self.fault);
            let block = format!("{head}data: {message}\n\n");
            spoiled.push_str(&block);
            if self.fault == Fault::RepeatedEvent {
                spoiled.push_str(&block);
            }
        }
        spoiled.into()
    }
}

fn inject_into_message(message: &mut Value, fault: Fault) {
    match fault {
        Fault::WrongId => message["id"] = json!("another"),
        Fault::NoEnvelope => *message = message["result"].take(),
        Fault::WrongCode if message.get("error").is_some() => {
            message["error"]["code"] = json!(-32603)
        }
        Fault::NoFinal => each_object(message, &mut |object| drop(object.remove("final"))),
        Fault::NoKind => each_object(message, &mut |object| {
            object.remove("kind");
            object.remove("type");
        }),
        Fault::ReversedHistory => each_object(message, &mut |object| {
            if let Some(Value::Array(history)) = object.get_mut("history") {
                history.reverse();
            }
        }),
        Fault::MixedDialect => each_object(message, &mut |object| {
            let (session, context) = (object.remove("sessionId"), object.remove("contextId"));
            object.extend(session.map(|id| ("contextId".to_owned(), id)));
            object.extend(context.map(|id| ("sessionId".to_owned(), id)));
        }),
        Fault::WrongState => each_object(message, &mut |object| {
            if object
                .get("state")
                .is_some_and(|state| state == "completed")
            {
                object.insert("state".to_owned(), json!("working"));
            }
        }),
        Fault::WrongUrl => each_object(message, &mut |object| {
            if let Some(url) = object.get_mut("url") {
                *url = json!("https://elsewhere.example");
            }
        }),
        _ => {}
    }
}

fn each_object(value: &mut Value, change: &mut impl FnMut(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            change(object);
            object
                .values_mut()
                .for_each(|member| each_object(member, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_object(item, change)),
        _ => {}
    }
}

/// A client transport with a fault between it and its user.
pub(crate) struct FaultyTransport<T> {
    inner: T,
    fault: Option<Fault>,
}

impl<T> FaultyTransport<T> {
    pub(crate) fn new(inner: T, fault: Option<Fault>) -> Self {
        let fault = fault.filter(|fault| fault.side() == Side::Client);
        Self { inner, fault }
    }
}

impl<T: Transport> Transport for FaultyTransport<T> {
    fn call(&self, mut call: Call) -> BoxFuture<'_, Result<Reply, Error>> {
        Box::pin(async move {
            let Some(fault) = self.fault else {
                return self.inner.call(call).await;
            };
            inject_into_request(&mut call.request, fault);
            let mut reply = self.inner.call(call).await?;
            reply.answer = match reply.answer {
                Answer::Once(response) => Answer::Once(inject_into_response(response, fault)),
                Answer::Stream(updates) => {
                    let count = Arc::new(AtomicUsize::new(0));
                    let is_kept = move |update: &Result<Update, Error>| match fault {
                        Fault::SkippedEvent => {
                            count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2)
                        }
                        Fault::SwallowedError => update.is_ok(),
                        _ => true,
                    };
                    let updates = updates.filter(is_kept).map(move |update| {
                        update.map(|update| {
                            let event = inject_into_event(update.event.into_event(), fault);
                            Update::new(event, update.sequence)
                        })
                    });
                    Answer::Stream(Box::pin(updates))
                }
            };
            Ok(reply)
        })
    }
}

fn inject_into_request(request: &mut Request, fault: Fault) {
    match (fault, request) {
        (
            Fault::LostContext,
            Request::SendMessage(params) | Request::SendStreamingMessage(params),
        ) => {
            params.message.context_id = None;
        }
        (
            Fault::WrongText,
            Request::SendMessage(params) | Request::SendStreamingMessage(params),
        ) => {
            for part in &mut params.message.parts {
                if let Content::Text(text) = &mut part.content {
                    text.make_ascii_uppercase();
                }
            }
        }
        (Fault::WrongTask, Request::GetTask(params)) => params.id = "another".into(),
        (Fault::WrongTask, Request::CancelTask(params)) => params.id = "another".into(),
        (Fault::WrongTask, Request::SubscribeToTask(params)) => params.id = "another".into(),
        _ => {}
    }
}

fn inject_into_response(mut response: Response, fault: Fault) -> Response {
    if fault == Fault::LostHistory
        && let Response::SendMessage(SendMessageResponse::Task(task)) | Response::GetTask(task) =
            &mut response
    {
        task.history.clear();
    }
    response
}

fn inject_into_event(mut event: Event, fault: Fault) -> Event {
    if fault == Fault::LostHistory
        && let Event::Task(task) = &mut event
    {
        task.history.clear();
    }
    event
}
