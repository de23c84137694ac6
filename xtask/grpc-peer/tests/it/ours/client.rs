//! Our client, against the generated server and our own.

use a2a_client::{
    Client, Error, Event, HttpClient, HttpTransport, ProtocolVersion, SendMessageResponse,
    TaskEventStream, Tls,
};
use a2a_transport::binding::grpc::EVENT_ID;
use a2a_transport::{Binding, CallRequest, ResponseBody, Transport, Update};
use a2a_types::{
    AgentCard, AgentInterface, ErrorKind, ListTasksRequest, Message, Request as A2aRequest,
    SendMessageRequest, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
};
use grpc_peer::Server;
use rcgen::generate_simple_self_signed;
use tokio::net::TcpListener;
use tokio_stream::StreamExt;

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V1_0, ProtocolVersion::V0_3];

/// A server, and the messages by which its agent does something.
struct Peer {
    url: String,
    ask: &'static str,
    reply: &'static str,
    lines: &'static str,
    /// Set if errors in 0.3 have details.
    has_details: bool,
}

/// Starts the generated server.
async fn generated() -> Peer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(Server::default().gzip().serve(listener));
    Peer {
        url,
        ask: "ask",
        reply: "message",
        lines: "a\nb",
        has_details: false,
    }
}

/// Starts our server.
async fn own() -> Peer {
    Peer {
        url: super::start().await,
        ask: "ask which?",
        reply: "reply message",
        lines: "chunks 2 0",
        has_details: true,
    }
}

fn client(url: &str, version: ProtocolVersion) -> Client {
    let transport = HttpTransport::new(url, version).unwrap();
    Client::new(transport.binding(Binding::Grpc))
}

async fn send(client: &Client, text: &str) -> Task {
    match client.send(text).await.unwrap() {
        SendMessageResponse::Task(task) => task,
        other => panic!("not a task: {other:?}"),
    }
}

/// Describes the events until a stream ends.
async fn rest(mut stream: TaskEventStream) -> Vec<String> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(match event.unwrap() {
            Event::Task(task) => format!("task {:?}", task.status.state),
            Event::Message(message) => format!("message {}", message.text()),
            Event::StatusUpdate(event) => format!("status {:?}", event.status.state),
            Event::ArtifactUpdate(event) => format!("artifact append={}", event.append),
        });
    }
    assert_eq!(stream.reconnections(), 0, "{events:?}");
    events
}

#[track_caller]
fn check_error<T: std::fmt::Debug>(result: Result<T, Error>, expected: ErrorKind) {
    match result {
        Err(Error::Agent(error)) => assert_eq!(error.kind, expected, "{error}"),
        other => panic!("not an error of the agent: {other:?}"),
    }
}

#[tokio::test]
async fn events_have_ids_by_which_a_stream_goes_on() {
    let peer = own().await;
    for version in VERSIONS {
        let transport = HttpTransport::new(&peer.url, version).unwrap();
        let transport = transport.binding(Binding::Grpc);
        let request = SendMessageRequest {
            message: Message::user("chunks 3 0"),
            ..SendMessageRequest::default()
        };
        let call = CallRequest::new(A2aRequest::SendStreamingMessage(request));
        let all = updates(&transport, call).await;
        let ids: Vec<_> = all.iter().filter_map(|update| update.sequence).collect();
        assert_eq!(ids.len(), all.len(), "{all:?}");
        assert!(ids.is_sorted(), "{ids:?}");
        for update in &all {
            let text = format!("{:?}", update.event);
            assert!(!text.contains(EVENT_ID), "{text}");
        }
        let request = SubscribeToTaskRequest {
            id: all[0].event.task_id().unwrap().clone(),
            tenant: None,
        };
        let mut call = CallRequest::new(A2aRequest::SubscribeToTask(request));
        call.context.last_event_id = Some(ids[1]);
        let rest = updates(&transport, call).await;
        let rest: Vec<_> = rest.iter().filter_map(|update| update.sequence).collect();
        assert_eq!(rest, ids[2..]);
    }
}

async fn updates(transport: &HttpTransport, call: CallRequest) -> Vec<Update> {
    let response = transport.call(call).await.unwrap();
    let ResponseBody::Stream(stream) = response.answer else {
        panic!("not a stream");
    };
    stream.map(Result::unwrap).collect().await
}

async fn check_unary(peer: Peer) {
    for version in VERSIONS {
        let client = client(&peer.url, version);
        let task = send(&client, "hello").await;
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(client.get_task(task.id.clone(), None).await.unwrap(), task);
        let bare = client.get_task(task.id.clone(), Some(0)).await.unwrap();
        assert!(bare.history.is_empty());

        let reply = client.send(peer.reply).await.unwrap();
        let SendMessageResponse::Message(message) = reply else {
            panic!("not a message: {reply:?}");
        };
        assert_eq!(message.text(), "message");

        let task = send(&client, peer.ask).await;
        assert_eq!(task.status.state, TaskState::InputRequired);
        let answered = client.send("this").task(task.id.clone()).await.unwrap();
        let SendMessageResponse::Task(answered) = answered else {
            panic!("not a task: {answered:?}");
        };
        assert_eq!(answered.id, task.id);
        assert_eq!(answered.status.state, TaskState::Completed);

        let list = client.list_tasks(ListTasksRequest::default()).await;
        match version {
            ProtocolVersion::V1_0 => assert_eq!(list.unwrap().tasks.len(), 2),
            _ => assert!(matches!(list, Err(Error::NotSupported { .. })), "{list:?}"),
        }
    }
}

async fn check_streams(peer: Peer) {
    for version in VERSIONS {
        let client = client(&peer.url, version);
        let events = rest(client.stream(peer.lines).await.unwrap()).await;
        assert!(events[0].starts_with("task "), "{events:?}");
        let chunks = ["artifact append=false", "artifact append=true"];
        let found = events.iter().filter(|it| it.starts_with("artifact"));
        assert_eq!(found.collect::<Vec<_>>(), chunks);
        assert_eq!(events.last().unwrap(), "status Completed");

        let events = rest(client.stream(peer.reply).await.unwrap()).await;
        assert_eq!(events, ["message message"]);

        let task = client.send("wait").return_immediately().await.unwrap();
        let SendMessageResponse::Task(task) = task else {
            panic!("not a task: {task:?}");
        };
        let mut subscription = client.subscribe(task.id.clone()).await.unwrap();
        let first = subscription.next().await.unwrap().unwrap();
        assert!(matches!(first, Event::Task(_)), "{first:?}");
        let canceled = client.cancel_task(task.id).await.unwrap();
        assert_eq!(canceled.status.state, TaskState::Canceled);
        let events = rest(subscription).await;
        assert_eq!(events.last().unwrap(), "status Canceled");
    }
}

async fn check_webhooks(peer: Peer) {
    for version in VERSIONS {
        let client = client(&peer.url, version);
        let task = send(&client, peer.ask).await;
        let webhook = |id: &str| TaskPushNotificationConfig {
            id: id.into(),
            task_id: task.id.clone(),
            url: "http://127.0.0.1:9/".to_owned(),
            token: Some("secret".to_owned()),
            ..TaskPushNotificationConfig::default()
        };
        for id in ["a", "b"] {
            let created = client.create_push_config(webhook(id)).await.unwrap();
            assert_eq!(created, webhook(id));
        }
        let found = client.push_config(task.id.clone(), Some("a".into())).await;
        assert_eq!(found.unwrap(), webhook("a"));
        let deleted = client.delete_push_config(task.id.clone(), "a").await;
        deleted.unwrap();
        let left = client.push_configs(task.id.clone()).await.unwrap();
        assert_eq!(left, [webhook("b")]);
    }
}

async fn check_errors(peer: Peer) {
    for version in VERSIONS {
        let client = client(&peer.url, version);
        let id = send(&client, "hello").await.id;
        check_error(
            client.get_task("other", None).await,
            ErrorKind::TaskNotFound,
        );
        let has_details = peer.has_details || version == ProtocolVersion::V1_0;
        let expected = match has_details {
            true => ErrorKind::TaskNotCancelable,
            false => ErrorKind::UnsupportedOperation,
        };
        check_error(client.cancel_task(id.clone()).await, expected);
        let more = client.send("more").task(id.clone()).await;
        check_error(more, ErrorKind::UnsupportedOperation);
        let stream = client.send("more").task(id).follow().next().await;
        check_error(stream.unwrap(), ErrorKind::UnsupportedOperation);
    }
}

#[tokio::test]
async fn unary_operations_of_the_generated_server() {
    check_unary(generated().await).await;
}

#[tokio::test]
async fn unary_operations_of_our_server() {
    check_unary(own().await).await;
}

#[tokio::test]
async fn streams_of_the_generated_server() {
    check_streams(generated().await).await;
}

#[tokio::test]
async fn streams_of_our_server() {
    check_streams(own().await).await;
}

#[tokio::test]
async fn webhooks_of_the_generated_server() {
    check_webhooks(generated().await).await;
}

#[tokio::test]
async fn webhooks_of_our_server() {
    check_webhooks(own().await).await;
}

#[tokio::test]
async fn errors_of_the_generated_server() {
    check_errors(generated().await).await;
}

#[tokio::test]
async fn errors_of_our_server() {
    check_errors(own().await).await;
}

#[tokio::test]
async fn error_of_our_server_has_the_same_message_in_every_version() {
    let url = super::start().await;
    for version in VERSIONS {
        let error = client(&url, version).get_task("other", None).await;
        assert_eq!(error.unwrap_err().into_answer().message, "Task not found");
    }
}

#[tokio::test]
async fn extended_card_of_the_generated_server_names_grpc() {
    let url = generated().await.url;
    for version in VERSIONS {
        let card = client(&url, version).extended_card().await.unwrap();
        assert_eq!(card.name, "Echo");
        assert_eq!(card.supported_interfaces[0].protocol_binding, "GRPC");
    }
}

/// Returns a card whose only interface is gRPC at this URL.
fn card(url: &str, version: ProtocolVersion) -> AgentCard {
    AgentCard {
        supported_interfaces: vec![AgentInterface::grpc(url, version)],
        ..AgentCard::new("Agent", "An agent")
    }
}

#[tokio::test]
async fn card_may_name_the_address_in_every_spelling() {
    let url = generated().await.url;
    let address = url.trim_start_matches("http://");
    for prefix in ["", "http://", "grpc://", "dns:///", "dns:"] {
        for version in VERSIONS {
            let card = card(&format!("{prefix}{address}"), version);
            let client = Client::builder(&url).card(card).connect().await.unwrap();
            send(&client, "hello").await;
            let events = rest(client.stream("hello").await.unwrap()).await;
            assert_eq!(events.last().unwrap(), "status Completed", "{prefix}");
        }
    }
}

#[tokio::test]
async fn discovered_card_of_our_server_leads_to_grpc() {
    let url = super::start().await;
    for version in VERSIONS {
        let client = Client::builder(&url)
            .binding(Binding::Grpc)
            .protocol_version(version);
        let client = client.connect().await.unwrap();
        send(&client, "hello").await;
        let events = rest(client.stream("hello").await.unwrap()).await;
        assert_eq!(events.last().unwrap(), "status Completed");
    }
}

#[tokio::test]
async fn tls_is_spoken_with_a_server_that_has_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let certified = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = certified.cert.pem();
    let key = certified.signing_key.serialize_pem();
    tokio::spawn(grpc_peer::serve_tls(listener, certificate.clone(), key));

    let url = format!("https://localhost:{port}");
    let http = || {
        let tls = Tls::default().trust(certificate.as_bytes()).unwrap();
        HttpClient::builder().tls(tls)
    };
    for version in VERSIONS {
        let transport = HttpTransport::new(&url, version).unwrap();
        let transport = transport.binding(Binding::Grpc).http(http().build());
        send(&Client::new(transport), "hello").await;
        for prefix in ["", "https://", "grpcs://", "dns:///"] {
            let card = card(&format!("{prefix}localhost:{port}"), version);
            let client = Client::builder(&url).card(card).http(http());
            send(&client.connect().await.unwrap(), "hello").await;
        }
        let distrusting = client(&url, version).send("hello").await;
        assert!(
            matches!(distrusting, Err(Error::Unreachable(_))),
            "{distrusting:?}"
        );
    }
}
