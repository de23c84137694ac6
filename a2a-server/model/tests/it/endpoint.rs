//! A service of models that follows scripts.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use a2a_model::Api;
use bytes::Bytes;
use futures_util::stream;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// A part of a response's body.
pub(crate) enum Step {
    /// Bytes.
    Raw(String),
    /// Bytes without end.
    Repeat(String),
    /// Waits for a signal.
    Wait(oneshot::Receiver<()>),
    /// Breaks the connection.
    Cut,
    /// Sends nothing more, and keeps the connection.
    Hang,
}

/// A response.
pub(crate) struct Script {
    status: u16,
    headers: Vec<(&'static str, String)>,
    steps: VecDeque<Step>,
}

impl Script {
    /// A stream of events.
    pub(crate) fn stream(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            status: 200,
            headers: vec![(
                "content-type",
                "text/event-stream; charset=utf-8".to_owned(),
            )],
            steps: steps.into_iter().collect(),
        }
    }

    /// An error, whose text repeats the API key where it is cut.
    pub(crate) fn error(status: u16) -> Self {
        let error = json!({"error": {"message": format!("no, {}{}", "x".repeat(290), crate::KEY), "type": "x"}});
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            steps: VecDeque::from([Step::Raw(error.to_string().replace('/', "\\/"))]),
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// An event with this JSON.
pub(crate) fn event(data: Value) -> Step {
    Step::Raw(format!("data: {data}\n\n"))
}

/// An event of a response in chat completions, with this delta.
pub(crate) fn chunk(delta: Value) -> Step {
    event(json!({"id": "r1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

/// A delta of text.
pub(crate) fn text(api: Api, text: &str) -> Step {
    match api {
        Api::Responses => {
            event(json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}))
        }
        _ => chunk(json!({"content": text})),
    }
}

/// A delta of reasoning.
pub(crate) fn reasoning(api: Api, text: &str) -> Step {
    match api {
        Api::Responses => event(
            json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": text}),
        ),
        _ => chunk(json!({"reasoning_content": text})),
    }
}

/// The end of a response that used 12 and 3 tokens.
pub(crate) fn end(api: Api) -> Step {
    match api {
        Api::Responses => event(json!({"type": "response.completed", "response": {
            "id": "r1", "output": [], "usage": {"input_tokens": 12, "output_tokens": 3},
        }})),
        _ => {
            let finish = json!({"id": "r1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            let usage = json!({"id": "r1", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3}});
            Step::Raw(format!(
                "data: {finish}\n\ndata: {usage}\n\ndata: [DONE]\n\n"
            ))
        }
    }
}

/// A tool call, its arguments in pieces.
pub(crate) fn call(api: Api, index: u64, id: &str, name: &str, arguments: &[&str]) -> Vec<Step> {
    let function = |arguments: &str| {
        json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
            "name": name, "arguments": arguments,
        })
    };
    let mut steps = vec![match api {
        Api::Responses => event(
            json!({"type": "response.output_item.added", "output_index": index, "item": function("")}),
        ),
        _ => chunk(json!({"tool_calls": [{
            "index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""},
        }]})),
    }];
    steps.extend(arguments.iter().map(|piece| match api {
        Api::Responses => event(
            json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece}),
        ),
        _ => chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})),
    }));
    if api == Api::Responses {
        let item = function(&arguments.concat());
        steps.push(event(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        ));
    }
    steps
}

/// A good response of these pieces of text.
pub(crate) fn answer(api: Api, pieces: &[&str]) -> Script {
    let pieces = pieces.iter().map(|piece| text(api, piece));
    Script::stream(pieces.chain([end(api)]))
}

/// A request as it came.
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) authorization: String,
    pub(crate) body: Value,
}

impl Received {
    /// Returns the messages in one line each, as `role: text`.
    pub(crate) fn messages(&self) -> Vec<String> {
        let messages = self.body.get("messages").or(self.body.get("input"));
        let messages = messages.and_then(Value::as_array).unwrap();
        let role = |message: &Value| message.get("role").or(message.get("type")).cloned();
        let content = |message: &Value| message.get("content").or(message.get("output")).cloned();
        let line = |message| {
            format!(
                "{} {}",
                role(message).unwrap(),
                content(message).unwrap_or_default()
            )
        };
        messages
            .iter()
            .map(|it| line(it).replace('"', ""))
            .collect()
    }
}

type Respond = dyn Fn(&Value) -> Script + Send + Sync;

/// A running service.
pub(crate) struct Endpoint {
    base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
    /// Gets a message for each body that was dropped before its end.
    pub(crate) dropped: UnboundedReceiver<()>,
}

impl Endpoint {
    /// Starts a service that follows one script for each request.
    pub(crate) async fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        let scripts: Mutex<VecDeque<_>> = Mutex::new(scripts.into_iter().collect());
        Self::with(move |_| {
            let next = scripts.lock().unwrap().pop_front();
            next.unwrap_or_else(|| Script::error(418))
        })
        .await
    }

    /// Starts a service that chooses the script by the request.
    pub(crate) async fn with(respond: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (sender, dropped) = unbounded_channel();
        let respond: Arc<Respond> = Arc::new(respond);
        let log = Arc::clone(&received);
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let (respond, log, sender) = (respond.clone(), log.clone(), sender.clone());
                let service = service_fn(move |request| {
                    respond_to(request, respond.clone(), log.clone(), sender.clone())
                });
                let serving = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(connection), service);
                tokio::spawn(serving);
            }
        });
        Self {
            base_url,
            received,
            connections,
            dropped,
        }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Takes the requests since the last time.
    pub(crate) fn received(&self) -> Vec<Received> {
        std::mem::take(&mut self.received.lock().unwrap())
    }
}

async fn respond_to(
    request: Request<Incoming>,
    respond: Arc<Respond>,
    log: Arc<Mutex<Vec<Received>>>,
    dropped: UnboundedSender<()>,
) -> Result<Response<impl Body<Data = Bytes, Error = std::io::Error>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let script = respond(&body);
    let authorization = head.headers.get(AUTHORIZATION);
    log.lock().unwrap().push(Received {
        path: head.uri.path().to_owned(),
        authorization: authorization
            .map_or("", |it| it.to_str().unwrap())
            .to_owned(),
        body,
    });
    let mut response = Response::builder().status(script.status);
    for (name, value) in &script.headers {
        response = response.header(*name, value);
    }
    let on_drop = OnDrop(Some(dropped));
    let steps = stream::unfold((script.steps, on_drop), async |(mut steps, mut on_drop)| {
        let bytes = match steps.pop_front() {
            None => {
                on_drop.0 = None;
                return None;
            }
            Some(Step::Raw(text)) => text,
            Some(Step::Repeat(text)) => {
                steps.push_front(Step::Repeat(text.clone()));
                text
            }
            Some(Step::Wait(signal)) => {
                let _ = signal.await;
                String::new()
            }
            Some(Step::Cut) => {
                // What precedes is flushed meanwhile.
                tokio::task::yield_now().await;
                on_drop.0 = None;
                let error = std::io::Error::other("the script cuts it");
                return Some((Err(error), (steps, on_drop)));
            }
            Some(Step::Hang) => std::future::pending().await,
        };
        Some((Ok(Frame::data(Bytes::from(bytes))), (steps, on_drop)))
    });
    Ok(response.body(StreamBody::new(Box::pin(steps))).unwrap())
}

struct OnDrop(Option<UnboundedSender<()>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(());
        }
    }
}
