//! Notifications of webhooks, over real sockets.

use crate::engine::{Worker, builders, card, task, until};
use crate::receiver::{next, receiver};
use crate::waiting::eventually;
use a2a_client::{Client, Error, HttpClient};
use a2a_server::{
    Algorithm, Challenge, Notification, Secret, Server, ServerBuilder, SigningKey, SqliteStore,
    Transport, WebhookKeys, WebhookPolicy,
};
use a2a_transport::webhook::{Jwks, hex_digest, key_id};
use a2a_transport::{CallRequest, Context};
use a2a_types::{
    AuthenticationInfo, ErrorKind, Message, ProtocolVersion, Request, SendMessageConfiguration,
    SendMessageRequest, TaskId, TaskPushNotificationConfig, TaskState,
};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

fn servers_with_webhooks(worker: &Worker) -> [Server; 2] {
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    let build = |builder: ServerBuilder| builder.webhooks(policy.clone()).build().unwrap();
    builders(worker).map(build)
}

#[tokio::test]
async fn webhooks_of_two_versions_on_one_task_get_their_own_form() {
    let worker = Worker::default();
    for server in servers_with_webhooks(&worker) {
        let (url, mut requests) = receiver(false).await;
        let client = Client::new(server.clone());
        let asked = task(client.send("ask which").await.unwrap());
        for (name, protocol_version) in [
            ("old", ProtocolVersion::V0_1),
            ("new", ProtocolVersion::V1_0),
        ] {
            let config = TaskPushNotificationConfig {
                id: name.into(),
                task_id: asked.id.clone(),
                url: format!("{url}{name}"),
                token: Some(format!("token of {name}").replace(' ', "-")),
                authentication: Some(AuthenticationInfo {
                    scheme: "Bearer".to_owned(),
                    credentials: Some("secret".to_owned()),
                }),
                ..TaskPushNotificationConfig::default()
            };
            let request = Request::CreateTaskPushNotificationConfig(config);
            let context = Context::new(protocol_version);
            server.call(CallRequest { request, context }).await.unwrap();
        }
        let answer = Message {
            task_id: Some(asked.id.clone()),
            ..Message::user("echo this")
        };
        client.send(answer).await.unwrap();
        let (mut old, mut new) = (Vec::new(), Vec::new());
        while old.len() < 3 || new.len() < 3 {
            let got = next(&mut requests).await;
            assert_eq!(got.header("authorization"), Some("Bearer secret"));
            let name = got.target.trim_start_matches('/').to_owned();
            let token = format!("token-of-{name}");
            for header in ["x-a2a-notification-token", "a2a-notification-token"] {
                assert_eq!(got.header(header), Some(token.as_str()));
            }
            assert!(
                got.header("webhook-id")
                    .is_some_and(|id| id.starts_with("msg_"))
            );
            assert!(got.header("webhook-timestamp").is_some());
            match name.as_str() {
                "old" => old.push(got),
                _ => new.push(got),
            }
        }
        for got in &old {
            assert_eq!(got.header("content-type"), Some("application/json"));
            assert_eq!(
                got.json()["sessionId"],
                *asked.context_id.as_ref().unwrap().as_str()
            );
        }
        assert_eq!(old[2].json()["status"]["state"], "completed");
        for got in &new {
            assert_eq!(got.header("content-type"), Some("application/a2a+json"));
            assert_eq!(got.json().as_object().unwrap().len(), 1);
        }
        let last = &new[2].json()["statusUpdate"];
        assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED");
    }
}

#[tokio::test]
async fn a_webhook_of_the_message_receives_every_event() {
    for server in servers_with_webhooks(&Worker::default()) {
        let (url, mut requests) = receiver(false).await;
        let client = Client::new(server);
        let config = TaskPushNotificationConfig {
            url,
            ..TaskPushNotificationConfig::default()
        };
        let request = SendMessageRequest {
            message: Message::user("echo this"),
            configuration: Some(SendMessageConfiguration {
                task_push_notification_config: Some(config.into()),
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::default()
        };
        client.send(request).await.unwrap();
        assert!(next(&mut requests).await.json()["artifactUpdate"].is_object());
        assert!(next(&mut requests).await.json()["statusUpdate"].is_object());
    }
}

/// A webhook that says it is gone is deleted, but not its successor, which gets the notification instead.
#[tokio::test]
async fn a_gone_webhook_is_deleted_but_not_its_replacement() {
    for server in servers_with_webhooks(&Worker::default()) {
        let client = Client::new(server);
        let asked = task(client.send("ask which").await.unwrap());
        let old = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let config = |url: String| TaskPushNotificationConfig {
            id: "mine".into(),
            task_id: asked.id.clone(),
            url,
            ..TaskPushNotificationConfig::default()
        };
        let at_old = config(format!("http://{}/", old.local_addr().unwrap()));
        client.create_push_config(at_old).await.unwrap();
        let answer = Message {
            task_id: Some(asked.id.clone()),
            ..Message::user("echo this")
        };
        client.send(answer).await.unwrap();
        let (mut called, _) = old.accept().await.unwrap();

        let (url, mut requests) = receiver(false).await;
        client
            .create_push_config(config(url.clone()))
            .await
            .unwrap();
        let gone = b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        called.write_all(gone).await.unwrap();
        loop {
            let body = next(&mut requests).await.json();
            if body["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED" {
                break;
            }
        }
        let kept = client.push_configs(asked.id).await.unwrap();
        let urls: Vec<_> = kept.iter().map(|config| &config.url).collect();
        assert_eq!(urls, [&url]);
    }
}

/// A search for due notifications finds no more than one of each webhook.
#[tokio::test]
async fn the_next_notification_is_due_after_the_previous_delivery() {
    let file = crate::stores::new_file();
    let builder = Server::builder(card(), Worker::default());
    let builder = builder.store(SqliteStore::open(&file).unwrap());
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    let client = Client::new(builder.webhooks(policy).build().unwrap());
    let asked = task(client.send("ask which").await.unwrap());
    let hook = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = TaskPushNotificationConfig {
        task_id: asked.id.clone(),
        url: format!("http://{}/", hook.local_addr().unwrap()),
        ..TaskPushNotificationConfig::default()
    };
    client.create_push_config(config).await.unwrap();
    let answer = Message {
        task_id: Some(asked.id),
        ..Message::user("echo this")
    };
    client.send(answer).await.unwrap();
    let tables = rusqlite::Connection::open(&file).unwrap();
    let left = || {
        let sql = "select count(*), count(*) filter (where next_at < ?1) from push_outbox";
        let counts = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let counts: (i64, i64) = tables.query_row(sql, [i64::MAX], counts).unwrap();
        counts
    };
    let (mut waiting, due) = left();
    assert!(waiting >= 2 && due == 1, "{due} of {waiting}");
    while waiting > 0 {
        let (mut called, _) = hook.accept().await.unwrap();
        assert_eq!(left(), (waiting, 1));
        let taken = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        called.write_all(taken).await.unwrap();
        waiting -= 1;
    }
}

#[tokio::test]
async fn a_webhook_that_is_not_allowed_is_refused_and_says_why() {
    for builder in builders(&Worker::default()) {
        let client = Client::new(builder.build().unwrap());
        let asked = task(client.send("ask which").await.unwrap());
        for (url, reason) in [
            ("http://example.com/", "https"),
            ("https://127.0.0.1/", "address"),
            ("https://169.254.169.254/latest/meta-data/", "address"),
            ("https://[::ffff:10.0.0.1]/", "address"),
        ] {
            let config = TaskPushNotificationConfig {
                task_id: asked.id.clone(),
                url: url.to_owned(),
                ..TaskPushNotificationConfig::default()
            };
            match client.create_push_config(config).await {
                Err(Error::Agent(error)) => {
                    assert_eq!(error.kind, ErrorKind::InvalidParams, "{url}");
                    assert!(error.message.contains(reason), "{url}: {error}");
                }
                other => panic!("{url}: {other:?}"),
            }
        }
        let kept = until(&client, &asked.id, TaskState::InputRequired).await;
        assert_eq!(client.push_configs(kept.id).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_webhook_that_fails_the_challenge_is_refused() {
    for repeats in [true, false] {
        let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
        for builder in builders(&Worker::default()) {
            let (url, mut requests) = receiver(repeats).await;
            let builder = builder.webhooks(policy.clone());
            let server = builder
                .challenge_webhooks(Challenge::Always)
                .build()
                .unwrap();
            let client = Client::new(server);
            let asked = task(client.send("ask which").await.unwrap());
            let config = TaskPushNotificationConfig {
                task_id: asked.id,
                url,
                ..TaskPushNotificationConfig::default()
            };
            let registered = client.create_push_config(config).await;
            assert_eq!(registered.is_ok(), repeats, "{registered:?}");
            assert!(
                next(&mut requests)
                    .await
                    .target
                    .contains("validationToken=")
            );
        }
    }
}

/// Signatures are verified by the published keys, and credentials of the webhook's own stand before a token
/// of ours.
#[tokio::test]
async fn notifications_are_signed() {
    let keys = WebhookKeys::new(SigningKey::generate(Algorithm::Es256).unwrap());
    let secret = Secret::shared().unwrap();
    let keys = keys.secret(secret.clone());
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    for builder in builders(&Worker::default()) {
        let builder = builder.webhooks(policy.clone()).sign_webhooks(keys.clone());
        let server = builder.build().unwrap();
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let jwks = format!("{}.well-known/jwks.json", bound.url());
        tokio::spawn(bound.run(std::future::pending()));
        let published = HttpClient::default().get(&jwks, &Default::default()).await;
        let published = Jwks::read(&published.unwrap().body).unwrap();
        for own in [None, Some("secret".to_owned())] {
            let (url, mut requests) = receiver(false).await;
            let authentication = own.clone().map(|credentials| AuthenticationInfo {
                scheme: "Bearer".to_owned(),
                credentials: Some(credentials),
            });
            let config = TaskPushNotificationConfig {
                url: url.clone(),
                authentication,
                ..TaskPushNotificationConfig::default()
            };
            let request = SendMessageRequest {
                message: Message::user("echo this"),
                configuration: Some(SendMessageConfiguration {
                    task_push_notification_config: Some(config.into()),
                    ..SendMessageConfiguration::default()
                }),
                ..SendMessageRequest::default()
            };
            Client::new(server.clone()).send(request).await.unwrap();
            let got = next(&mut requests).await;
            let id = got.header("webhook-id").unwrap();
            let time: u64 = got.header("webhook-timestamp").unwrap().parse().unwrap();
            let signatures = got.header("webhook-signature").unwrap();
            assert!(secret.verify(id, time, got.body(), signatures, time));
            let token = got.header("authorization").unwrap().strip_prefix("Bearer ");
            let token = token.unwrap();
            if let Some(own) = own {
                assert_eq!(token, own);
                continue;
            }
            let kid = key_id(token).unwrap();
            let claims = published
                .find(kid.as_deref())
                .unwrap()
                .verify(token, time)
                .unwrap();
            assert_eq!(claims.aud, [url]);
            assert_eq!(claims.jti.as_deref(), Some(id));
            assert_eq!(claims.request_body_sha256, Some(hex_digest(got.body())));
        }
    }
}

#[tokio::test]
async fn dead_letters_are_redelivered_on_request() {
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    for builder in builders(&Worker::default()) {
        let builder = builder.webhooks(policy.clone()).retry_webhooks([]);
        let server = builder.build().unwrap();
        let (url, mut requests) = receiver(false).await;
        // No server listens there.
        let nowhere = "http://127.0.0.1:1/";
        let client = Client::new(server.clone());
        let config = |url: &str, task: &TaskId| TaskPushNotificationConfig {
            id: "mine".into(),
            task_id: task.clone(),
            url: url.to_owned(),
            ..TaskPushNotificationConfig::default()
        };
        let sending = client.send("echo this");
        let done = task(
            sending
                .webhook(config(nowhere, &TaskId::default()))
                .await
                .unwrap(),
        );
        let dead = dead_letters(&server, 2).await;
        assert_eq!(server.dead_letters(1).await.unwrap().len(), 1);
        client
            .create_push_config(config(&url, &done.id))
            .await
            .unwrap();
        server.discard(&dead[0]).await.unwrap();
        server.redeliver(&dead[1]).await.unwrap();
        let last = next(&mut requests).await.json();
        let state = &last["statusUpdate"]["status"]["state"];
        assert_eq!(*state, "TASK_STATE_COMPLETED");
        dead_letters(&server, 0).await;
    }
}

/// Returns the dead letters once there are `count`.
async fn dead_letters(server: &Server, count: usize) -> Vec<Notification> {
    eventually(async || {
        let dead = server.dead_letters(10).await.unwrap();
        (dead.len() == count).then_some(dead)
    })
    .await
}
