//! `Debug` output of everything that may hold a secret.
//!
//! The content of messages is not such a secret: a developer who prints a message wants to see it.

use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;

use a2a_client::Client;
use a2a_client::webhook::{JwksSource, JwksUrl, JwtVerifier};
use a2a_server::{NewTask, Notification, Owner, Principal};
use a2a_transport::binding::{jsonrpc, write_call, write_reply};
use a2a_transport::http::{HttpClient, HttpTransport};
use a2a_transport::webhook::Claims;
use a2a_transport::{Binding, CallRequest, Context, TraceContext};
use a2a_types::{
    AuthenticationInfo, Base64, ListTaskPushNotificationConfigsResponse, Message, ProtocolVersion,
    Request, Response, SendMessageConfiguration, SendMessageRequest, Task,
    TaskPushNotificationConfig, v0_1, v0_2, v0_3,
};
use http::HeaderValue;
use http::header::{self, HeaderName};

use crate::agent::{keys, secret, signing_key};
use crate::log::{check as check_text, log};
use crate::secrets::{API_KEY, AUTHORIZATION, BASIC, COOKIE, TOKEN, URL_KEY};
use crate::wire::{CLOSED, hook};

#[track_caller]
fn check(value: &impl Debug) {
    check_text(&format!("{value:?}"));
    check_text(&format!("{value:#?}"));
}

fn webhook() -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        id: "one".into(),
        task_id: "t".into(),
        url: format!("https://example.com/hook?key={URL_KEY}#{URL_KEY}"),
        token: Some(TOKEN.to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Basic".to_owned(),
            credentials: Some(
                Base64::encode(format!("agent:{BASIC}"))
                    .as_text()
                    .to_owned(),
            ),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

fn request() -> SendMessageRequest {
    SendMessageRequest {
        message: Message::user("hello"),
        configuration: Some(SendMessageConfiguration {
            task_push_notification_config: Some(webhook().into()),
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}

#[test]
fn webhooks_of_every_version_hide_their_secrets() {
    check(&webhook());
    check(&request());
    check(&v0_1::PushNotificationConfig::from(webhook()));
    check(&v0_2::PushNotificationConfig::from(webhook()));
    check(&v0_3::PushNotificationConfig::from(webhook()));
    check(&v0_1::TaskPushNotificationConfig::from(webhook()));
    check(&v0_2::TaskPushNotificationConfig::from(webhook()));
    check(&v0_3::TaskPushNotificationConfig::from(webhook()));
    // A text that is not a valid URL is a secret as a whole.
    for url in [
        URL_KEY.to_owned(),
        format!("https://a:{URL_KEY}@example.com/"),
        format!("//{URL_KEY}@h/"),
    ] {
        check(&TaskPushNotificationConfig { url, ..webhook() });
    }
    let shown = format!("{:?}", webhook());
    assert!(shown.contains("https://example.com/(hidden)"), "{shown}");
    assert!(shown.contains("token: Some((hidden))"), "{shown}");
}

#[test]
fn calls_and_replies_hide_their_secrets() {
    let requests = [
        Request::CreateTaskPushNotificationConfig(webhook()),
        Request::SendMessage(request()),
    ];
    for request in requests {
        check(&CallRequest {
            request: request.clone(),
            context: Context::default(),
        });
        for (protocol_version, binding) in [
            (ProtocolVersion::V0_1, Binding::JsonRpc),
            (ProtocolVersion::V0_3, Binding::JsonRpc),
            (ProtocolVersion::V0_3, Binding::HttpJson),
            (ProtocolVersion::V1_0, Binding::JsonRpc),
            (ProtocolVersion::V1_0, Binding::HttpJson),
        ] {
            let asking = write_call(request.clone(), protocol_version, binding, &1.into()).unwrap();
            check(&asking);
            let configs = vec![webhook()];
            let list = ListTaskPushNotificationConfigsResponse {
                configs,
                ..ListTaskPushNotificationConfigsResponse::default()
            };
            let response = Response::CreateTaskPushNotificationConfig(webhook());
            check(&response);
            check(&Response::ListTaskPushNotificationConfigs(list));
            check(&write_reply(&asking.envelope, Ok(response)));
            if let (Some(body), Binding::JsonRpc) = (asking.body, binding) {
                check(&jsonrpc::read_call(
                    &body,
                    Some(protocol_version.version()),
                    &Default::default(),
                ));
            }
        }
    }
}

#[test]
fn server_values_hide_their_secrets() {
    check(&keys());
    check(&signing_key());
    check(&secret());
    check(&secret().public().unwrap());
    let owner = Owner::from(Principal::anonymous());
    let mut notification = Notification::new(owner, webhook(), ProtocolVersion::V0_1, 1);
    notification.trace = trace();
    check(&notification);
    let task = Task::submitted("t".into(), "c".into()).into();
    let mut new = NewTask::new(task, ProtocolVersion::V0_1, "us".into(), Duration::ZERO);
    new.config = Some(webhook());
    new.notify = true;
    new.trace = trace();
    check(&new);
    let mut context = Context::default();
    context.trace = trace();
    check(&context);
    check(&Claims::of(b"{}", "msg_1", &webhook().url, 1_800_000_000));
    let token = signing_key()
        .sign(&Claims::of(b"{}", "msg_1", "", 0))
        .unwrap();
    check_text(&token);
}

/// A trace whose state contains a secret that a vendor has written there.
fn trace() -> Option<TraceContext> {
    let trace = TraceContext::new([1; 16], [2; 8], true)?;
    Some(trace.with_state(&format!("vendor={TOKEN}"))).filter(|trace| trace.tracestate().is_some())
}

/// A transport that shows the agent all that a caller has.
fn transport(url: &str) -> HttpTransport {
    let mut transport = HttpTransport::new(url, ProtocolVersion::V1_0).unwrap();
    for (name, value) in [
        (header::AUTHORIZATION, format!("Bearer {AUTHORIZATION}")),
        (header::COOKIE, format!("session={COOKIE}")),
        (HeaderName::from_static("x-api-key"), API_KEY.to_owned()),
    ] {
        transport = transport.header(name, HeaderValue::from_str(&value).unwrap());
    }
    transport
}

/// The caller's own half, when all goes wrong.
#[tokio::test]
async fn client_values_and_errors_hide_their_secrets() {
    log();
    for answer in [
        "HTTP/1.1 401 Unauthorized\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 500 Oops\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        "no HTTP",
    ] {
        let (agent, mut asked) = hook(answer).await;
        for agent in [agent, CLOSED] {
            let transport = transport(&format!("http://{agent}/"));
            check(&transport);
            let config = webhook();
            let error = Client::new(transport)
                .create_push_config(config)
                .await
                .unwrap_err();
            check(&error);
            let mut said: Option<&dyn Error> = Some(&error);
            while let Some(error) = said {
                check_text(&error.to_string());
                said = error.source();
            }
        }
        let asked = asked.try_recv().unwrap();
        assert!(asked.contains(TOKEN) && asked.contains(AUTHORIZATION));
    }
    let jwks = JwksUrl::new(
        format!("https://agent.example/?key={URL_KEY}"),
        HttpClient::default(),
    );
    check(&jwks);
    check(&JwtVerifier::of(JwksSource::from(jwks)).audience(webhook().url));
    log().check();
}
