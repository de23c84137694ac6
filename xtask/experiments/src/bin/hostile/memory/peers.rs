//! Peers that fill the memory of a server: many requests, answers left unread, bodies that do not
//! end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{join_all, try_join_all};
use futures_util::{Stream, StreamExt, stream};
use http::Request;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::TrialError;
use crate::agent::ServerProcess;
use crate::peers::connect_from;
use crate::trials::wait;

/// An attack that is more than requests with a full field.
#[derive(Clone, Copy)]
pub(super) enum PeerAttack {
    UnreadGetTask,
    UnreadListTasks,
    UnreadStreams,
    UnreadSends,
    HalfBodies,
    BodiesOfOneConnection,
    QueuedMessages,
    RunningTurns,
    WaitingTurns,
    TenantsInPaths,
    IdleConnections,
    SmallTasks,
    SmallObjects,
    SmallObjectsOfTurns,
    DeepObjects,
    SmallEvents,
    ManyArtifacts,
    SmallTurns,
    OutputModes,
    Notifications,
    Subscriptions,
    FollowedTasks,
    UnreadEvents,
    ManyHeads,
    MostHeads,
    LargeHeads,
    ClosedWindows,
}

impl PeerAttack {
    pub(super) const ALL: &[Self] = &[
        Self::UnreadGetTask,
        Self::UnreadListTasks,
        Self::UnreadStreams,
        Self::UnreadSends,
        Self::HalfBodies,
        Self::BodiesOfOneConnection,
        Self::QueuedMessages,
        Self::RunningTurns,
        Self::WaitingTurns,
        Self::TenantsInPaths,
        Self::IdleConnections,
        Self::SmallTasks,
        Self::SmallObjects,
        Self::SmallObjectsOfTurns,
        Self::DeepObjects,
        Self::SmallEvents,
        Self::ManyArtifacts,
        Self::SmallTurns,
        Self::OutputModes,
        Self::Notifications,
        Self::Subscriptions,
        Self::FollowedTasks,
        Self::UnreadEvents,
        Self::ManyHeads,
        Self::MostHeads,
        Self::LargeHeads,
        Self::ClosedWindows,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::UnreadGetTask => "60 unread GetTask of a task of 57 MiB",
            Self::UnreadListTasks => "60 unread ListTasks with artifacts of 57 MiB",
            Self::UnreadStreams => "60 unread subscriptions to a task of 57 MiB",
            Self::UnreadSends => "60 unread SendMessage to a task of 57 MiB",
            Self::HalfBodies => "300 bodies of 4 MiB that do not end",
            Self::BodiesOfOneConnection => "100 bodies of 4 MiB on one HTTP/2 connection",
            Self::QueuedMessages => "62 messages of 1 MiB for a busy task",
            Self::RunningTurns => "messages of 4 MiB to an agent that does not end",
            Self::WaitingTurns => "messages of 4 MiB whose callers wait",
            Self::TenantsInPaths => "tenants of 16 KiB in paths",
            Self::IdleConnections => "7,000 idle connections",
            Self::SmallTasks => "20,000 small tasks",
            Self::SmallObjects => "messages of 20,000 small objects",
            Self::SmallObjectsOfTurns => {
                "messages of 20,000 small objects to an agent that does not end"
            }
            Self::DeepObjects => "messages of 400 objects, 50 deep",
            Self::SmallEvents => "2,000 tasks of endless small chunks",
            Self::ManyArtifacts => "100 tasks of 10,000 artifacts",
            Self::SmallTurns => "10,000 small turns that do not end",
            Self::OutputModes => "4,000 turns with 100 output modes of 1 KB that do not end",
            Self::Notifications => "16 webhooks of each of 1,000 tasks that do not answer",
            Self::Subscriptions => "20,000 subscriptions of HTTP/2 to one task",
            Self::FollowedTasks => "2,000 tasks with two followers each",
            Self::UnreadEvents => "3,000 unread subscriptions to a task of 10,000 events",
            Self::ManyHeads => "2,000 HTTP/2 connections with 100 heads, without bodies",
            Self::MostHeads => "6,000 HTTP/2 connections with 100 heads, without bodies",
            Self::LargeHeads => "180 HTTP/2 connections with 100 heads of 30 KiB, without bodies",
            Self::ClosedWindows => "6,000 GetTask of a task of 4 MiB, with closed windows",
        }
    }

    /// Runs the attack; returns its result as text.
    pub(super) async fn run(
        self,
        server: &ServerProcess,
        count: usize,
    ) -> Result<String, TrialError> {
        let address = server.address;
        let small = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        match self {
            Self::UnreadGetTask => {
                let task = large_task(address).await?;
                unread(address, &small("GetTask", json!({"id": task}))).await
            }
            Self::UnreadListTasks => {
                large_task(address).await?;
                unread(
                    address,
                    &small("ListTasks", json!({"includeArtifacts": true})),
                )
                .await
            }
            Self::UnreadStreams => {
                let task = large_task(address).await?;
                unread(address, &small("SubscribeToTask", json!({"id": task}))).await
            }
            Self::UnreadSends => {
                let task = large_task(address).await?;
                let mut request = message("done", None);
                request["message"]["taskId"] = task.into();
                unread(address, &small("SendMessage", request)).await
            }
            Self::HalfBodies => half_bodies(address).await,
            Self::BodiesOfOneConnection => bodies_of_one_connection(address).await,
            Self::QueuedMessages => {
                let task = start_task(address).await?;
                let accepted = post_all(address, 62, move |number| {
                    let mut params = message(&number.to_string(), Some(1 << 20));
                    params["message"]["taskId"] = task.clone().into();
                    body("SendMessage", &params)
                });
                Ok(format!("{} of 62 accepted", accepted.await?))
            }
            Self::RunningTurns => {
                let bodies = |_| body("SendMessage", &message("hold", Some(LARGE)));
                let accepted = post_all(address, count, bodies).await?;
                Ok(format!("{accepted} of {count} accepted"))
            }
            Self::WaitingTurns => waiting(address, count).await,
            Self::TenantsInPaths => {
                let tenants = (0..count).map(|number| async move {
                    let tenant = format!("{number}{}", "x".repeat(16 << 10));
                    let path = format!("/rest/{tenant}/tasks/unknown");
                    let head = format!(
                        "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
                    );
                    let mut stream = TcpStream::connect(address).await?;
                    stream.write_all(head.as_bytes()).await?;
                    let mut answer = Vec::new();
                    stream.read_to_end(&mut answer).await
                });
                let answered = join_all(tenants)
                    .await
                    .iter()
                    .filter(|it| it.is_ok())
                    .count();
                Ok(format!("{answered} answered"))
            }
            Self::IdleConnections => {
                let connections = (0..7000).map(|_| TcpStream::connect(address));
                let open = try_join_all(connections).await?;
                check_alive(address).await?;
                Ok(format!("{} open", open.len()))
            }
            Self::SmallTasks => {
                let bodies = |_| body("SendMessage", &message("done", None));
                let accepted = post_all(address, 20_000, bodies).await?;
                Ok(format!("{accepted} of 20000 accepted"))
            }
            Self::SmallObjects => {
                objects(address, "done", json!(vec![json!({"": 0}); 20_000]), count).await
            }
            Self::SmallObjectsOfTurns => {
                objects(address, "hold", json!(vec![json!({"": 0}); 20_000]), count).await
            }
            Self::DeepObjects => {
                let deep = (0..50).fold(json!(0), |inner, _| json!({ "": inner }));
                objects(address, "done", json!(vec![deep; 400]), count).await
            }
            Self::SmallEvents => {
                let bodies = |_| body("SendMessage", &message("chunks", None));
                let accepted = post_all(address, 2000, bodies).await?;
                wait(Duration::from_secs(20)).await;
                let read = read_all(address).await?;
                Ok(format!("{accepted} of 2000 accepted, {read} read"))
            }
            Self::ManyArtifacts => {
                let bodies = |_| body("SendMessage", &message("artifacts", None));
                let accepted = post_all(address, 100, bodies).await?;
                // SQLite keeps only the tasks used last in memory, and reads such large ones again and again.
                wait(Duration::from_secs(60)).await;
                let read = read_all(address).await?;
                Ok(format!("{accepted} of 100 begun, {read} read"))
            }
            Self::SmallTurns => {
                let bodies = |_| body("SendMessage", &message("hold", None));
                let accepted = post_all(address, 10_000, bodies).await?;
                Ok(format!("{accepted} of 10000 accepted"))
            }
            Self::OutputModes => {
                // One mode that the agent supports, because a message without any is refused.
                let mut modes = vec![format!("text/{}", "x".repeat(1000)); 99];
                modes.push("text/plain".to_owned());
                let bodies = move |_| {
                    let mut params = message("hold", None);
                    params["configuration"]["acceptedOutputModes"] = json!(modes);
                    body("SendMessage", &params)
                };
                let accepted = post_all(address, 4000, bodies).await?;
                Ok(format!("{accepted} of 4000 accepted"))
            }
            Self::Notifications => notifications(address).await,
            Self::Subscriptions => {
                let task = start_task(address).await?;
                let request = move |_| small("SubscribeToTask", json!({"id": task}));
                let open = streams(address, 200, request).await?;
                Ok(format!("{} open", open.len()))
            }
            Self::FollowedTasks => {
                let mut tasks = Vec::new();
                for _ in 0..2000 {
                    tasks.push(task_of(
                        &post(address, body("SendMessage", &message("murmur", None))).await?,
                    )?);
                }
                let request =
                    move |number: usize| small("SubscribeToTask", json!({"id": tasks[number / 2]}));
                let open = streams(address, 40, request).await?;
                let reading: Vec<_> = open
                    .into_iter()
                    .map(|body| tokio::spawn(body.collect()))
                    .collect();
                let accepted =
                    post_all(address, 2000, |_| body("SendMessage", &message("go", None))).await?;
                wait(Duration::from_secs(10)).await;
                let following = reading
                    .iter()
                    .filter(|reading| !reading.is_finished())
                    .count();
                reading.iter().for_each(tokio::task::JoinHandle::abort);
                Ok(format!("{accepted} of 2000 spoke, {following} followers"))
            }
            Self::UnreadEvents => {
                let task =
                    task_of(&post(address, body("SendMessage", &message("talk", None))).await?)?;
                let request = small("SubscribeToTask", json!({"id": task})).to_string();
                let mut unread = Vec::new();
                for _ in 0..3000 {
                    unread.push(send_without_reading(address, &request).await?);
                }
                post(address, body("SendMessage", &message("go", None))).await?;
                wait(Duration::from_secs(10)).await;
                Ok(format!("{} open", unread.len()))
            }
            Self::ManyHeads => heads(address, 2000, 20).await,
            Self::MostHeads => heads(address, 6000, 20).await,
            Self::LargeHeads => heads(address, 180, 30 << 10).await,
            Self::ClosedWindows => {
                let answer = post(address, body("SendMessage", &message("done", Some(LARGE))));
                let request = small("GetTask", json!({"id": task_of(&answer.await?)?}));
                closed_windows(address, request.to_string().into()).await
            }
        }
    }
}

/// Sends 100 requests of HTTP/2 on each connection, with a header of `header` bytes and a body that never comes.
async fn heads(
    address: SocketAddr,
    connections: usize,
    header: usize,
) -> Result<String, TrialError> {
    let header = "x".repeat(header);
    let mut asking = JoinSet::new();
    for number in 0..connections {
        let sender = http2(address, number, |_| {}).await;
        let header = header.clone();
        asking.spawn(async move {
            let sender = sender?;
            let answers = (0..100).map(|_| {
                let mut sender = sender.clone();
                let pending = stream::pending::<Result<Frame<Bytes>, Infallible>>();
                let request = request(address, StreamBody::new(pending));
                let header = header.clone();
                async move {
                    let mut request = request?;
                    request.headers_mut().insert("x-filling", header.parse()?);
                    let answer = sender.send_request(request);
                    let answer = tokio::time::timeout(Duration::from_secs(15), answer).await?;
                    Ok::<_, TrialError>(answer?.status())
                }
            });
            Ok::<_, TrialError>(join_all(answers).await)
        });
    }
    let (mut answered, mut refused) = (0, 0);
    while let Some(answers) = asking.join_next().await {
        for answer in answers?.into_iter().flatten() {
            match answer {
                Ok(_) => answered += 1,
                Err(_) => refused += 1,
            }
        }
    }
    Ok(format!("{answered} answered, {refused} refused"))
}

/// Sends a request 100 times on each of 60 connections of HTTP/2 whose answers have no room.
async fn closed_windows(address: SocketAddr, body: Bytes) -> Result<String, TrialError> {
    let (mut open, mut senders) = (JoinSet::new(), Vec::new());
    for number in 0..60 {
        let sender = http2(address, number, |builder| {
            builder.initial_stream_window_size(1);
        });
        senders.push(sender.await?);
    }
    for number in 0..6000 {
        let mut sender = senders[number % 60].clone();
        let request = request(address, Full::from(body.clone()))?;
        open.spawn(async move { sender.send_request(request).await });
    }
    wait(Duration::from_secs(20)).await;
    let mut answers = Vec::new();
    while let Some(answer) = open.try_join_next() {
        answers.extend(answer?);
    }
    Ok(format!("{} of 6000 answered", answers.len()))
}

/// Connects by HTTP/2, a thousand times at most from one address.
async fn http2<B>(
    address: SocketAddr,
    number: usize,
    settings: impl FnOnce(&mut http2::Builder<TokioExecutor>),
) -> Result<SendRequest<B>, TrialError>
where
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
{
    let last = u8::try_from(number / 900).unwrap_or(u8::MAX);
    let stream = connect_from([127, 0, 1, last + 1], address).await?;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    settings(&mut builder);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends messages with this metadata, each of its own bytes.
async fn objects(
    address: SocketAddr,
    text: &'static str,
    metadata: Value,
    count: usize,
) -> Result<String, TrialError> {
    let metadata = json!({ "k": metadata });
    let sent = metadata.to_string().len() * count;
    let bodies = move |_| {
        let mut params = message(text, None);
        params["message"]["metadata"] = metadata.clone();
        body("SendMessage", &params)
    };
    let accepted = post_all(address, count, bodies).await?;
    Ok(format!(
        "{accepted} of {count} accepted, {} MiB",
        sent >> 20
    ))
}

/// Reads every task, page by page; returns their number.
async fn read_all(address: SocketAddr) -> Result<usize, TrialError> {
    let (mut token, mut read) = (json!(""), 0);
    loop {
        let params = json!({"includeArtifacts": true, "pageSize": 100, "pageToken": token});
        let answer: Value =
            serde_json::from_slice(&post(address, body("ListTasks", &params)).await?)?;
        let page = &answer["result"];
        read += page["tasks"]
            .as_array()
            .ok_or_else(|| format!("no tasks in {answer}"))?
            .len();
        token = page["nextPageToken"].clone();
        if token.as_str().is_none_or(str::is_empty) {
            return Ok(read);
        }
    }
}

/// Webhooks that do not answer, with notifications of the ends of their tasks.
async fn notifications(address: SocketAddr) -> Result<String, TrialError> {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", silent.local_addr()?);
    let mut tasks = Vec::new();
    for _ in 0..1000 {
        tasks.push(start_task(address).await?);
    }
    let of = tasks.clone();
    let configs = move |number: usize| {
        let params = json!({"taskId": of[number / 16], "id": format!("c{number}"), "url": url});
        body("CreateTaskPushNotificationConfig", &params)
    };
    let webhooks = post_all(address, 16_000, configs).await?;
    let cancel = move |number: usize| body("CancelTask", &json!({"id": tasks[number]}));
    let canceled = post_all(address, 1000, cancel).await?;
    wait(Duration::from_secs(5)).await;
    Ok(format!("{webhooks} webhooks, {canceled} canceled"))
}

/// Opens HTTP/2 connections with 100 requests each; returns the bodies of the answers.
async fn streams(
    address: SocketAddr,
    connections: usize,
    requests: impl Fn(usize) -> Value,
) -> Result<Vec<Incoming>, TrialError> {
    let mut open = Vec::new();
    for number in 0..connections {
        let stream = TcpStream::connect(address).await?;
        let handshake =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (sender, connection): (SendRequest<Full<Bytes>>, _) = handshake.await?;
        tokio::spawn(connection);
        let answers = (0..100).map(|place| {
            let body = requests(100 * number + place).to_string();
            let mut sender = sender.clone();
            async move {
                let request = request(address, Full::from(body))?;
                Ok::<_, TrialError>(sender.send_request(request).await?.into_body())
            }
        });
        open.extend(join_all(answers).await.into_iter().flatten());
    }
    Ok(open)
}

/// Returns whether a good request is answered.
pub(super) async fn check_alive(address: SocketAddr) -> Result<(), TrialError> {
    let asked = tokio::time::timeout(Duration::from_secs(30), crate::peers::ask(address));
    asked
        .await
        .map_err(|_| "a valid request was not answered within 30 s")??;
    Ok(())
}

/// Starts a task that the agent does not end.
pub(super) async fn start_task(address: SocketAddr) -> Result<String, TrialError> {
    let answer = post(address, body("SendMessage", &message("hold", None))).await?;
    task_of(&answer)
}

/// Has the agent make a task of 57 MiB.
async fn large_task(address: SocketAddr) -> Result<String, TrialError> {
    let mut request = message("grow", None);
    request["configuration"]["returnImmediately"] = false.into();
    let answer = post(address, body("SendMessage", &request)).await?;
    task_of(&answer)
}

fn task_of(answer: &[u8]) -> Result<String, TrialError> {
    let answer: Value = serde_json::from_slice(answer)?;
    let id = answer["result"]["task"]["id"].as_str();
    id.map(str::to_owned)
        .ok_or_else(|| format!("no task in {answer}").into())
}

fn message(text: &str, bytes: Option<usize>) -> Value {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut parts = vec![json!({ "text": text })];
    parts.extend(bytes.map(|bytes| json!({ "text": "x".repeat(bytes) })));
    json!({
        "message": {"messageId": format!("n{number}"), "role": "ROLE_USER", "parts": parts},
        "configuration": {"returnImmediately": true},
    })
}

fn body(method: &str, params: &Value) -> Vec<u8> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    request.to_string().into_bytes()
}

/// Returns whether an answer has a result, or is a stream of events.
fn is_accepted(answer: &[u8]) -> bool {
    let head = &answer[..answer.len().min(100)];
    let has = |text: &[u8]| head.windows(text.len()).any(|part| part == text);
    has(b"\"result\"") && !has(b"\"error\"")
}

pub(super) async fn post(address: SocketAddr, body: Vec<u8>) -> Result<Bytes, TrialError> {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.request(request(address, Full::from(body))?).await?;
    Ok(answer.into_body().collect().await?.to_bytes())
}

fn request<B>(address: SocketAddr, body: B) -> http::Result<Request<B>> {
    Request::post(format!("http://{address}/"))
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(body)
}

/// Posts `count` bodies, 16 at a time; returns how many were accepted. A server that closes the connection has
/// answered nothing.
pub(super) async fn post_all(
    address: SocketAddr,
    count: usize,
    bodies: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static,
) -> Result<usize, TrialError> {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let (next, bodies) = (Arc::new(AtomicUsize::new(0)), Arc::new(bodies));
    let posting = (0..16).map(|_| {
        let (client, next, bodies) = (client.clone(), Arc::clone(&next), Arc::clone(&bodies));
        tokio::spawn(async move {
            let mut accepted = 0;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok::<_, http::Error>(accepted);
                }
                let body = Full::from(bodies(number));
                let answer = match client.request(request(address, body)?).await {
                    Ok(answer) => answer.into_body().collect().await.ok(),
                    Err(_) => None,
                };
                let answer = answer.map(|it| it.to_bytes()).unwrap_or_default();
                accepted += usize::from(is_accepted(&answer));
            }
        })
    });
    let mut all = 0;
    for accepted in posting.collect::<Vec<_>>() {
        all += accepted.await??;
    }
    Ok(all)
}

/// Asks 60 times for the same, on connections of their own, and does not read the answers; the server has
/// time to write them.
async fn unread(address: SocketAddr, request: &Value) -> Result<String, TrialError> {
    let mut unread = Vec::new();
    for _ in 0..60 {
        unread.push(send_without_reading(address, &request.to_string()).await?);
    }
    wait(Duration::from_secs(5)).await;
    Ok(format!("{} asked", unread.len()))
}

async fn send_without_reading(address: SocketAddr, body: &str) -> Result<TcpStream, TrialError> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut stream = socket.connect(address).await?;
    let head = format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\na2a-version: 1.0\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    Ok(stream)
}

/// 300 bodies of which the last byte does not come.
async fn half_bodies(address: SocketAddr) -> Result<String, TrialError> {
    let sending = (0..300).map(|_| async move {
        let mut stream = TcpStream::connect(address).await?;
        let head = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            4 << 20
        );
        stream.write_all(head.as_bytes()).await?;
        let part = vec![b' '; 64 << 10];
        for _ in 0..63 {
            stream.write_all(&part).await?;
        }
        Ok::<_, std::io::Error>(stream)
    });
    let open: Vec<_> = join_all(sending).await;
    wait(Duration::from_secs(2)).await;
    let sent = open.iter().filter(|stream| stream.is_ok()).count();
    Ok(format!("{sent} sent"))
}

/// 100 requests of one HTTP/2 connection whose bodies do not end.
async fn bodies_of_one_connection(address: SocketAddr) -> Result<String, TrialError> {
    let stream = TcpStream::connect(address).await?;
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = handshake.await?;
    let connection = tokio::spawn(connection);
    let requests = (0..100).map(|_| {
        let mut sender = sender.clone();
        async move {
            let request = request(address, StreamBody::new(Box::pin(endless_body())))?;
            let answer = tokio::time::timeout(Duration::from_secs(5), sender.send_request(request));
            Ok::<_, http::Error>(answer.await.is_ok())
        }
    });
    let answered = try_join_all(requests)
        .await?
        .into_iter()
        .filter(|it| *it)
        .count();
    connection.abort();
    Ok(format!("{answered} answered in 5 s"))
}

/// A body of 4 MiB in parts, without its end.
fn endless_body() -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    let part = Bytes::from(vec![b' '; 64 << 10]);
    let parts = vec![part; 63].into_iter();
    stream::iter(parts.map(|part| Ok(Frame::data(part)))).chain(stream::pending())
}

/// Callers who wait for an agent that does not end, each with a large message.
async fn waiting(address: SocketAddr, count: usize) -> Result<String, TrialError> {
    let mut open = Vec::new();
    for _ in 0..count {
        let mut params = message("hold", Some(LARGE));
        params["configuration"]["returnImmediately"] = false.into();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
        // A server that has enough closes.
        open.extend(send_without_reading(address, &body.to_string()).await.ok());
    }
    wait(Duration::from_secs(2)).await;
    Ok(format!("{} asked", open.len()))
}

/// Bytes of a message that just fits into a body.
const LARGE: usize = (4 << 20) - (64 << 10);
