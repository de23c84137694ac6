//! Our client against servers that break, stall or never stop: a typed error, in bounded time.

use std::time::Duration;

use a2a_transport::http::{HttpClient, HttpTransport, Timeouts};
use a2a_transport::sse::Bounds;
use a2a_transport::{CallRequest, Error, Phase, ResponseBody, Transport};
use a2a_types::{GetTaskRequest, Message, ProtocolVersion, Request, SendMessageRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_stream::StreamExt;

/// Starts a server that answers every connection with these bytes, and then closes it, or not.
async fn answering(text: impl Into<Vec<u8>>, then_closes: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let text = text.into();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&text).await;
            if !then_closes {
                open.push(stream);
            }
        }
    });
    url
}

/// Asks such a server, once or for a stream, and yields the first error.
async fn ask(url: &str, streams: bool) -> Error {
    ask_within(url, streams, Timeouts::default()).await
}

async fn ask_within(url: &str, streams: bool, timeouts: Timeouts) -> Error {
    let transport = HttpTransport::new(url, ProtocolVersion::V0_2)
        .unwrap()
        .http(HttpClient::new(timeouts));
    let mut bounds = Bounds::default();
    bounds.line = 1000;
    bounds.event = 2000;
    let transport = transport.bounds(bounds);
    let request = match streams {
        true => Request::SendStreamingMessage(SendMessageRequest {
            message: Message::user("x"),
            ..SendMessageRequest::default()
        }),
        false => Request::GetTask(GetTaskRequest {
            id: "t".into(),
            ..GetTaskRequest::default()
        }),
    };
    match transport.call(CallRequest::new(request)).await {
        Err(error) => error,
        Ok(reply) => match reply.answer {
            ResponseBody::Once(response) => panic!("expected an error, got {response:?}"),
            ResponseBody::Stream(mut updates) => loop {
                match updates.next().await {
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return error,
                    None => panic!("expected an error, got the end of the stream"),
                }
            },
        },
    }
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

macro_rules! assert_error {
    ($found:expr, $pattern:pat) => {
        let found = $found;
        assert!(matches!(found, $pattern), "{found:?}");
    };
}

#[tokio::test]
async fn broken_answers_are_errors() {
    let html = answer("502 Bad Gateway", "content-type: text/html\r\n", "<html>");
    assert_error!(
        ask(&answering(html, false).await, false).await,
        Error::NotA2a { status: 502, .. }
    );
    assert_error!(
        ask(&answering(answer("200 OK", "", ""), false).await, false).await,
        Error::NotA2a { status: 200, .. }
    );
    assert_error!(
        ask(&answering(answer("200 OK", "", "{"), false).await, false).await,
        Error::Malformed(_)
    );
    assert_error!(
        ask(
            &answering(answer("200 OK", "", "{\"a\":1,\"a\":2}"), false).await,
            false
        )
        .await,
        Error::Malformed(_)
    );
    let refused = answer("401 Unauthorized", "www-authenticate: Bearer\r\n", "");
    assert_error!(
        ask(&answering(refused, false).await, false).await,
        Error::Refused {
            status: 401,
            challenge: Some(_)
        }
    );
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Task not found"}}"#;
    assert_error!(
        ask(
            &answering(answer("404 Not Found", "", error), false).await,
            false
        )
        .await,
        Error::Agent(_)
    );
    assert_error!(
        ask(&answering("nonsense", true).await, false).await,
        Error::Connection(_)
    );
    assert_error!(
        ask(&answering("", true).await, false).await,
        Error::Connection(_)
    );
    let short = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
    assert_error!(
        ask(&answering(short, true).await, false).await,
        Error::Connection(_)
    );
}

/// A redirect is not followed: credentials would go where the caller did not send them.
#[tokio::test]
async fn redirects_are_not_followed() {
    let redirect = answer(
        "307 Temporary Redirect",
        "location: http://127.0.0.1:1/\r\n",
        "",
    );
    assert_error!(
        ask(&answering(redirect, false).await, false).await,
        Error::Redirected {
            status: 307,
            location: Some(_)
        }
    );
}

/// An answer with a status of failure has no result, and the error quotes it.
#[tokio::test]
async fn failure_status_without_error_is_reported_and_quoted() {
    let of = |media_type: &str, body: &str| {
        let headers = format!("content-type: {media_type}\r\n");
        answer("500 Internal Server Error", &headers, body)
    };
    let task = r#"{"id":"t","contextId":"c","kind":"task","status":{"state":"working"}}"#;
    let whole = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{task}}}"#);
    for body in ["{}", r#"{"message":"broke"}"#, task, &whole] {
        for streams in [false, true] {
            let found = ask(
                &answering(of("application/json", body), false).await,
                streams,
            )
            .await;
            let Error::NotA2a {
                status: 500,
                problem,
            } = &found
            else {
                panic!("{body}: {found:?}");
            };
            assert_eq!(problem, &format!("application/json {body:?}"));
        }
    }
    let oh = format!("Oh no\u{1b}[2J{}", "!".repeat(300));
    let found = ask(
        &answering(of("text/plain; charset=utf-8", &oh), false).await,
        false,
    )
    .await;
    let shown = oh.chars().take(200).collect::<String>();
    assert_eq!(
        found.to_string(),
        format!("the peer answered 500: text/plain {shown:?}")
    );
}

/// A compressed answer, which was not requested, is refused: its decompressed size has no bound.
#[tokio::test]
async fn compressed_answer_is_refused() {
    let bomb = answer("200 OK", "content-encoding: gzip\r\n", "\u{1f}");
    assert_error!(
        ask(&answering(bomb, false).await, false).await,
        Error::NotA2a { status: 200, .. }
    );
}

#[tokio::test]
async fn silent_server_times_out() {
    let short = Duration::from_millis(100);
    let mut no_head = Timeouts::default();
    no_head.first_byte = short;
    let mut no_rest = Timeouts::default();
    no_rest.idle = short;
    let silent = answering("", false).await;
    assert_error!(
        ask_within(&silent, false, no_head).await,
        Error::Timeout {
            phase: Phase::FirstByte,
            ..
        }
    );
    let stuck = answering("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", false).await;
    assert_error!(
        ask_within(&stuck, false, no_rest).await,
        Error::Timeout {
            phase: Phase::Idle,
            ..
        }
    );
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: ping\n\n";
    let stream = answering(stream, false).await;
    assert_error!(
        ask_within(&stream, true, no_rest).await,
        Error::Timeout {
            phase: Phase::Idle,
            ..
        }
    );
}

#[tokio::test]
async fn answers_beyond_the_limits_are_refused() {
    let huge = "HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n";
    assert_error!(
        ask(&answering(huge, false).await, false).await,
        Error::TooLarge { what: "body", .. }
    );
    let stream =
        |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}");
    let line = stream(&format!("data: {}", "x".repeat(2000)));
    assert_error!(
        ask(&answering(line, false).await, true).await,
        Error::TooLarge { what: "line", .. }
    );
    let event = stream(&"data: xxxxxxxxxxxxxxxxxxxx\n".repeat(200));
    assert_error!(
        ask(&answering(event, false).await, true).await,
        Error::TooLarge { what: "event", .. }
    );
}

#[tokio::test]
async fn broken_streams_are_errors() {
    let stream =
        |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}");
    assert_error!(
        ask(&answering(stream("data: {\n\n"), true).await, true).await,
        Error::Malformed(_)
    );
    assert_error!(
        ask(&answering(stream("data: \u{fffd}\n\n"), true).await, true).await,
        Error::Malformed(_)
    );
    let mut half = stream("data: \"").into_bytes();
    half.extend_from_slice(b"\xe2\x82\"\n\n");
    assert_error!(
        ask(&answering(half, true).await, true).await,
        Error::Malformed(_)
    );
    let error = stream(
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"m\"}}\n\n",
    );
    assert_error!(
        ask(&answering(error, false).await, true).await,
        Error::Agent(_)
    );
    let refused = answer(
        "200 OK",
        "content-type: application/json\r\n",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"m"}}"#,
    );
    assert_error!(
        ask(&answering(refused, false).await, true).await,
        Error::Agent(_)
    );
}

/// A stream that ends before its task ends is reported as unfinished.
#[tokio::test]
async fn stream_that_ends_before_its_task_is_unfinished() {
    let event = r#"{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}"#;
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let text = format!("{stream}data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{event}}}\n\n");
    assert_error!(
        ask(&answering(text, true).await, true).await,
        Error::Unfinished
    );
    assert_error!(
        ask(&answering(stream, true).await, true).await,
        Error::Unfinished
    );
}

#[tokio::test]
async fn bad_addresses_are_refused() {
    let without_tls = (!cfg!(feature = "tls")).then_some("https://h/");
    let never = ["", "nonsense", "ftp://h/", "http://", "https://"];
    for url in never.into_iter().chain(without_tls) {
        let refused = HttpTransport::new(url, ProtocolVersion::V0_2).map(|_| ());
        assert!(
            matches!(refused, Err(Error::Address { .. })),
            "{url}: {refused:?}"
        );
    }
}
