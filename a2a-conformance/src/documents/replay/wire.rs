//! The other end of the wire: a plain caller and a scripted server.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::sse::Decoder;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Time for which a peer may be silent before the replay gives it up.
pub(super) const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);

/// A plain caller.
pub(super) struct Caller {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
}

/// The head of an answer, and its body as it comes.
pub(super) struct StreamedResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    decoder: Decoder,
    ready: Vec<Vec<u8>>,
}

impl Caller {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url: format!("http://{address}"),
        }
    }

    pub(super) async fn post(
        &self,
        path: &str,
        body: String,
        headers: &BTreeMap<String, String>,
    ) -> Result<StreamedResponse, String> {
        self.send(Method::POST, path, body, headers).await
    }

    pub(super) async fn get(
        &self,
        path: &str,
        headers: &BTreeMap<String, String>,
    ) -> Result<StreamedResponse, String> {
        self.send(Method::GET, path, String::new(), headers).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
        headers: &BTreeMap<String, String>,
    ) -> Result<StreamedResponse, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(|error| error.to_string())?;
        for (name, value) in headers {
            let name: HeaderName = name
                .parse()
                .map_err(|_| format!("no header name: {name}"))?;
            let value =
                HeaderValue::from_str(value).map_err(|_| format!("no header value: {value}"))?;
            request.headers_mut().insert(name, value);
        }
        let response =
            tokio::time::timeout(2 * SILENCE_TIMEOUT, self.client.request(request)).await;
        let response = response
            .map_err(|_| "no answer")?
            .map_err(|error| format!("no answer: {error}"))?;
        let (head, body) = response.into_parts();
        Ok(StreamedResponse {
            status: head.status,
            headers: head.headers,
            body,
            decoder: Decoder::default(),
            ready: Vec::new(),
        })
    }
}

impl StreamedResponse {
    pub(super) fn media_type(&self) -> &str {
        let value = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        value
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
    }

    /// The whole body as JSON.
    pub(super) async fn json(self) -> Result<Value, String> {
        let body = tokio::time::timeout(SILENCE_TIMEOUT, self.body.collect()).await;
        let body = body
            .map_err(|_| "$: the body does not end")?
            .map_err(|error| error.to_string())?
            .to_bytes();
        match body.is_empty() {
            true => Err("$: expected an answer, found no body".to_owned()),
            false => serde_json::from_slice(&body)
                .map_err(|error| format!("$: the answer is no JSON: {error}")),
        }
    }

    /// The next event; none at the end of the stream.
    pub(super) async fn event(&mut self) -> Result<Option<Value>, String> {
        while self.ready.is_empty() {
            let frame = tokio::time::timeout(SILENCE_TIMEOUT, self.body.frame()).await;
            let events = match frame
                .map_err(|_| "$: expected an event or the end of the stream, found silence")?
            {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self
                        .decoder
                        .push(&data)
                        .map_err(|error| error.to_string())?,
                    Err(_) => continue,
                },
                Some(Err(error)) => return Err(error.to_string()),
                None => match self.decoder.finish().map_err(|error| error.to_string())? {
                    Some(last) => vec![last],
                    None => return Ok(None),
                },
            };
            self.ready = events.into_iter().map(|event| event.data).collect();
        }
        let data = self.ready.remove(0);
        serde_json::from_slice(&data)
            .map(Some)
            .map_err(|error| format!("$: an event is no JSON: {error}"))
    }
}

/// A request that a scripted server got.
#[derive(Clone, Debug)]
pub(super) struct CapturedRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Response of a scripted server.
#[derive(Clone, Debug)]
pub(super) struct ScriptedResponse {
    pub(super) status: u16,
    pub(super) media_type: &'static str,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: String,
}

impl ScriptedResponse {
    pub(super) fn new(status: u16, media_type: &'static str, body: impl Into<String>) -> Self {
        Self {
            status,
            media_type,
            headers: Vec::new(),
            body: body.into(),
        }
    }
}

/// A server that answers from a script.
pub(super) struct ScriptedServer {
    pub(super) address: SocketAddr,
    captured: Arc<Mutex<Vec<CapturedRequest>>>,
    task: JoinHandle<()>,
}

impl ScriptedServer {
    /// Serves the response of `respond` to every request that comes.
    pub(super) async fn start(
        respond: impl Fn(&CapturedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let captured = Arc::new(Mutex::new(Vec::new()));
        let (respond, log) = (Arc::new(respond), Arc::clone(&captured));
        let service = service_fn(move |request: Request<Incoming>| {
            let (respond, log) = (Arc::clone(&respond), Arc::clone(&log));
            async move {
                let (head, body) = request.into_parts();
                let captured = CapturedRequest {
                    method: head.method,
                    path: head.uri.path().to_owned(),
                    headers: head.headers,
                    body: body
                        .collect()
                        .await
                        .map(|body| body.to_bytes())
                        .unwrap_or_default(),
                };
                let scripted = respond(&captured);
                log.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(captured);
                let mut response = Response::new(Full::from(scripted.body));
                *response.status_mut() = StatusCode::from_u16(scripted.status).unwrap_or_default();
                response
                    .headers_mut()
                    .insert(CONTENT_TYPE, HeaderValue::from_static(scripted.media_type));
                response.headers_mut().extend(
                    scripted
                        .headers
                        .into_iter()
                        .map(|(name, value)| (Some(name), value)),
                );
                Ok::<_, Infallible>(response)
            }
        });
        let task = tokio::spawn(serve(
            listener,
            service,
            ServeOptions::default(),
            std::future::pending(),
        ));
        Ok(Self {
            address,
            captured,
            task,
        })
    }

    /// Returns the requests received so far.
    pub(super) fn captured(&self) -> Vec<CapturedRequest> {
        self.captured
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
