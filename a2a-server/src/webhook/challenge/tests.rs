//! Receivers that pass the challenge, and receivers that fail it.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;

use super::*;
use crate::webhook::fixture::{Fixture, read_request};
use crate::webhook::url_policy::WebhookPolicy;

/// A receiver that answers with this text, with the received token in place of `#`.
fn receiver(answer: &'static str) -> Fixture {
    Fixture::new(move |mut wire| async move {
        let request = read_request(&mut wire).await;
        let line = request.lines().next().unwrap_or_default();
        let (_, token) = line.rsplit_once("validationToken=").unwrap();
        let token = token.strip_suffix(" HTTP/1.1").unwrap();
        assert!(line.starts_with("GET /hook?a=b&validationToken="), "{line}");
        assert_eq!(token.len(), 32);
        let _ = wire.write_all(answer.replace('#', token).as_bytes()).await;
    })
}

async fn check(fixture: Fixture, url: &str, expected: Result<(), Refusal>) {
    let fixture = Arc::new(fixture);
    let sender = fixture.sender(WebhookPolicy::default().allow_hosts(["*.test"]));
    assert_eq!(sender.challenge(url).await, expected);
}

#[tokio::test]
async fn only_a_receiver_that_repeats_the_token_passes() {
    let agree = [
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n#",
        "HTTP/1.1 200 X\r\ncontent-type: Text/Plain; charset=utf-8\r\n\r\n#\r\n",
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\ncontent-length: 34\r\n\r\n #\n",
    ];
    for answer in agree {
        check(receiver(answer), "http://hooks.test/hook?a=b", Ok(())).await;
    }
    let disagree = [
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n",
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n\"#\"",
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n##",
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\nother",
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\ncontent-length: 33\r\n\r\n#",
        "HTTP/1.1 200 X\r\ncontent-type: text/html\r\n\r\n#",
        "HTTP/1.1 200 X\r\ncontent-type: application/json\r\n\r\n#",
        "HTTP/1.1 200 X\r\n\r\n#",
        "HTTP/1.1 201 X\r\ncontent-type: text/plain\r\n\r\n#",
        "HTTP/1.1 404 X\r\ncontent-type: text/plain\r\n\r\n#",
        "HTTP/1.1 302 X\r\ncontent-type: text/plain\r\nlocation: /#\r\n\r\n#",
        "",
    ];
    for answer in disagree {
        let refused = Err(Refusal::Unverified);
        check(receiver(answer), "http://hooks.test/hook?a=b", refused).await;
    }
    let long = format!(
        "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n#{}",
        " ".repeat(MAX_ANSWER)
    );
    let fixture = receiver(long.leak());
    check(
        fixture,
        "http://hooks.test/hook?a=b",
        Err(Refusal::Unverified),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_url_is_not_challenged() {
    let private = || Fixture::answering("").names(|_| vec!["10.0.0.1".parse().unwrap()]);
    check(
        private(),
        "https://hooks.example.com/",
        Err(Refusal::Resolves),
    )
    .await;
    check(
        private(),
        "https://10.0.0.1/",
        Err(Refusal::Address("private")),
    )
    .await;
    check(private(), "http://hooks.example.com/", Err(Refusal::Scheme)).await;
    let hole = Fixture::answering("").hole("93.184.216.34");
    let begin = Instant::now();
    check(hole, "http://hooks.test/", Err(Refusal::Unverified)).await;
    assert!(begin.elapsed() <= MAX_ATTEMPT_TIME);
}
