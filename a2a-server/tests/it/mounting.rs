//! Servers mounted in a program of axum, which listens itself.

use std::future::IntoFuture;
use std::path::Path;
use std::time::Duration;

use a2a_client::{Client, StreamExt};
use a2a_server::{MemoryStore, Server, ServerBuilder, SqliteStore, WebhookPolicy};
use a2a_types::{
    Message, SendMessageConfiguration, SendMessageRequest, TaskPushNotificationConfig, TaskState,
};
use axum::Router;
use axum::http::HeaderValue;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use tokio::net::TcpListener;
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

fn mount(app: Router, server: &Server, path: &str) -> Router {
    let agent = server.http().path(path).service();
    app.route_service(path, agent.clone())
        .route_service(&format!("{path}/{{*rest}}"), agent)
}

async fn mark(mut response: Response) -> Response {
    let mark = HeaderValue::from_static("axum");
    response.headers_mut().insert("x-served-by", mark);
    response
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
    let app = Router::new().route("/", get(async || "agents"));
    let app = mount(mount(app, &first, "/first"), &second, "/second")
        .layer(map_response(mark))
        .layer(ConcurrencyLimitLayer::new(100));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    let serving = axum::serve(listener, app).with_graceful_shutdown(stop.clone().cancelled_owned());
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
        let client = Client::connect(&at).await.unwrap();
        let done = task(client.send("echo this").await.unwrap());
        assert_eq!(done.status.state, TaskState::Completed, "{path}");
    }
    let client = Client::connect(&format!("{url}/second")).await.unwrap();
    let mut followed = client.stream("wait").await.unwrap();
    followed.next().await.unwrap().unwrap();
    worker.begun.notified().await;
    stop.cancel();
    let grace = Duration::from_millis(100);
    tokio::join!(first.shutdown(grace), second.shutdown(grace));
    // The stream is cut, not its task; axum has nothing to wait for.
    drop(followed);
    serving.await.unwrap().unwrap();
    assert_eq!(worker.runs(), 3);
}
