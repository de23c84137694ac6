//! The exchange that the documentation of 0.2 prints in §9.5, and the same in 0.1, where a webhook has to
//! agree first: registered by the documented request, notified by the documented POST.

use std::time::Duration;

use a2a_client::HttpClient;
use a2a_client::webhook::{Jwks, JwksSource, JwtVerifier, Notification, ReceiverBuilder, Secret};
use a2a_server::{
    Algorithm, Challenge, Failure, Server, SigningKey, Turn, WebhookKeys, WebhookPolicy,
};
use a2a_transport::webhook::hex_digest;
use a2a_types::{AgentCard, Event, Part, ProtocolVersion, TaskState};
use http::Method;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::signatures::receiver::{ReceiverServer, SignedRequest};

/// The token that the documentation registers.
const TOKEN: &str = "secure-client-token-for-task-aaa";

/// Step 1 of the documentation, its comments left out, with this webhook in place of
/// `https://client.example.com`.
fn documented(url: &str) -> Value {
    let request = r#"{
      "jsonrpc": "2.0",
      "id": "req-005",
      "method": "message/send",
      "params": {
        "message": {
          "role": "user",
          "parts": [
            {
              "kind": "text",
              "text": "Generate the Q1 sales report. This usually takes a while. Notify me when it's ready."
            }
          ],
          "messageId": "6dbc13b5-bd57-4c2b-b503-24e381b6c8d6"
        },
        "configuration": {
          "pushNotificationConfig": {
            "url": "https://client.example.com/webhook/a2a-notifications",
            "token": "secure-client-token-for-task-aaa",
            "authentication": {
              "schemes": ["Bearer"]
            }
          }
        }
      }
    }"#;
    serde_json::from_str(&request.replace("https://client.example.com", url)).unwrap()
}

/// An agent that writes reports, and asks for which quarter unless the message names it.
async fn reporter(keys: WebhookKeys) -> String {
    let agent = |turn: Turn| async move {
        if !turn.text().contains("Q1") {
            return Ok(turn.ask("Of which quarter?").await?);
        }
        turn.working("counting").await?;
        turn.artifact("report")
            .text("It went well.")
            .finish()
            .await?;
        Ok::<(), Failure>(())
    };
    let mut card = AgentCard::new("Reporter", "Writes reports");
    card.capabilities.push_notifications = Some(true);
    let server = Server::builder(card, agent)
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .challenge_webhooks(Challenge::OfOldCallers)
        .sign_webhooks(keys)
        .build()
        .unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

/// An agent, and a receiver that checks all that can be checked of it.
async fn both() -> (String, ReceiverServer) {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let secret = Secret::shared().unwrap();
    let agent = reporter(WebhookKeys::new(key).secret(secret.clone())).await;
    let jwks = JwksSource::at(format!("{agent}.well-known/jwks.json"));
    let configure = |url: &str, builder: ReceiverBuilder| {
        let audience = format!("{url}/webhook/a2a-notifications");
        builder
            .challenge()
            .token(TOKEN)
            .secret(secret)
            .tokens(JwtVerifier::of(jwks).audience(audience))
    };
    (agent, ReceiverServer::new(configure).await)
}

/// Asks by JSON-RPC; the result.
async fn ask(agent: &str, request: &Value) -> Value {
    let host = agent.strip_prefix("http://").unwrap().trim_end_matches('/');
    let stream = TokioIo::new(TcpStream::connect(host).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::post("/")
        .header("host", host)
        .header("content-type", "application/json")
        .body(Full::new(bytes::Bytes::from(request.to_string())));
    let answer = sender.send_request(request.unwrap()).await.unwrap();
    let answer = answer.into_body().collect().await.unwrap().to_bytes();
    let mut answer: Value = serde_json::from_slice(&answer).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].take()
}

/// The next notification that the receiver takes.
async fn next(receiver: &mut ReceiverServer) -> Notification {
    let notification =
        tokio::time::timeout(Duration::from_secs(20), receiver.notifications.recv()).await;
    let requests = receiver.requests();
    notification
        .unwrap_or_else(|_| panic!("the receiver takes something: {requests:?}"))
        .unwrap()
}

/// Returns the notifications until the task has ended, with their requests.
async fn all(receiver: &mut ReceiverServer) -> Vec<Notification> {
    let mut all = Vec::new();
    loop {
        let notification = next(receiver).await;
        let status = notification.event.as_ref().and_then(Event::status).cloned();
        all.push(notification);
        if status.is_some_and(|status| status.state == TaskState::Completed) {
            return all;
        }
    }
}

/// Step 3: the documented headers, and a token of the agent's for exactly this body.
async fn check_posts(agent: &str, posts: &[SignedRequest]) {
    let jwks = format!("{agent}.well-known/jwks.json");
    let jwks = HttpClient::default().get(&jwks, &Default::default()).await;
    let jwks = Jwks::read(&jwks.unwrap().body).unwrap();
    for got in posts {
        assert_eq!((&got.method, got.status), (&Method::POST, 200), "{got:?}");
        assert_eq!(got.target, "/webhook/a2a-notifications");
        assert_eq!(got.header("content-type"), "application/json");
        assert_eq!(got.header("x-a2a-notification-token"), TOKEN);
        let time = got.header("webhook-timestamp").parse().unwrap();
        let key = jwks.find(Some(&got.key())).expect("the key is published");
        let token = got.header("authorization").strip_prefix("Bearer ").unwrap();
        let claims = key.verify(token, time).unwrap();
        assert_eq!(claims.request_body_sha256, Some(hex_digest(&got.body)));
        assert_eq!(claims.jti.as_deref(), Some(got.header("webhook-id")));
    }
}

/// The last notification is of the whole task, done.
#[track_caller]
fn check_report(
    notifications: &[Notification],
    protocol_version: ProtocolVersion,
    task: &Value,
    context: &Value,
) {
    for notification in notifications {
        assert_eq!(notification.protocol_version, protocol_version);
        assert_eq!(
            notification.task.as_ref().map(|id| id.as_str()),
            task.as_str()
        );
        assert!(
            notification.delivery.is_some() && notification.full_task().is_some(),
            "{notification:?}"
        );
    }
    let last = notifications.last().unwrap().full_task().unwrap();
    assert_eq!(
        last.context_id.as_ref().map(|id| id.as_str()),
        context.as_str()
    );
    assert_eq!(last.status.state, TaskState::Completed);
    assert!(last.status.timestamp.is_some());
    let [artifact] = last.artifacts.as_slice() else {
        panic!("one artifact: {last:?}")
    };
    assert_eq!(artifact.parts, [Part::text("It went well.")]);
}

#[tokio::test]
async fn documented_exchange_succeeds() {
    let (agent, mut receiver) = both().await;
    let task = ask(&agent, &documented(&receiver.url)).await;
    // Step 2: the agent has the task.
    assert_eq!(task["kind"], "task");
    let notifications = all(&mut receiver).await;
    check_report(
        &notifications,
        ProtocolVersion::V0_3,
        &task["id"],
        &task["contextId"],
    );
    let posts = receiver.requests();
    check_posts(&agent, &posts).await;
    // As printed: the task itself is the body.
    let body: Value = serde_json::from_slice(&posts.last().unwrap().body).unwrap();
    assert_eq!((&body["kind"], &body["id"]), (&json!("task"), &task["id"]));
    assert_eq!(body["status"]["state"], "completed");
}

/// The same in 0.1, registered with the message or before it: the webhook agrees first.
#[tokio::test]
async fn documented_exchange_succeeds_in_0_1() {
    for with_message in [true, false] {
        let (agent, mut receiver) = both().await;
        let config =
            documented(&receiver.url)["params"]["configuration"]["pushNotificationConfig"].take();
        let send = |text: &str, config: &Value| {
            let message = json!({"role": "user", "parts": [{"type": "text", "text": text}]});
            let mut params = json!({"id": "T", "sessionId": "S", "message": message});
            if !config.is_null() {
                params["pushNotification"] = config.clone();
            }
            json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": params})
        };
        if with_message {
            ask(&agent, &send("The Q1 report.", &config)).await;
        } else {
            ask(&agent, &send("A report.", &Value::Null)).await;
            let params = json!({"id": "T", "pushNotificationConfig": config});
            let method = "tasks/pushNotification/set";
            let set = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
            let kept = ask(&agent, &set).await;
            assert_eq!(kept["pushNotificationConfig"]["url"], config["url"]);
            ask(&agent, &send("Of Q1.", &Value::Null)).await;
        }
        let notifications = all(&mut receiver).await;
        check_report(
            &notifications,
            ProtocolVersion::V0_1,
            &json!("T"),
            &json!("S"),
        );
        let requests = receiver.requests();
        let [challenge, posts @ ..] = requests.as_slice() else {
            panic!("requests: {requests:?}")
        };
        assert_eq!((&challenge.method, challenge.status), (&Method::GET, 200));
        let (path, token) = challenge.target.split_once("?validationToken=").unwrap();
        assert_eq!(path, "/webhook/a2a-notifications");
        assert!(!token.is_empty());
        check_posts(&agent, posts).await;
        let body: Value = serde_json::from_slice(&posts.last().unwrap().body).unwrap();
        assert_eq!(
            (&body["id"], &body["sessionId"]),
            (&json!("T"), &json!("S"))
        );
    }
}

/// One task, two callers, each registered by its own method: each webhook gets its own form.
#[tokio::test]
async fn webhooks_of_0_1_and_1_0_on_one_task_get_their_own_form() {
    let key = SigningKey::generate(Algorithm::EdDsa).unwrap();
    let agent = reporter(WebhookKeys::new(key)).await;
    let jwks = JwksSource::at(format!("{agent}.well-known/jwks.json"));
    let tokens = JwtVerifier::of(jwks);
    let receiver = |name: &'static str| {
        let tokens = tokens.clone();
        ReceiverServer::new(move |url, builder| {
            let tokens = tokens.audience(format!("{url}/{name}"));
            builder.challenge().token(name).tokens(tokens)
        })
    };
    let (mut old, mut new) = (receiver("old").await, receiver("new").await);
    let call = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let send = |text: &str| {
        let message = json!({"role": "user", "parts": [{"type": "text", "text": text}]});
        call(
            "tasks/send",
            json!({"id": "T", "sessionId": "S", "message": message}),
        )
    };
    ask(&agent, &send("A report.")).await;
    let config = json!({"url": format!("{}/old", old.url), "token": "old"});
    let config = json!({"id": "T", "pushNotificationConfig": config});
    ask(&agent, &call("tasks/pushNotification/set", config)).await;
    let config = json!({"taskId": "T", "url": format!("{}/new", new.url), "token": "new"});
    ask(&agent, &call("CreateTaskPushNotificationConfig", config)).await;
    ask(&agent, &send("Of Q1.")).await;

    let (to_old, to_new) = (all(&mut old).await, all(&mut new).await);
    check_report(&to_old, ProtocolVersion::V0_1, &json!("T"), &json!("S"));
    for notification in &to_new {
        assert_eq!(notification.protocol_version, ProtocolVersion::V1_0);
        assert_eq!(notification.task, Some("T".into()));
        assert!(
            notification.full_task().is_none(),
            "one event each: {notification:?}"
        );
    }
    let is_artifact =
        |notification: &Notification| matches!(notification.event, Some(Event::ArtifactUpdate(_)));
    assert_eq!(
        to_new
            .iter()
            .filter(|notification| is_artifact(notification))
            .count(),
        1
    );
    // Only a webhook that was registered in 0.1 is asked whether it agrees.
    let challenges = |receiver: &ReceiverServer| {
        let requests = receiver.requests();
        requests
            .iter()
            .filter(|got| got.method == Method::GET)
            .count()
    };
    assert_eq!((challenges(&old), challenges(&new)), (1, 0));
    for (receiver, media_type) in [(&old, "application/json"), (&new, "application/a2a+json")] {
        for got in receiver
            .requests()
            .iter()
            .filter(|got| got.method == Method::POST)
        {
            assert_eq!((got.header("content-type"), got.status), (media_type, 200));
        }
    }
}
