//! Deliveries that fail, in every way.

use crate::agent::{Scheme, as_owner, builder, messages, rpc, serve, task_of};
use crate::log::log;
use crate::secrets::{ANSWER, TOKEN};
use crate::webhook_registration::check_owner;
use crate::wire::{CLOSED, hook};

/// Sends a message whose webhook is at `base`, in each protocol version, and waits until the log says this
/// of its task.
async fn check(base: &str, says: &str) {
    log();
    let server = builder().build().unwrap();
    let address = serve(&server).await;
    for scheme in [Scheme::Bearer, Scheme::Basic, Scheme::Signed] {
        for (method, params) in messages("echo", base, scheme) {
            let sent = as_owner(address, &rpc(method, &params)).await;
            check_owner(&sent);
            let task = format!("task={}", task_of(&sent));
            log().until(&[&task, says]).await;
        }
    }
    log().check();
}

/// Unexpected answers, each with a secret of the receiver.
#[tokio::test]
async fn answer_of_a_receiver_is_not_revealed() {
    for (head, says) in [
        ("HTTP/1.1 500 #!", "status 500"),
        (
            "HTTP/1.1 401 #!\r\nwww-authenticate: Bearer realm=\"#!\"",
            "status 401",
        ),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/#!",
            "status 302",
        ),
        ("HTTP/1.1 429 #!\r\nretry-after: #!", "status 429"),
        ("HTTP/1.1 410 Gone\r\nx-reason: #!", "a webhook is gone"),
        ("HTTP/1.1 200 #!\r\nset-cookie: #!", "Delivered"),
        ("#! no HTTP", "not answer by HTTP"),
        ("HTTP/1.1 200 OK\r\n#!", "not answer by HTTP"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: #!",
            "not answer by HTTP",
        ),
    ] {
        let length = ANSWER.len();
        let answer = match says {
            "not answer by HTTP" => format!("{head}\r\n\r\n"),
            _ => format!("{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n#!"),
        };
        let (hook, mut requests) = hook(answer.replace("#!", ANSWER)).await;
        check(&format!("http://{hook}/"), says).await;
        assert!(requests.try_recv().is_ok(), "it was sent something");
    }
}

#[tokio::test]
async fn unreachable_receiver_leaks_no_secret() {
    check(&format!("http://{CLOSED}/"), "could not be connected to").await;
    let (no_tls, _) = hook(ANSWER).await;
    check(&format!("https://{no_tls}/"), "by TLS").await;
}

/// A receiver that refuses every notification, until it is given up.
#[tokio::test]
async fn undelivered_notification_leaks_no_secret() {
    log();
    let answer = format!("HTTP/1.1 503 {ANSWER}\r\ncontent-length: 0\r\n\r\n");
    let (hook, _requests) = hook(answer).await;
    let at_once = builder().retry_webhooks([std::time::Duration::ZERO]);
    let server = at_once.build().unwrap();
    let address = serve(&server).await;
    let [(method, params), ..] = messages("echo", &format!("http://{hook}/"), Scheme::Bearer);
    let sent = as_owner(address, &rpc(method, &params)).await;
    let task = format!("task={}", task_of(&sent));
    log().until(&[&task, "was given up"]).await;
    log().until(&[&task, "DeadLetter"]).await;
    let letters = server.dead_letters(10).await.unwrap();
    assert_eq!(letters[0].config.token.as_deref(), Some(TOKEN));
    crate::log::check(&format!("{letters:?}"));
    log().check();
}
