//! Metrics, counted exactly.

use a2a_client::{Client, HttpTransport, StreamExt};
use a2a_server::{AuthError, MemoryStore, Principal, Server};
use a2a_transport::http::{Authenticator, HttpService};
use a2a_transport::{
    Binding, BoxFuture, CallRequest, CallResponse, Error, ResponseBody, Transport,
};
use a2a_types::{Message, ProtocolVersion, SendMessageRequest};
use http::request::Parts;
use http_body_util::BodyExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::engine::metrics_recorder::{
    MetricsRecorder, ask, ask_at, message, question, service, whole,
};
use crate::engine::{Worker, builders, card};
use crate::waiting::eventually;

const REQUESTS: &str = "a2a_server_requests_total";
const SECONDS: &str = "a2a_server_request_duration_seconds";
const ERRORS: &str = "a2a_server_errors_total";
const STREAMS: &str = "a2a_server_open_streams";
const LAG: &str = "a2a_server_follower_lag_events";
const STORE: &str = "a2a_server_store_duration_seconds";
const TURNS: &str = "a2a_server_running_turns";
const CALLS: &str = "a2a_client_requests_total";
const CALL_SECONDS: &str = "a2a_client_request_duration_seconds";
const CALL_ERRORS: &str = "a2a_client_errors_total";
const RECONNECTIONS: &str = "a2a_client_reconnections_total";

fn server(worker: &Worker) -> Server {
    let store = MemoryStore::default();
    let builder = Server::builder(card(), worker.clone()).store(store);
    builder.build().unwrap()
}

#[test]
fn a_request_counts_by_its_operation_version_and_binding() {
    MetricsRecorder::run(async |recorder| {
        let service = HttpService::new(server(&Worker::default()));
        whole(ask(&service, question("SendMessage", message("echo a"))).await).await;
        let old = json!({"message": {"messageId": "b", "role": "user", "parts": [{"kind": "text", "text": "echo b"}]}});
        whole(ask(&service, question("message/send", old)).await).await;
        let rest = message("echo c").to_string();
        whole(ask_at(&service, Binding::HttpJson, "/message:send", rest).await).await;
        recorder.check(&[
            (
                REQUESTS,
                &[
                    "SendMessage 0.3 JSONRPC answered 1",
                    "SendMessage 1.0 HTTP+JSON answered 1",
                    "SendMessage 1.0 JSONRPC answered 1",
                ],
            ),
            (
                SECONDS,
                &[
                    "SendMessage 0.3 JSONRPC 1",
                    "SendMessage 1.0 HTTP+JSON 1",
                    "SendMessage 1.0 JSONRPC 1",
                ],
            ),
            (ERRORS, &[]),
            (STREAMS, &[]),
            (TURNS, &[]),
        ]);
    });
}

/// `tasks/get` is spelled alike in 0.1, 0.2 and 0.3: it is answered, and counted, in the version that the task was
/// created in.
#[test]
fn a_request_that_names_no_version_counts_in_that_of_its_answer() {
    MetricsRecorder::run(async |recorder| {
        let service = HttpService::new(server(&Worker::default()));
        let message = json!({"role": "user", "parts": [{"type": "text", "text": "echo a"}]});
        let params = json!({"id": "t", "message": message});
        whole(ask(&service, question("tasks/send", params)).await).await;
        for id in ["t", "none"] {
            whole(ask(&service, question("tasks/get", json!({"id": id}))).await).await;
        }
        let counts: &[&str] = &[
            "GetTask 0.1 JSONRPC answered 1",
            "GetTask 0.3 JSONRPC failed 1",
            "SendMessage 0.1 JSONRPC answered 1",
        ];
        let durations: &[&str] = &[
            "GetTask 0.1 JSONRPC 1",
            "GetTask 0.3 JSONRPC 1",
            "SendMessage 0.1 JSONRPC 1",
        ];
        recorder.check(&[(REQUESTS, counts), (SECONDS, durations)]);
    });
}

#[test]
fn failures_and_refusals_count_by_kind_and_never_by_request_content() {
    MetricsRecorder::run(async |recorder| {
        let service = HttpService::new(server(&Worker::default()));
        let unknown = question("GetTask", json!({"id": "secret-id"}));
        for asked in [
            "{",
            "[]",
            &question("secret-method", json!({})),
            &question("SendMessage", json!({"message": 1})),
            &unknown,
            &unknown,
        ] {
            whole(ask(&service, asked.to_owned()).await).await;
        }
        let elsewhere = ask_at(&service, Binding::HttpJson, "/secret-path", "{}");
        whole(elsewhere.await).await;
        let closed = service.authenticator(DenyAll);
        whole(ask(&closed, unknown).await).await;
        recorder.check(&[
            (
                REQUESTS,
                &[
                    "GetTask 1.0 JSONRPC failed 2",
                    "other 0.3 JSONRPC failed 4",
                    "other 1.0 HTTP+JSON failed 1",
                    "other 1.0 JSONRPC failed 1",
                ],
            ),
            (
                ERRORS,
                &[
                    "GetTask TASK_NOT_FOUND 2",
                    "other INVALID_PARAMS 1",
                    "other INVALID_REQUEST 1",
                    "other JSON_PARSE 1",
                    "other METHOD_NOT_FOUND 2",
                    "other UNAUTHENTICATED 1",
                ],
            ),
            (STREAMS, &[]),
        ]);
    });
}

/// Authenticator that rejects every caller.
struct DenyAll;

impl Authenticator for DenyAll {
    async fn authenticate(&self, _: &Parts) -> Result<Principal, AuthError> {
        Err(AuthError::unauthenticated("Bearer"))
    }
}

#[test]
fn a_stream_is_open_until_its_last_event_and_counts_then() {
    MetricsRecorder::run(async |recorder| {
        let worker = Worker::default();
        let service = HttpService::new(server(&worker));
        let asked = question("SendStreamingMessage", message("wait"));
        let answer = ask(&service, asked).await;
        worker.begun.notified().await;
        recorder.check(&[
            (REQUESTS, &[]),
            (SECONDS, &["SendStreamingMessage 1.0 JSONRPC 1"]),
            (STREAMS, &["1"]),
            (TURNS, &["1"]),
        ]);
        worker.go_on.open();
        assert!(whole(answer).await.contains("COMPLETED"));
        recorder.check(&[
            (REQUESTS, &["SendStreamingMessage 1.0 JSONRPC answered 1"]),
            (SECONDS, &[]),
            (ERRORS, &[]),
            (STREAMS, &["-1"]),
            (TURNS, &["-1"]),
            // The two events after the task itself, with which following begins: working and
            // completed.
            (LAG, &["2"]),
        ]);
    });
}

#[test]
fn stream_that_is_dropped_midway_is_no_longer_open() {
    MetricsRecorder::run(async |recorder| {
        let worker = Worker::default();
        let service = HttpService::new(server(&worker));
        let asked = question("SendStreamingMessage", message("wait"));
        let mut body = ask(&service, asked).await.into_body();
        body.frame().await.unwrap().unwrap();
        recorder.check(&[(REQUESTS, &[]), (STREAMS, &["1"])]);
        drop(body);
        recorder.check(&[
            (REQUESTS, &["SendStreamingMessage 1.0 JSONRPC abandoned 1"]),
            (ERRORS, &[]),
            (STREAMS, &["-1"]),
            (TURNS, &[]),
        ]);
    });
}

#[test]
fn a_caller_who_disconnects_leaves_no_open_stream() {
    MetricsRecorder::run(async |recorder| {
        let bound = server(&Worker::default())
            .bind("127.0.0.1:0")
            .await
            .unwrap();
        let address = bound.local_addr();
        let serving = tokio::spawn(bound.run(std::future::pending()));
        let mut caller = TcpStream::connect(address).await.unwrap();
        let asked = question("SendStreamingMessage", message("wait"));
        let request = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{asked}",
            asked.len()
        );
        caller.write_all(request.as_bytes()).await.unwrap();
        caller.read_u8().await.unwrap();
        recorder.check(&[(REQUESTS, &[]), (STREAMS, &["1"])]);
        drop(caller);
        let mut changes = Vec::new();
        eventually(async || {
            changes.extend(recorder.changes());
            let is_noticed = changes.iter().any(|(name, _)| name == REQUESTS);
            is_noticed.then_some(())
        })
        .await;
        for (name, expected) in [
            (REQUESTS, "SendStreamingMessage 1.0 JSONRPC abandoned 1"),
            (STREAMS, "-1"),
        ] {
            assert!(
                changes.contains(&(name.to_owned(), expected.to_owned())),
                "{changes:?}"
            );
        }
        serving.abort();
    });
}

/// Transport whose streams end after the first event.
struct TruncatedStream<T>(T);

impl<T: Transport> Transport for TruncatedStream<T> {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let truncates = call.request.operation().name() == "SendStreamingMessage";
        let reply = self.0.call(call);
        Box::pin(async move {
            let mut reply = reply.await?;
            reply.answer = match reply.answer {
                ResponseBody::Stream(updates) if truncates => {
                    let cut = tokio_stream::once(Err(Error::Unfinished));
                    ResponseBody::Stream(Box::pin(updates.take(1).chain(cut)))
                }
                answer => answer,
            };
            Ok(reply)
        })
    }
}

#[test]
fn a_stream_that_breaks_off_has_failed() {
    MetricsRecorder::run(async |recorder| {
        let service = HttpService::new(TruncatedStream(server(&Worker::default())));
        let asked = question("SendStreamingMessage", message("wait"));
        whole(ask(&service, asked).await).await;
        recorder.check(&[
            (REQUESTS, &["SendStreamingMessage 1.0 JSONRPC failed 1"]),
            (ERRORS, &["SendStreamingMessage INTERNAL 1"]),
            (STREAMS, &[]),
        ]);
    });
}

#[test]
fn every_store_is_timed_by_its_methods() {
    for index in 0..2 {
        MetricsRecorder::run(async |recorder| {
            let [memory, sqlite] = builders(&Worker::default());
            let service = service([memory, sqlite].into_iter().nth(index).unwrap());
            let sent = question("SendMessage", message("ask a"));
            let task = whole(ask(&service, sent).await).await;
            let task: serde_json::Value = serde_json::from_str(&task).unwrap();
            let id = task["result"]["task"]["id"].clone();
            check_store(&recorder, &["create ok 1"]);
            whole(ask(&service, question("GetTask", json!({"id": id}))).await).await;
            let webhook = json!({"taskId": id, "url": "https://93.184.216.34/"});
            let create = question("CreateTaskPushNotificationConfig", webhook);
            for _ in 0..16 {
                whole(ask(&service, create.clone()).await).await;
            }
            check_store(&recorder, &["put_config ok 16"]);
            whole(ask(&service, create).await).await;
            check_store(&recorder, &["put_config refused 1"]);
        });
    }
}

/// Checks the writes to the store, but for periodic ones.
#[track_caller]
fn check_store(recorder: &MetricsRecorder, expected: &[&str]) {
    let changes = recorder.changes().filter(|(name, _)| name == STORE);
    let lines = changes.map(|(_, line)| line);
    let writes = ["create ", "put_config "];
    let mut asked: Vec<_> = lines
        .filter(|line| writes.iter().any(|method| line.starts_with(method)))
        .collect();
    asked.sort();
    assert_eq!(asked, expected);
}

#[test]
fn a_call_counts_at_the_client_by_what_became_of_it() {
    MetricsRecorder::run(async |recorder| {
        let worker = Worker::default();
        let bound = server(&worker).bind("127.0.0.1:0").await.unwrap();
        let url = bound.url();
        let serving = tokio::spawn(bound.run(std::future::pending()));
        let client = Client::at(&url, ProtocolVersion::V1_0).unwrap();
        client.send("echo this").await.unwrap();
        client.get_task("none", None).await.unwrap_err();
        drop(client.stream("echo that").await.unwrap());
        let waiting = async { client.send("wait").await };
        tokio::select! {
            _ = waiting => panic!("the agent was not let go on"),
            () = worker.begun.notified() => {}
        }
        serving.abort();
        drop(serving.await);
        let unreachable = HttpTransport::new("http://127.0.0.1:1/", ProtocolVersion::V0_3).unwrap();
        let request = SendMessageRequest {
            message: Message::user("hello"),
            ..SendMessageRequest::default()
        };
        let call = CallRequest::new(a2a_types::Request::SendMessage(request));
        unreachable.call(call).await.unwrap_err();
        recorder.check(&[
            (
                CALLS,
                &[
                    "GetTask 1.0 JSONRPC failed 1",
                    "SendMessage 0.3 JSONRPC failed 1",
                    "SendMessage 1.0 JSONRPC abandoned 1",
                    "SendMessage 1.0 JSONRPC answered 1",
                    "SendStreamingMessage 1.0 JSONRPC answered 1",
                ],
            ),
            (
                CALL_SECONDS,
                &[
                    "GetTask 1.0 JSONRPC 1",
                    "SendMessage 0.3 JSONRPC 1",
                    "SendMessage 1.0 JSONRPC 2",
                    "SendStreamingMessage 1.0 JSONRPC 1",
                ],
            ),
            (
                CALL_ERRORS,
                &["GetTask TASK_NOT_FOUND 1", "SendMessage unreachable 1"],
            ),
            (RECONNECTIONS, &[]),
        ]);
    });
}

#[test]
fn a_task_that_is_followed_again_counts() {
    MetricsRecorder::run(async |recorder| {
        let worker = Worker::default();
        let client = Client::new(TruncatedStream(server(&worker)));
        let mut updates = client.send("wait").follow();
        updates.next().await.unwrap().unwrap();
        worker.go_on.open();
        while let Some(event) = updates.next().await {
            event.unwrap();
        }
        assert_eq!(updates.reconnections(), 1);
        recorder.check(&[(RECONNECTIONS, &["1"])]);
    });
}
