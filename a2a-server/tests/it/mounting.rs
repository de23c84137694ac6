//! Servers mounted in a program of axum, which listens itself.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use a2a_client::{Client, StreamExt};
use a2a_server::{Failure, MemoryStore, Server, ServerBuilder, SqliteStore, Turn, WebhookPolicy};
use a2a_types::{
    Message, SendMessageConfiguration, SendMessageRequest, TaskPushNotificationConfig, TaskState,
};
use axum::Router;
use axum::http::HeaderValue;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::limit::ConcurrencyLimitLayer;

use crate::engine::{Worker, card, task};
use crate::receiver::{WebhookRequest, next, receiver};
use crate::stores;

fn builder(worker: &Worker, file: &Path) -> ServerBuilder {
    Server::builder(card(), worker.clone())
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .store(SqliteStore::open(file).unwrap())
}

/// Begins a task with a webhook in a process of its own, which ends half-way.
fn die_during_a_task(file: &Path, webhook: String) {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let worker = Worker::default();
        let client = Client::new(builder(&worker, file).build().unwrap());
        let config = TaskPushNotificationConfig {
            url: webhook,
            ..TaskPushNotificationConfig::default()
        };
        let request = SendMessageRequest {
            message: Message::user("wait"),
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                task_push_notification_config: Some(config.into()),
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        client.send(request).await.unwrap();
        worker.begun.notified().await;
    });
}

/// Returns whether a webhook is notified of a failed task. The server that died may have left a connection without a
/// request.
fn is_failure(request: &WebhookRequest) -> bool {
    let body = (!request.body().is_empty()).then(|| request.json());
    body.is_some_and(|body| body["statusUpdate"]["status"]["state"] == "TASK_STATE_FAILED")
}

async fn mark(mut response: Response) -> Response {
    let mark = HeaderValue::from_static("axum");
    response.headers_mut().insert("x-served-by", mark);
    response
}

/// Returns the whole answer to a GET.
async fn get(address: SocketAddr, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_in_a_program_of_axum_work_before_their_first_call_and_end_in_order() {
    let file = stores::new_file();
    let (webhook, mut requests) = receiver(false).await;
    let died = file.clone();
    let dying = tokio::task::spawn_blocking(move || die_during_a_task(&died, webhook));
    dying.await.unwrap();

    let worker = Worker::default();
    let first = builder(&worker, &file).build().unwrap();
    let second = Server::builder(card(), worker.clone()).store(MemoryStore::default());
    let second = second.build().unwrap();
    let app = Router::new().route("/", routing::get(async || "agents"));
    let app = app
        .merge(first.http().path("/first").router())
        .merge(second.http().path("/second").router())
        .layer(map_response(mark))
        .layer(ConcurrencyLimitLayer::new(100));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}");
    let stop = CancellationToken::new();
    let grace = Duration::from_millis(100);
    let signal = first.shutdown_after(stop.clone().cancelled_owned(), grace);
    let signal = second.shutdown_after(signal, grace);
    let serving = axum::serve(listener, app).with_graceful_shutdown(signal);
    let serving = tokio::spawn(serving.into_future());

    // Before any call, the abandoned task is found and its webhook notified.
    while !is_failure(&next(&mut requests).await) {}

    for path in ["/first", "/second"] {
        let at = format!("{url}{path}");
        let got = a2a_client::HttpClient::default()
            .get(
                &format!("{at}/.well-known/agent-card.json"),
                &Default::default(),
            )
            .await
            .unwrap();
        assert_eq!(got.headers["x-served-by"], "axum");
        let ready = get(address, &format!("{path}/readyz")).await;
        assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
        let client = Client::connect(&at).await.unwrap();
        let done = task(client.send("echo this").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed, "{path}");
    }
    let client = Client::connect(&format!("{url}/second")).await.unwrap();
    let mut followed = client.stream("wait").await.unwrap();
    followed.next().await.unwrap().unwrap();
    worker.begun.notified().await;
    stop.cancel();
    // The stream is cut, not its task: axum has nothing to wait for, though its caller is still there.
    serving.await.unwrap().unwrap();
    drop(followed);
    assert_eq!(worker.runs(), 3);
}

/// Returns the agents in the catalog of an address.
async fn listed(url: &str) -> Vec<String> {
    let catalog = a2a_client::HttpClient::default()
        .get(
            &format!("{url}/.well-known/ai-catalog.json"),
            &Default::default(),
        )
        .await
        .unwrap();
    assert_eq!(
        catalog.headers["content-type"],
        "application/ai-catalog+json"
    );
    let catalog: serde_json::Value = serde_json::from_slice(&catalog.body).unwrap();
    assert_eq!(catalog["specVersion"], "1.0");
    let entries = catalog["entries"].as_array().unwrap().iter();
    let names = entries.map(|entry| {
        assert_eq!(entry["type"], "application/a2a-agent-card+json");
        let at = entry["data"]["supportedInterfaces"][0]["url"]
            .as_str()
            .unwrap();
        format!(
            "{} {}",
            entry["identifier"].as_str().unwrap(),
            at.replace(url, "")
        )
    });
    names.collect()
}

#[tokio::test]
async fn agents_at_one_address_are_listed_and_each_answers_at_its_path() {
    let agent = |text: &'static str| {
        move |turn: Turn| async move { Ok::<_, Failure>(turn.reply(text).await?) }
    };
    let server = |name: &str, text| {
        let card = a2a_types::AgentCard::new(name, name);
        Server::builder(card, agent(text)).build().unwrap()
    };
    let (one, two) = (server("One", "1"), server("Two", "2"));
    let both = one.http().path("/one").and(two.http().path("/one/two"));
    let bound = both.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", bound.local_addr());
    let stop = CancellationToken::new();
    let running = tokio::spawn(bound.run(stop.clone().cancelled_owned()));
    let listed = listed(&url).await;
    assert_eq!(
        listed,
        [
            "urn:air:127.0.0.1:agent:one /one",
            "urn:air:127.0.0.1:agent:one-two /one/two"
        ]
    );
    for (path, text) in [("/one", "1"), ("/one/two", "2")] {
        let client = Client::connect(&format!("{url}{path}")).await.unwrap();
        assert_eq!(client.send("go").await.unwrap().text(), text, "{path}");
    }
    stop.cancel();
    running.await.unwrap().unwrap();
    // Both servers have shut down.
    for server in [one, two] {
        let refused = Client::new(server).send("go").await.unwrap_err();
        assert!(refused.to_string().contains("shutting down"), "{refused}");
    }
}

#[tokio::test]
async fn an_open_agent_next_to_a_closed_one_is_not_served_to_everyone() {
    let closed = Server::builder(card(), Worker::default());
    let closed = closed.authenticator(Closed).build().unwrap();
    let open = Server::builder(card(), Worker::default()).build().unwrap();
    let both = closed.http().and(open.http().path("/open"));
    let bound = both.bind("0.0.0.0:0").await.unwrap();
    let refused = bound.run(std::future::ready(())).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
}

/// Refuses every caller.
struct Closed;

impl a2a_server::Authenticator for Closed {
    async fn authenticate(
        &self,
        _: &http::request::Parts,
    ) -> Result<a2a_server::Principal, a2a_server::AuthError> {
        Err(a2a_server::AuthError::forbidden())
    }
}
