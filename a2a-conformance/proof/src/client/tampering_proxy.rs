//! Client bugs on the wire: a proxy in front of the client that changes requests and answers.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_transport::http::grpc::MessageDecoder;
use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION, TRANSFER_ENCODING,
};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use super::body::{Body, BodyRewriter, BoxError, change_status};
use super::control_request::{self, RequestBody};
use super::{Bug, ClientSubject, Control};

/// A proxy that changes requests and answers. It ends when this is dropped.
pub(crate) struct TamperingProxy {
    url: String,
    open: watch::Sender<usize>,
    /// Set once a stream has more events after the end of its task.
    sent_more: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Drop for TamperingProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl TamperingProxy {
    pub(crate) async fn start(subject: ClientSubject) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address: SocketAddr = listener.local_addr()?;
        let open = watch::Sender::new(0);
        let sent_more = Arc::new(AtomicBool::new(false));
        let (counted, more) = (open.clone(), Arc::clone(&sent_more));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (open, more) = (counted.clone(), Arc::clone(&more));
                // An error means that one of the ends has hung up.
                tokio::spawn(async move { drop(tunnel(stream, subject, open, more).await) });
            }
        });
        Ok(Self {
            url: format!("http://{address}"),
            open,
            sent_more,
            task,
        })
    }

    /// Returns whether a stream had more events after the end of its task, since the last call.
    pub(crate) fn saw_late_events(&self) -> bool {
        self.sent_more.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ready once every answer has come to its end.
    pub(crate) async fn all_ended(&self) {
        // The sender is ours.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

async fn tunnel(
    mut client: TcpStream,
    subject: ClientSubject,
    open: watch::Sender<usize>,
    sent_more: Arc<AtomicBool>,
) -> Result<(), BoxError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 4096 {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let host = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut agent = match TcpStream::connect(&host).await {
        Ok(agent) => agent,
        Err(_) => return Ok(client.write_all(b"HTTP/1.1 502 -\r\n\r\n").await?),
    };
    client.set_nodelay(true)?;
    client.write_all(b"HTTP/1.1 200 -\r\n\r\n").await?;
    // Clients write the beginning in one piece.
    let mut first = [0; 2];
    client.peek(&mut first).await?;
    if first[0] == TLS_HANDSHAKE {
        tokio::io::copy_bidirectional(&mut client, &mut agent).await?;
        return Ok(());
    }
    let is_http2 = first == *b"PR";
    let agent = Arc::new(TunnelPeer {
        connection: match is_http2 {
            true => AgentConnection::Http2(connected_by_http2(agent).await?),
            false => AgentConnection::Http1(Mutex::new(connected(agent, subject).await?)),
        },
        host,
        subject,
        sent_more,
    });
    let service = service_fn(move |request| pass(request, Arc::clone(&agent), open.clone()));
    let client = TokioIo::new(client);
    match is_http2 {
        true => {
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            server.serve_connection(client, service).await?;
        }
        false => {
            let server = hyper::server::conn::http1::Builder::new();
            server.serve_connection(client, service).await?;
        }
    }
    Ok(())
}

const TLS_HANDSHAKE: u8 = 0x16;

/// Maximum bytes of a message by gRPC.
const MAX_MESSAGE: usize = 64 << 20;

/// The other end of a tunnel.
struct TunnelPeer {
    host: String,
    connection: AgentConnection,
    subject: ClientSubject,
    sent_more: Arc<AtomicBool>,
}

/// Connection to the agent, by the version of HTTP that the client has chosen.
enum AgentConnection {
    Http1(Mutex<http1::SendRequest<RequestBody>>),
    Http2(http2::SendRequest<RequestBody>),
}

impl TunnelPeer {
    async fn ask(
        &self,
        with_control: Request<RequestBody>,
    ) -> Result<Response<Incoming>, BoxError> {
        let connection = match &self.connection {
            AgentConnection::Http1(connection) => connection,
            AgentConnection::Http2(connection) => {
                return Ok(connection.clone().send_request(with_control).await?);
            }
        };
        let mut connection = connection.lock().await;
        if self.subject == ClientSubject::Control(Control::Connections) {
            let fresh = TcpStream::connect(&self.host).await?;
            *connection = connected(fresh, self.subject).await?;
        }
        Ok(connection.send_request(with_control).await?)
    }
}

async fn connected(
    stream: TcpStream,
    subject: ClientSubject,
) -> Result<http1::SendRequest<RequestBody>, BoxError> {
    let (agent, connection) = http1::Builder::new()
        .title_case_headers(subject == ClientSubject::Control(Control::TitleCase))
        .handshake(TokioIo::new(stream))
        .await?;
    tokio::spawn(connection);
    Ok(agent)
}

async fn connected_by_http2(
    stream: TcpStream,
) -> Result<http2::SendRequest<RequestBody>, BoxError> {
    let agent = http2::Builder::new(TokioExecutor::new());
    let (agent, connection) = agent.handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(agent)
}

async fn pass(
    mut request: Request<Incoming>,
    agent: Arc<TunnelPeer>,
    open: watch::Sender<usize>,
) -> Result<Response<Body>, BoxError> {
    let subject = agent.subject;
    let is_card = request.uri().path().contains("/.well-known/");
    let is_grpc = request.version() == Version::HTTP_2 && !is_card;
    let json = HeaderValue::from_static("application/json");
    let shown = HeaderValue::from_static("Bearer secret");
    let headers = request.headers_mut();
    match subject {
        ClientSubject::Mutant(Bug::NoVersion) => drop(headers.remove("a2a-version")),
        ClientSubject::Mutant(Bug::NoContentType) => drop(headers.remove(CONTENT_TYPE)),
        ClientSubject::Mutant(Bug::JsonOnly) => drop(headers.insert(ACCEPT, json)),
        ClientSubject::Mutant(Bug::CardAnywhere) if is_card => {
            headers.insert(AUTHORIZATION, shown);
        }
        _ => {}
    }
    if !is_card {
        misdirect(&mut request, subject.bug())?;
    }
    let (mut head, body) = request.into_parts();
    let body_bytes = body.collect().await?.to_bytes();
    let path = head.uri.path().to_owned();
    let (with_control, replace) = match subject {
        ClientSubject::Control(control) if !is_grpc => {
            control_request::with_control(control, &agent.host, &mut head, &body_bytes)
        }
        ClientSubject::Mutant(Bug::OneId) => control_request::of_one_id(&mut head, &body_bytes),
        _ => (Full::from(body_bytes.clone()).boxed_unsync(), None),
    };
    let mut response = agent
        .ask(Request::from_parts(head.clone(), with_control))
        .await?;
    let follows = subject.has(Bug::FollowRedirects) || subject.has(Bug::CardAnywhere) && is_card;
    if follows && response.headers().contains_key(LOCATION) {
        response = elsewhere(head, body_bytes, &response).await?;
    }
    let status = response.status();
    let is_bad = status.is_client_error() || status.is_server_error();
    if subject.has(Bug::AnyStatus) && !is_card && is_bad {
        *response.status_mut() = StatusCode::OK;
    }
    let is_stream = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    if subject.has(Bug::StreamsAtAnyStatus) && is_stream {
        *response.status_mut() = StatusCode::OK;
    }
    // A body whose length is not given may have no end.
    let has_length = response.headers().contains_key(CONTENT_LENGTH) && !is_stream && !is_card;
    let is_whole = match subject.bug() {
        Some(Bug::AlwaysStreams | Bug::TwoSlashes) => is_card,
        Some(Bug::ReasonsOnly | Bug::NewNamesOnly) => has_length,
        _ => false,
    };
    if is_whole {
        let (mut head, body) = response.into_parts();
        let text = String::from_utf8_lossy(&body.collect().await?.to_bytes()).into_owned();
        let text = match subject.bug() {
            Some(Bug::ReasonsOnly) => without_codes(text),
            Some(Bug::NewNamesOnly) => without_old_names(text),
            // Paths below it have two of them.
            Some(Bug::TwoSlashes) => text.replace("/rest/\"", "/rest//.\""),
            _ => text.replace("\"streaming\":false", "\"streaming\":true"),
        };
        head.headers.remove(TRANSFER_ENCODING);
        head.headers
            .insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
        return Ok(Response::from_parts(head, Body::of(text)));
    }
    let (mut head, body) = response.into_parts();
    let decoder = MessageDecoder::of_responses(&path, &head.headers, MAX_MESSAGE);
    // An answer without messages has its status in the headers.
    let decoder = decoder.filter(|_| is_grpc && !head.headers.contains_key("grpc-status"));
    if is_stream || replace.is_some() {
        head.headers.remove(TRANSFER_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
    }
    if is_grpc && let Some(bug) = subject.bug() {
        change_status(bug, &mut head.headers);
    }
    let sent_more = Arc::clone(&agent.sent_more);
    let change = BodyRewriter::new(subject, is_stream, replace, sent_more).by_grpc(decoder);
    Ok(Response::from_parts(
        head,
        Body::through(body, change, open),
    ))
}

/// Changes the target of a request, and the event from which a stream resumes.
fn misdirect(request: &mut Request<Incoming>, bug: Option<Bug>) -> Result<(), BoxError> {
    let target = request.uri().to_string();
    let changed = match bug {
        Some(Bug::SnakeQuery) => target.replace("includeArtifacts=", "include_artifacts="),
        Some(Bug::NoQuery) => target.split('?').next().unwrap_or_default().to_owned(),
        Some(Bug::WrongPath) => target
            .replacen("/rpc", "/", 1)
            .replacen("/rest", "", 1)
            .replacen("a2a.v1.A2AService", "A2AService", 1),
        _ => target.clone(),
    };
    if changed != target {
        *request.uri_mut() = changed.parse()?;
    }
    if bug == Some(Bug::OldPlace)
        && let Some(place) = request.headers_mut().get_mut("last-event-id")
    {
        *place = HeaderValue::from_static("1");
    }
    Ok(())
}

/// Replaces the code of an error that carries nothing else, as a client that ignores codes sees it.
fn without_codes(text: String) -> String {
    match serde_json::from_str::<Value>(&text) {
        Ok(mut body_bytes)
            if body_bytes["error"].is_object() && body_bytes["error"]["data"].is_null() =>
        {
            body_bytes["error"]["code"] = (-32099).into();
            body_bytes.to_string()
        }
        _ => text,
    }
}

/// An answer without its artifacts, if it is written as 0.3 has it.
fn without_old_names(text: String) -> String {
    match serde_json::from_str::<Value>(&text) {
        Ok(mut body_bytes) if body_bytes["result"]["kind"].is_string() => {
            // A strict client would refuse the rest.
            let id = body_bytes["result"]["id"].take();
            body_bytes["result"] = serde_json::json!({
                "id": id,
                "contextId": body_bytes["result"]["contextId"],
                "status": {"state": "TASK_STATE_UNSPECIFIED"},
            });
            body_bytes.to_string()
        }
        _ => text,
    }
}

/// Follows a redirect with all headers, credentials included.
async fn elsewhere(
    mut head: http::request::Parts,
    body_bytes: Bytes,
    response: &Response<Incoming>,
) -> Result<Response<Incoming>, BoxError> {
    let location = response
        .headers()
        .get(LOCATION)
        .ok_or("no Location")?
        .to_str()?;
    let location: Uri = location.parse()?;
    let host = location.authority().ok_or("no host")?.to_string();
    let stream = TcpStream::connect(&host).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    head.headers.insert(HOST, HeaderValue::from_str(&host)?);
    head.uri = location
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .parse()?;
    if response.status() == StatusCode::SEE_OTHER {
        head.method = Method::GET;
    }
    let request = Request::from_parts(head, Full::<Bytes>::from(body_bytes));
    Ok(sender.send_request(request).await?)
}
