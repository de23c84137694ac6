//! Access of callers to operations and tasks.

use std::sync::Arc;

use a2a_client::{Client, Error, HttpTransport, Retries, StreamExt};
use a2a_server::{Principal, Server, Transport};
use a2a_transport::{BoxFuture, CallRequest, CallResponse};
use a2a_types::{
    AgentCard, ErrorKind, Message, Part, ProtocolVersion, SendMessageConfiguration,
    SendMessageRequest, TaskPushNotificationConfig, TaskState,
};

use tokio::sync::Notify;

use crate::operations::{ALL, CommandAgent, assert_kind, card, clients, first, last_state, task};

#[tokio::test]
async fn webhooks_are_kept() {
    for (protocol_version, client) in clients(CommandAgent::default(), ALL).await {
        let ended = task(
            client
                .send(first(protocol_version, "echo x"))
                .await
                .unwrap(),
        );
        let config = |id: &str, url: &str| TaskPushNotificationConfig {
            id: id.into(),
            task_id: ended.id.clone(),
            url: url.to_owned(),
            token: Some("token".to_owned()),
            ..TaskPushNotificationConfig::default()
        };
        let made = client
            .create_push_config(config("", "https://a.example/"))
            .await
            .unwrap();
        assert!(
            !made.id.is_empty(),
            "{protocol_version}: without an id it gets one"
        );
        client
            .create_push_config(config("two", "https://b.example/"))
            .await
            .unwrap();
        let read = client
            .push_config(ended.id.clone(), Some(made.id.clone()))
            .await
            .unwrap();
        let several = protocol_version != ProtocolVersion::V0_1;
        let expected = if several {
            "https://a.example/"
        } else {
            "https://b.example/"
        };
        assert_eq!(read.url, expected, "{protocol_version}: 0.1 has but one");
        assert_eq!(read.token.as_deref(), Some("token"));
        if several {
            assert_eq!(
                client.push_configs(ended.id.clone()).await.unwrap().len(),
                2,
                "{protocol_version}"
            );
            client
                .delete_push_config(ended.id.clone(), "two")
                .await
                .unwrap();
            client
                .delete_push_config(ended.id.clone(), "two")
                .await
                .unwrap();
            assert_eq!(
                client.push_configs(ended.id.clone()).await.unwrap().len(),
                1,
                "{protocol_version}"
            );
        } else {
            let listed = client.push_configs(ended.id.clone()).await;
            assert!(
                matches!(listed, Err(Error::NotSupported { .. })),
                "{listed:?}"
            );
        }
        let unknown = TaskPushNotificationConfig {
            task_id: "unknown".into(),
            ..config("", "https://a.example/")
        };
        assert_kind(
            client.create_push_config(unknown).await,
            ErrorKind::TaskNotFound,
        );
    }
}

#[tokio::test]
async fn requests_for_capabilities_absent_from_the_card_are_refused() {
    let mut card = AgentCard::new("Plain", "No streams, no webhooks");
    card.capabilities.streaming = None;
    let server = Server::builder(card, CommandAgent::default());
    // Without retries, because otherwise the client would poll instead of streaming.
    let client = Client::new(server.build().unwrap()).retries(Retries::none());
    assert_kind(
        client.stream("echo x").await.map(|_| ()),
        ErrorKind::UnsupportedOperation,
    );
    assert_kind(
        client.subscribe("t").await.map(|_| ()),
        ErrorKind::UnsupportedOperation,
    );
    assert_kind(
        client.push_configs("t").await,
        ErrorKind::PushNotificationNotSupported,
    );
    assert_kind(
        client.extended_card().await,
        ErrorKind::UnsupportedOperation,
    );
    let picture = SendMessageRequest {
        message: Message::user("echo x"),
        configuration: Some(SendMessageConfiguration {
            accepted_output_modes: vec!["image/png".to_owned()],
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    };
    assert_kind(
        client.send(picture).await,
        ErrorKind::ContentTypeNotSupported,
    );
}

#[tokio::test]
async fn another_callers_task_is_not_there() {
    /// Calls a server as a named principal.
    struct NamedCaller(Server, &'static str);
    impl Transport for NamedCaller {
        fn call(&self, mut call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
            call.context.principal = Principal::named(self.1);
            self.0.call(call)
        }
    }
    let server = Server::builder(card(), CommandAgent::default())
        .build()
        .unwrap();
    let alice = Client::new(NamedCaller(server.clone(), "alice"));
    let mallory = Client::new(NamedCaller(server, "mallory")).retries(Retries::none());
    let mut updates = alice.stream("wait").await.unwrap();
    let id = updates
        .next()
        .await
        .unwrap()
        .unwrap()
        .task_id()
        .unwrap()
        .clone();
    let config = TaskPushNotificationConfig {
        task_id: id.clone(),
        url: "https://m.example/".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    let message = Message {
        task_id: Some(id.clone()),
        ..Message::user("echo mine")
    };
    assert_kind(
        mallory.get_task(id.clone(), None).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.cancel_task(id.clone()).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.subscribe(id.clone()).await.map(|_| ()),
        ErrorKind::TaskNotFound,
    );
    assert_kind(mallory.send(message).await, ErrorKind::TaskNotFound);
    assert_kind(
        mallory.create_push_config(config).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.push_config(id.clone(), None).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.push_configs(id.clone()).await,
        ErrorKind::TaskNotFound,
    );
    assert_kind(
        mallory.delete_push_config(id.clone(), "x").await,
        ErrorKind::TaskNotFound,
    );
    let mine = alice.cancel_task(id).await.unwrap();
    assert_eq!(mine.status.state, TaskState::Canceled);
}

#[tokio::test]
async fn a_client_finds_its_way_by_the_card() {
    let server = Server::builder(card(), CommandAgent::default())
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    let client = Client::connect(&url).await.unwrap();
    assert_eq!(client.card().unwrap().name, "Commands");
    assert_eq!(
        task(client.send("echo found").await.unwrap()).artifacts[0].parts,
        [Part::text("found")]
    );
    let unreachable = HttpTransport::new("http://127.0.0.1:1/", ProtocolVersion::V0_2).unwrap();
    let refused = Client::new(unreachable).send("x").await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");
}

#[tokio::test]
async fn an_open_request_outlives_the_shutdown() {
    let agent = CommandAgent::default();
    let server = Server::builder(card(), agent.clone()).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let client = Client::at(&bound.url(), ProtocolVersion::V0_2).unwrap();
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let serving = tokio::spawn(bound.run(async move { stopped.notified().await }));
    let mut updates = client.stream("detach").await.unwrap();
    updates.next().await.unwrap().unwrap();
    stop.notify_one();
    agent.go_on.notify_one();
    let last = last_state(updates).await;
    assert_eq!(last, Some(TaskState::Completed));
    drop(client);
    serving.await.unwrap().unwrap();
}

/// Until 0.3 callers could not distinguish webhooks without ids: the next replaces the last.
#[tokio::test]
async fn a_webhook_without_an_id_is_replaced() {
    for (protocol_version, client) in clients(
        CommandAgent::default(),
        &[ProtocolVersion::V0_1, ProtocolVersion::V0_2],
    )
    .await
    {
        let ended = task(
            client
                .send(first(protocol_version, "echo x"))
                .await
                .unwrap(),
        );
        for url in ["https://a.example/", "https://b.example/"] {
            let config = TaskPushNotificationConfig {
                task_id: ended.id.clone(),
                url: url.to_owned(),
                ..TaskPushNotificationConfig::default()
            };
            client.create_push_config(config).await.unwrap();
        }
        let read = client.push_config(ended.id, None).await.unwrap();
        assert_eq!(read.url, "https://b.example/", "{protocol_version}");
    }
}

#[tokio::test]
async fn the_extended_card_is_for_callers_who_are_known() {
    let mut card = card();
    card.capabilities.extended_agent_card = Some(true);
    let longer = AgentCard::new("Commands", "The longer card");
    let server = Server::builder(card, CommandAgent::default())
        .extended_card(longer)
        .build()
        .unwrap();
    for protocol_version in [
        ProtocolVersion::V0_2,
        ProtocolVersion::V0_3,
        ProtocolVersion::V1_0,
    ] {
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let client = Client::at(&bound.url(), protocol_version).unwrap();
        tokio::spawn(bound.run(std::future::pending()));
        let refused = client.extended_card().await;
        let is_refusal = matches!(
            refused,
            Err(Error::Refused { status: 401, .. } | Error::Agent(_))
        );
        assert!(is_refusal, "{protocol_version}: {refused:?}");
    }
}
