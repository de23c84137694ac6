//! Webhooks of every caller, relayed by a gateway in front of an agent of every protocol version.

use a2a_client::{Binding, Client, Error, HttpTransport};
use a2a_gateway::Gateway;
use a2a_server::{GatewayWebhooks, Server, TraceContext, WebhookPolicy};
use a2a_transport::http::{HttpClient, HttpService, ServeOptions, serve};
use a2a_types::{
    AgentCard, AuthenticationInfo, ErrorKind, ProtocolVersion, SendMessageConfiguration,
    SendMessageRequest, TaskId, TaskPushNotificationConfig,
};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::interoperability::{BINDINGS, PoemAgent, client, first, task, to};
use crate::receiver::{WebhookRequest, next, receiver};

fn local() -> WebhookPolicy {
    WebhookPolicy::default().allow_hosts(["127.0.0.1"])
}

/// A gateway to the agent at `url`, which is spoken to in one way only, and a policy for its callers.
async fn relay(url: &str, spoken: (ProtocolVersion, Binding), policy: WebhookPolicy) -> String {
    configured_relay(url, spoken, policy, |service| service).await
}

async fn configured_relay(
    url: &str,
    (protocol_version, binding): (ProtocolVersion, Binding),
    policy: WebhookPolicy,
    configure: impl FnOnce(HttpService<Gateway<HttpTransport>>) -> HttpService<Gateway<HttpTransport>>,
) -> String {
    let agent = HttpTransport::new(url, protocol_version)
        .unwrap()
        .binding(binding);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let sender = GatewayWebhooks::new(policy).unwrap();
    let gateway = Gateway::new(agent, protocol_version).relay_webhooks(&url, sender);
    let service = configure(gateway.into_service());
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    url
}

async fn agent() -> String {
    let mut card = AgentCard::new("Poem", "Streams a poem");
    card.capabilities.push_notifications = Some(true);
    let server = Server::builder(card, PoemAgent::default());
    let server = server.webhooks(local()).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

fn config(url: &str, task: &TaskId) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        task_id: task.clone(),
        url: url.to_owned(),
        token: Some("t0ken".to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some("s3cret".to_owned()),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

/// Returns the id and the state of a notification's task in the form of a version.
#[track_caller]
fn read(body: &Value, protocol_version: ProtocolVersion, pair: &str) -> (String, Option<String>) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (id, state) = match protocol_version {
        ProtocolVersion::V0_1 => {
            assert!(body["sessionId"].is_string(), "{pair}: {body}");
            (&body["id"], &body["status"]["state"])
        }
        ProtocolVersion::V1_0 => {
            let members: Vec<_> = body.as_object().unwrap().iter().collect();
            assert_eq!(members.len(), 1, "{pair}: {body}");
            let event = members[0].1;
            let id = match members[0].0.as_str() {
                "task" => &event["id"],
                _ => &event["taskId"],
            };
            (id, &event["status"]["state"])
        }
        _ => {
            assert_eq!(body["kind"], "task", "{pair}: {body}");
            (&body["id"], &body["status"]["state"])
        }
    };
    (
        text(id).unwrap_or_else(|| panic!("{pair}: {body}")),
        text(state),
    )
}

/// A caller of a gateway, with a webhook.
struct Caller {
    protocol_version: ProtocolVersion,
    client: Client,
    /// Versions and bindings of the caller and of the agent.
    pair: String,
    url: String,
    requests: UnboundedReceiver<WebhookRequest>,
}

/// A caller of every version through a gateway to every version.
async fn for_every_caller(check: impl AsyncFn(Caller)) {
    let agent = agent().await;
    for spoken in BINDINGS {
        let gateway = relay(&agent, spoken, local()).await;
        for (protocol_version, binding) in BINDINGS {
            let (url, requests) = receiver(false).await;
            check(Caller {
                protocol_version,
                client: client(&gateway, protocol_version, binding),
                pair: format!("{protocol_version} {binding} to {spoken:?}"),
                url,
                requests,
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_webhook_gets_the_form_of_its_own_version() {
    for_every_caller(
        async |Caller {
                   protocol_version,
                   client,
                   pair,
                   url,
                   mut requests,
               }| {
            let trace = TraceContext::new([7; 16], [1; 8], true).unwrap();
            let request = SendMessageRequest {
                message: first(protocol_version, "recite"),
                configuration: Some(SendMessageConfiguration {
                    task_push_notification_config: Some(Box::new(config(&url, &"".into()))),
                    ..SendMessageConfiguration::default()
                }),
                ..SendMessageRequest::default()
            };
            let sending = client.send(request).trace(Some(trace.clone()));
            let done = task(sending.await.unwrap());
            loop {
                let got = next(&mut requests).await;
                assert_eq!(got.header("authorization"), Some("Bearer s3cret"), "{pair}");
                let token = got.header("x-a2a-notification-token");
                assert_eq!(token, Some("t0ken"), "{pair}");
                let passed = got.header("traceparent").unwrap_or_default();
                assert!(passed.contains(&"07".repeat(16)), "{pair}: {passed}");
                let (id, state) = read(&got.json(), protocol_version, &pair);
                assert_eq!(id, done.id.as_str(), "{pair}");
                if let Some("completed" | "TASK_STATE_COMPLETED") = state.as_deref() {
                    break;
                }
            }
            // Without an id, the call gets the only webhook, whether or not the agent has ids.
            let only = client.push_config(done.id.clone(), None).await;
            let only = only.unwrap_or_else(|error| panic!("{pair}: {error}"));
            assert_eq!((&only.url, &only.task_id), (&url, &done.id), "{pair}");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_created_listed_and_deleted() {
    for_every_caller(
        async |Caller {
                   protocol_version,
                   client,
                   pair,
                   url,
                   mut requests,
               }| {
            let asked = task(client.send(first(protocol_version, "sing")).await.unwrap());
            let created = client.create_push_config(config(&url, &asked.id)).await;
            let created = created.unwrap_or_else(|error| panic!("{pair}: {error}"));
            assert_eq!(
                (&created.url, &created.task_id),
                (&url, &asked.id),
                "{pair}"
            );
            client.send(to(&asked, "recite")).await.unwrap();
            let (id, _) = read(&next(&mut requests).await.json(), protocol_version, &pair);
            assert_eq!(id, asked.id.as_str(), "{pair}");
            if protocol_version == ProtocolVersion::V0_1 {
                // 0.1 can neither list nor delete webhooks.
                return;
            }
            let listed = client.push_configs(asked.id.clone()).await.unwrap();
            assert_eq!(listed.len(), 1, "{pair}");
            assert_eq!(listed[0].id, created.id, "{pair}");
            client
                .delete_push_config(asked.id.clone(), created.id.clone())
                .await
                .unwrap();
            let listed = client.push_configs(asked.id.clone()).await.unwrap();
            assert_eq!(listed, [], "{pair}");
            let gone = client.push_config(asked.id.clone(), Some(created.id)).await;
            assert!(
                matches!(&gone, Err(Error::Agent(error)) if error.kind == ErrorKind::TaskNotFound),
                "{pair}: {gone:?}"
            );
        },
    )
    .await;
}

/// A notification whose receiver is silent takes nothing from the callers.
#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_does_not_answer_takes_no_room_of_the_callers_requests() {
    let agent = agent().await;
    let spoken = (ProtocolVersion::V1_0, Binding::JsonRpc);
    let of_one_request = |service: HttpService<_>| service.receive_budget(1);
    let gateway = configured_relay(&agent, spoken, local(), of_one_request).await;
    let client = client(&gateway, ProtocolVersion::V1_0, Binding::JsonRpc);
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let asked = task(
        client
            .send(first(ProtocolVersion::V1_0, "sing"))
            .await
            .unwrap(),
    );
    let created = client.create_push_config(config(&url, &asked.id)).await;
    created.unwrap();
    client.send(to(&asked, "recite")).await.unwrap();
    let (_notification, _) = silent.accept().await.unwrap();
    client.get_task(asked.id, None).await.unwrap();
}

/// The agent's own policy does not protect the gateway's network.
#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_has_a_policy_of_its_own() {
    let agent = agent().await;
    let spoken = (ProtocolVersion::V1_0, Binding::JsonRpc);
    let gateway = relay(&agent, spoken, WebhookPolicy::default()).await;
    let client = client(&gateway, ProtocolVersion::V1_0, Binding::JsonRpc);
    let asked = task(
        client
            .send(first(ProtocolVersion::V1_0, "sing"))
            .await
            .unwrap(),
    );
    for url in [
        "http://127.0.0.1:1/",
        "https://10.0.0.1/",
        "file:///etc/passwd",
    ] {
        let refused = client.create_push_config(config(url, &asked.id)).await;
        assert!(
            matches!(&refused, Err(Error::Agent(error)) if error.kind == ErrorKind::InvalidParams),
            "{url}: {refused:?}"
        );
    }
}

/// The owner may have deleted the webhook, or the gateway may have evicted it, so the agent should
/// not retry.
#[tokio::test(flavor = "multi_thread")]
async fn a_notification_for_an_unknown_url_is_gone() {
    let agent = agent().await;
    let spoken = (ProtocolVersion::V1_0, Binding::JsonRpc);
    let gateway = relay(&agent, spoken, local()).await;
    let request = Request::post(format!("{gateway}webhooks/unknown"))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from_static(b"{}")))
        .unwrap();
    let answer = HttpClient::default().fetch(request).await.unwrap();
    assert_eq!(answer.status().as_u16(), 410);
}
