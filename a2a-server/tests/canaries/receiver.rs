//! The receiving end: what it is shown, and what it has to keep.

use std::net::SocketAddr;

use a2a_client::webhook::{
    BoxError, Jwks, JwksSource, JwtVerifier, Notification, Receiver, ReceiverBuilder,
};
use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::webhook::Claims;
use serde_json::json;
use tokio::net::TcpListener;

use crate::agent::{secret, signing_key};
use crate::log::{check, log};
use crate::secrets::{BEARER, CONTENT, RECEIVER, TOKEN, URL_KEY};
use crate::wire::{RawAnswer, RawRequest};

async fn serving(configure: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> SocketAddr {
    log();
    let handler = |_: Notification| std::future::ready(Ok::<_, BoxError>(()));
    let receiver = configure(Receiver::builder(handler))
        .challenge()
        .limit(4096);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = receiver.build().unwrap();
    tokio::spawn(serve(
        listener,
        receiver,
        ServeOptions::default(),
        std::future::pending(),
    ));
    address
}

fn body() -> String {
    let message = json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": CONTENT}]});
    let status = json!({"state": "completed", "message": message});
    json!({"kind": "task", "id": "t", "contextId": "c", "status": status}).to_string()
}

fn post(body: impl Into<Vec<u8>>) -> RawRequest {
    RawRequest::post(&format!("/hook?key={URL_KEY}"), body)
}

/// Checks that the answer contains no secret.
#[track_caller]
fn check_answer(answer: &RawAnswer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text);
    check(&answer.text);
}

#[tokio::test]
async fn missing_or_wrong_credentials_are_refused_without_a_leak() {
    let address = serving(|builder| {
        builder
            .token(RECEIVER)
            .authorization(format!("Bearer {RECEIVER}"))
            .secret(secret())
    })
    .await;
    let time = "1800000000";
    let signed = |ask: RawRequest| {
        ask.with("webhook-id", "msg_1")
            .with("webhook-timestamp", time)
            .with("webhook-signature", format!("v1,{TOKEN}"))
    };
    let authorized = |ask: RawRequest| ask.with("authorization", format!("Bearer {RECEIVER}"));
    let shown = |ask: RawRequest, token: &str| ask.with("x-a2a-notification-token", token);
    for ask in [
        post(body()),
        shown(post(body()), TOKEN),
        shown(post(body()), &format!("{RECEIVER}{TOKEN}")),
        shown(post(body()), RECEIVER).with("authorization", format!("Bearer {BEARER}")),
        shown(authorized(post(body())), RECEIVER),
        signed(shown(authorized(post(body())), RECEIVER)),
        signed(shown(authorized(post(&body()[..99])), RECEIVER)),
    ] {
        check_answer(&ask.to(address).await, 401);
    }
    log().check();
}

#[tokio::test]
async fn invalid_tokens_are_refused_without_a_leak() {
    let key = signing_key();
    let tokens = JwtVerifier::of(JwksSource::from(Jwks::of([&key])))
        .audience(format!("http://h/?key={URL_KEY}"));
    let address = serving(|builder| builder.tokens(tokens)).await;
    let elsewhere = Claims::of(body().as_bytes(), BEARER, TOKEN, 1_800_000_000);
    for token in [
        BEARER.to_owned(),
        format!("{TOKEN}.{BEARER}.{RECEIVER}"),
        key.sign(&elsewhere).unwrap(),
    ] {
        let ask = post(body()).with("authorization", format!("Bearer {token}"));
        check_answer(&ask.to(address).await, 401);
        let line = ask.with("x-a2a-notification-token", TOKEN);
        check_answer(&line.to(address).await, 401);
    }
    log().check();
}

#[tokio::test]
async fn invalid_bodies_leak_no_secret() {
    let address = serving(|builder| builder).await;
    check_answer(&post(body()).to(address).await, 200);
    for end in 0..body().len() {
        check_answer(&post(&body()[..end]).to(address).await, 400);
    }
    for bad in [
        format!("\"{CONTENT}\""),
        format!("[\"{CONTENT}\"]"),
        format!("{{\"a\":{CONTENT}}}"),
        format!("{{\"a\":\"\\x{CONTENT}\"}}"),
        CONTENT.to_owned(),
    ] {
        check_answer(&post(bad).to(address).await, 400);
    }
    // A body of no protocol version is a notification all the same.
    for odd in [
        json!({"kind": CONTENT, "id": "t"}),
        json!({"id": "t", "status": CONTENT}),
        json!({"statusUpdate": {"taskId": "t", "status": {"state": CONTENT}}}),
    ] {
        check_answer(&post(odd.to_string()).to(address).await, 200);
    }
    check_answer(&post(CONTENT.repeat(1000)).to(address).await, 413);
    let challenge = format!("/?validationToken={TOKEN}&validationToken={TOKEN}");
    check_answer(&RawRequest::get(&challenge).to(address).await, 400);
    check_answer(&post(body()).method("PUT").to(address).await, 405);
    log().check();
}
