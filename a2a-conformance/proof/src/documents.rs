//! Ends with deliberate faults, to which the documented examples are replayed: a replay that does not notice them proves nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_conformance::documents::Ends;
use a2a_server::Server;
use a2a_transport::http::{HttpService, HttpTransport, ServeOptions, serve};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, ResponseBody, Transport, Update};
use a2a_types::{Content, Event, Request, Response, SendMessageResponse};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::response::Parts;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_stream::StreamExt;

use crate::agent::intercepted_service::InterceptedService;
use crate::agent::interceptor::{InterceptedRequest, Interceptor};

macro_rules! faults {
    ($($(#[$doc:meta])* $fault:ident;)*) => {
        /// A deliberate fault of the server or the client.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Fault { $($(#[$doc])* $fault,)* }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$fault,)*];
        }
    };
}

faults! {
    /// Answers have an id other than that of the request.
    WrongId;
    /// Results come without an envelope.
    NoEnvelope;
    /// `final` is missing everywhere.
    NoFinal;
    /// Every error is an internal one.
    WrongCode;
    /// The second artifact event of a stream is missing.
    LostChunk;
    /// An event comes twice.
    RepeatedEvent;
    /// The history begins with the latest message.
    ReversedHistory;
    /// Objects lack their discriminator.
    NoKind;
    /// A stream never ends.
    OpenStream;
    /// Members are named as in another version.
    MixedProtocolVersion;
    /// Answers are status 200 without a body.
    NoBody;
    /// Ended tasks are reported as working.
    WrongState;
    /// Streams do not say that they are streams.
    WrongMediaType;
    /// Webhooks come back elsewhere.
    WrongUrl;
    /// The conversation is forgotten.
    LostContext;
    /// The text is not the documented one.
    WrongText;
    /// A task other than the one meant is named.
    WrongTask;
    /// Every second event is skipped.
    SkippedEvent;
    /// The history of tasks is empty.
    LostHistory;
    /// Errors pass for the end of a stream.
    SwallowedError;
}

impl Ends for Fault {
    fn serve(&self, listener: TcpListener, agent: HttpService<Server>) -> BoxFuture<'static, ()> {
        let wire = FaultyServer {
            fault: *self,
            artifacts: AtomicUsize::new(0),
        };
        let agent = InterceptedService::new(agent, Arc::new(wire));
        let never = std::future::pending();
        Box::pin(serve(listener, agent, ServeOptions::default(), never))
    }

    fn transport(&self, transport: HttpTransport) -> Arc<dyn Transport> {
        Arc::new(FaultyTransport {
            inner: transport,
            fault: *self,
        })
    }
}

/// The fault of a server, between it and the wire.
struct FaultyServer {
    fault: Fault,
    /// Number of artifact events of the stream.
    artifacts: AtomicUsize,
}

impl Interceptor for FaultyServer {
    fn answer(&self, _: &InterceptedRequest, answer: &mut http::Response<Bytes>) {
        let spoiled = match serde_json::from_slice::<Value>(answer.body()) {
            _ if self.fault == Fault::NoBody => Bytes::new(),
            Ok(mut message) => {
                inject_into_message(&mut message, self.fault);
                message.to_string().into()
            }
            Err(_) => return,
        };
        *answer.body_mut() = spoiled;
    }

    fn head(&self, _: &InterceptedRequest, head: &mut Parts) {
        self.artifacts.store(0, Ordering::SeqCst);
        if self.fault == Fault::WrongMediaType {
            let plain = HeaderValue::from_static("text/plain");
            head.headers.insert(CONTENT_TYPE, plain);
        }
    }

    fn block(&self, fields: &str, event: &Value) -> String {
        let is_artifact = event["result"].get("artifact").is_some();
        let before = self
            .artifacts
            .fetch_add(usize::from(is_artifact), Ordering::SeqCst);
        let mut event = event.clone();
        inject_into_message(&mut event, self.fault);
        let block = format!("{fields}data: {event}\n\n");
        match self.fault {
            Fault::LostChunk if is_artifact && before == 1 => String::new(),
            Fault::RepeatedEvent => block.repeat(2),
            _ => block,
        }
    }

    fn stays_open(&self) -> bool {
        self.fault == Fault::OpenStream
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
        Fault::MixedProtocolVersion => each_object(message, &mut |object| {
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
struct FaultyTransport {
    inner: HttpTransport,
    fault: Fault,
}

impl Transport for FaultyTransport {
    fn call(&self, mut call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(async move {
            let fault = self.fault;
            inject_into_request(&mut call.request, fault);
            let mut reply = self.inner.call(call).await?;
            reply.answer = match reply.answer {
                ResponseBody::Once(response) => {
                    ResponseBody::Once(inject_into_response(response, fault))
                }
                ResponseBody::Stream(updates) => {
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
                    ResponseBody::Stream(Box::pin(updates))
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
