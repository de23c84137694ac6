//! Server for clients that run the cases by themselves: in a browser, on a phone, as a program that cannot
//! be started from here:
//!
//! | request | answer or effect |
//! |---|---|
//! | `GET /cases` | the keys of the chosen cases |
//! | `GET /case/{key}` | starts the case again: what to do, as `{"case", "url", "ask"}`; the agent is below this path |
//! | `POST /case/{key}/listening` | `{"url"}`: the client's webhook is there; answered once it was notified |
//! | `POST /case/{key}/done` | `{"reports"}`: the client's report on each instruction, if it makes any; answered by the verdict |
//! | `GET /status/{key}` | the verdict, or that the case is running |
//! | `GET /report` | every verdict so far |
//! | `POST /end` | the client has nothing more to show |

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use a2a_transport::Binding;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::case::Case;
use super::connection::RunningFixture;
use super::connection::serve_connection;
use super::driver_request::{DriverOutcome, DriverRequest};
use super::fixture::Listener;
use super::judge::judge;
use super::socket::{Request, Socket};
use super::suite::Selection;
use crate::interface_kind::InterfaceKind;
use crate::record::CheckResult;

/// Server for clients that run the cases by themselves.
pub struct CaseServer {
    listener: TcpListener,
    hosted: Arc<HostedCases>,
}

struct HostedCases {
    address: SocketAddr,
    scale: f64,
    /// The chosen cases with their keys, in order.
    cases: Vec<(String, Arc<Case>, InterfaceKind)>,
    running: Mutex<HashMap<String, Arc<HostedCase>>>,
    results: Mutex<BTreeMap<String, CheckResult>>,
    end: Notify,
}

/// A case that a client has begun.
struct HostedCase {
    running: RunningFixture,
    began: Instant,
    webhook: Mutex<Vec<Value>>,
}

impl CaseServer {
    /// Listens for clients that run the chosen cases.
    ///
    /// Errors: the address cannot be listened at, or a file of cases not be read.
    pub async fn open(address: SocketAddr, selection: &Selection) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let chosen = selection.chosen().map_err(io::Error::other)?;
        let keyed = chosen
            .into_iter()
            .map(|(case, interface)| (key(&case, interface), case, interface));
        let hosted = HostedCases {
            address: listener.local_addr()?,
            scale: selection.scale,
            cases: keyed.collect(),
            running: Mutex::default(),
            results: Mutex::default(),
            end: Notify::new(),
        };
        Ok(Self {
            listener,
            hosted: Arc::new(hosted),
        })
    }

    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.hosted.address
    }

    /// Serves clients until one requests `/end`, and returns the results of the cases that were finished.
    pub async fn receive(self) -> Vec<CheckResult> {
        self.receive_until(std::future::pending()).await
    }

    /// Serves clients likewise, but at most until `stop` completes.
    pub async fn receive_until(self, stop: impl Future<Output = ()>) -> Vec<CheckResult> {
        let mut stop = std::pin::pin!(stop);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = self.hosted.end.notified() => break,
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    // Small pieces are sent as they are.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(Arc::clone(&self.hosted).serve(Socket::plain(stream)));
                }
            }
        }
        self.hosted.report()
    }
}

fn key(case: &Case, interface: InterfaceKind) -> String {
    let binding = match interface.binding {
        Binding::JsonRpc => "jsonrpc",
        Binding::Grpc => "grpc",
        _ => "http-json",
    };
    format!(
        "{}~{}~{binding}",
        case.id,
        interface.protocol_version.version()
    )
}

impl HostedCases {
    async fn serve(self: Arc<Self>, mut socket: Socket) {
        let mut next = None;
        loop {
            let request = match next.take() {
                Some(request) => request,
                None => match socket.request().await {
                    Ok(Some(request)) => request,
                    Ok(None) | Err(_) => return,
                },
            };
            if let Some(hosted) = self.host_of(&request) {
                let fixture = Arc::clone(&hosted.running.fixture);
                match serve_connection(socket, Listener::Agent, fixture, Some(request)).await {
                    Some((other, request)) => (socket, next) = (other, Some(request)),
                    None => return,
                }
                continue;
            }
            let (status, body) = match self.answer(&request).await {
                Ok(body) => (200, body),
                Err(problem) => (404, json!({"error": problem})),
            };
            let body = body.to_string();
            let answer = format!(
                "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\naccess-control-allow-origin: *\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            if socket.write_all(answer.as_bytes()).await.is_err() || socket.flush().await.is_err() {
                return;
            }
            if request.path() == "/end" {
                self.end.notify_one();
            }
        }
    }

    /// Returns the running case whose agent a request is for, unless it is about the case itself.
    fn host_of(&self, request: &Request) -> Option<Arc<HostedCase>> {
        let (key, rest) = request.path().strip_prefix("/case/")?.split_once('/')?;
        let is_about = request.method == "POST" && ["done", "listening"].contains(&rest);
        let running = self.running();
        running.get(key).filter(|_| !is_about).cloned()
    }

    async fn answer(&self, request: &Request) -> Result<Value, String> {
        let segments: Vec<_> = request.path().trim_matches('/').split('/').collect();
        match segments.as_slice() {
            ["cases"] => Ok(self.cases.iter().map(|(key, ..)| key.as_str()).collect()),
            ["case", key] => self.begin(key).await,
            ["case", key, "listening"] => {
                let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
                let url = body["url"].as_str().ok_or("expected {\"url\": …}")?;
                let hosted = self
                    .running()
                    .get(*key)
                    .cloned()
                    .ok_or("no such case is running")?;
                let answers = DriverRequest::new(&hosted.running.fixture, self.scale)
                    .notify(url)
                    .await;
                *hosted
                    .webhook
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) = answers;
                Ok(json!({}))
            }
            ["case", key, "done"] => self.finish(key, &request.body),
            ["status", key] => Ok(
                match (self.results().get(*key), self.running().contains_key(*key)) {
                    (_, true) => json!({"running": true}),
                    (Some(result), false) => json!(result),
                    (None, false) => json!({"running": false}),
                },
            ),
            ["report"] => Ok(json!(self.report())),
            ["end"] => Ok(json!({})),
            _ => Err("expected /cases, /case/{key}, /status/{key}, /report or /end".to_owned()),
        }
    }

    async fn begin(&self, key: &str) -> Result<Value, String> {
        let found = self.cases.iter().find(|(other, ..)| other == key);
        let (_, case, interface) = found.ok_or("no such case is chosen")?;
        // Behind TLS and by gRPC the agent has a listener of its own.
        let base = match case.agent.tls {
            None if interface.binding != Binding::Grpc => {
                Some((self.address, format!("/case/{key}")))
            }
            _ => None,
        };
        let running = RunningFixture::start(Arc::clone(case), *interface, base).await?;
        let context = DriverRequest::new(&running.fixture, self.scale).context()?;
        let hosted = HostedCase {
            running,
            began: Instant::now(),
            webhook: Mutex::default(),
        };
        self.running().insert(key.to_owned(), Arc::new(hosted));
        Ok(Value::Object(context))
    }

    fn finish(&self, key: &str, body: &[u8]) -> Result<Value, String> {
        let hosted = self
            .running()
            .remove(key)
            .ok_or("no such case is running")?;
        let report: Value = serde_json::from_slice(body).unwrap_or_default();
        let fixture = &hosted.running.fixture;
        let duration = hosted.began.elapsed();
        let mut outcome = DriverOutcome {
            reports: report["reports"].as_array().cloned(),
            late: duration > DriverRequest::new(fixture, self.scale).within,
            ..DriverOutcome::default()
        };
        outcome.note_missing_feature(&fixture.case);
        outcome.webhook.clone_from(
            &hosted
                .webhook
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        let result = judge(fixture, &outcome, duration.as_secs_f64());
        let value = json!(result);
        self.results().insert(key.to_owned(), result);
        Ok(value)
    }

    fn report(&self) -> Vec<CheckResult> {
        let results = self.results();
        let finished = self.cases.iter().filter_map(|(key, ..)| results.get(key));
        finished.cloned().collect()
    }

    // Every change of either map is one step, so a panic elsewhere leaves it whole.
    fn running(&self) -> MutexGuard<'_, HashMap<String, Arc<HostedCase>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn results(&self) -> MutexGuard<'_, BTreeMap<String, CheckResult>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
