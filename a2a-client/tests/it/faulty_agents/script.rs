//! Scripted responses of servers.

use std::time::Duration;

use crate::faulty_agents::test_server::{Behaviour, ReceivedRequest, behaviour};

/// Sends these bytes after a request, and then nothing.
pub(crate) fn sends(bytes: impl Into<Vec<u8>>) -> Behaviour {
    let bytes = bytes.into();
    answers(move |_| bytes.clone())
}

/// Sends these bytes without a request, and then nothing.
pub(crate) fn sends_immediately(bytes: impl Into<Vec<u8>>) -> Behaviour {
    let bytes = bytes.into();
    behaviour(move |mut connection| {
        let bytes = bytes.clone();
        async move {
            connection.send(bytes).await?;
            connection.wait_for_close().await
        }
    })
}

/// Sends these bytes, and closes the connection.
pub(crate) fn sends_and_closes(bytes: impl Into<Vec<u8>>) -> Behaviour {
    let bytes = bytes.into();
    behaviour(move |mut connection| {
        let bytes = bytes.clone();
        async move {
            connection.read_request().await?;
            connection.send(bytes).await
        }
    })
}

/// Sends these bytes, and breaks the connection.
pub(crate) fn sends_and_resets(bytes: impl Into<Vec<u8>>) -> Behaviour {
    let bytes = bytes.into();
    behaviour(move |mut connection| {
        let bytes = bytes.clone();
        async move {
            connection.read_request().await?;
            connection.send(bytes).await?;
            connection.reset()
        }
    })
}

/// Sends the first, then the second forever.
pub(crate) fn sends_forever(first: impl Into<Vec<u8>>, second: impl Into<Vec<u8>>) -> Behaviour {
    let (first, second) = (first.into(), second.into());
    behaviour(move |mut connection| {
        let (first, second) = (first.clone(), second.clone());
        async move {
            connection.read_request().await?;
            connection.send(first).await?;
            connection.send_forever(second).await
        }
    })
}

/// Sends `first`, then `second` repeated `times` times, then `last`.
pub(crate) fn sends_repeatedly(
    first: impl Into<Vec<u8>>,
    second: &str,
    times: usize,
    last: &str,
) -> Behaviour {
    let first = first.into();
    let (second, last) = (second.to_owned(), last.to_owned());
    behaviour(move |mut connection| {
        let (first, second, last) = (first.clone(), second.clone(), last.clone());
        async move {
            connection.read_request().await?;
            connection.send(first).await?;
            let many = second.repeat(1000);
            for _ in 0..times / 1000 {
                connection.send(&many).await?;
            }
            connection.send(second.repeat(times % 1000) + &last).await?;
            connection.wait_for_close().await
        }
    })
}

/// Sends the first, and then the second forever, byte by byte.
pub(crate) fn drips(
    first: impl Into<Vec<u8>>,
    second: impl Into<Vec<u8>>,
    each: Duration,
) -> Behaviour {
    let (first, second) = (first.into(), second.into());
    behaviour(move |mut connection| {
        let (first, second) = (first.clone(), second.clone());
        async move {
            connection.read_request().await?;
            connection.send(first).await?;
            let mut tick = tokio::time::interval(each);
            for byte in second.iter().cycle() {
                tick.tick().await;
                connection.send([*byte]).await?;
            }
            Ok(())
        }
    })
}

/// Answers every request.
pub(crate) fn answers(
    answer: impl Fn(&ReceivedRequest) -> Vec<u8> + Clone + Send + Sync + 'static,
) -> Behaviour {
    behaviour(move |mut connection| {
        let answer = answer.clone();
        async move {
            loop {
                let asked = connection.read_request().await?;
                connection.send(answer(&asked)).await?;
            }
        }
    })
}

/// Returns an answer with status 200 and this body.
pub(crate) fn json(body: impl AsRef<[u8]>) -> Vec<u8> {
    http("200 OK", "content-type: application/json\r\n", body)
}

/// Returns an answer.
pub(crate) fn http(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The head of an answer that lasts as long as its connection.
pub(crate) const ENDLESS: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";

/// The head of a stream that lasts as long as its connection.
pub(crate) const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// Returns a stream of these events, and the end of the connection.
pub(crate) fn stream(events: impl IntoIterator<Item = String>) -> Vec<u8> {
    let events: String = events.into_iter().collect();
    [STREAM, &events].concat().into()
}

/// Returns a result in its envelope, for the first request of a client.
pub(crate) fn result(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

/// Returns an error in its envelope.
pub(crate) fn error(code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"{message}"}}}}"#)
}

/// Returns the answer to a message by a message.
pub(crate) fn message(text: &str) -> String {
    format!(
        r#"{{"message":{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{text}"}}]}}}}"#
    )
}

/// Returns one event of a stream.
pub(crate) fn event(says: &str) -> String {
    format!("data: {}\n\n", result(says))
}

/// Returns a task as a whole, in this state.
pub(crate) fn task(id: &str, state: &str) -> String {
    format!(r#"{{"task":{}}}"#, bare_task(id, state, "[]"))
}

/// Returns the same without the member that distinguishes it from a message, as in the answer that
/// reads a task.
pub(crate) fn bare_task(id: &str, state: &str, artifacts: &str) -> String {
    format!(
        r#"{{"id":"{id}","contextId":"c","status":{{"state":"TASK_STATE_{state}"}},"artifacts":{artifacts}}}"#
    )
}

pub(crate) fn status(id: &str, state: &str) -> String {
    format!(
        r#"{{"statusUpdate":{{"taskId":"{id}","contextId":"c","status":{{"state":"TASK_STATE_{state}"}}}}}}"#
    )
}

pub(crate) fn artifact(id: &str, artifact: &str, text: &str, append: bool) -> String {
    format!(
        r#"{{"artifactUpdate":{{"taskId":"{id}","contextId":"c","append":{append},"artifact":{{"artifactId":"{artifact}","parts":[{{"text":"{text}"}}]}}}}}}"#
    )
}

/// Returns a card of an agent at this address.
pub(crate) fn card(url: &str, rest: &str) -> String {
    format!(
        r#"{{"name":"n","description":"d","version":"1","capabilities":{{}},"skills":[],"defaultInputModes":[],"defaultOutputModes":[],"supportedInterfaces":[{{"url":"{url}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}]{rest}}}"#
    )
}
