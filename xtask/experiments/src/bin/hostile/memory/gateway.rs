//! An agent that fills the memory of a gateway before it.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::client::request_id;
use super::peers::post;
use crate::TrialError;
use crate::agent::ServerProcess;
use crate::peers::{GoodRequests, connect_from};

/// Number of calls at once.
const CALLS: usize = 20;

/// Calls an agent whose answers do not end, through a gateway in a process of its own; returns how that ended, and the
/// peak of the gateway's memory in MiB.
pub(super) async fn peak() -> Result<(String, f64), TrialError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let agent = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A gateway that has enough closes the connection.
            tokio::spawn(async move { answer(stream).await.ok() });
        }
    });
    let gateway = ServerProcess::gateway(8192, &url).await?;
    let address = gateway.address;
    let beside = GoodRequests::asking(move || async move {
        let begun = std::time::Instant::now();
        // The agent is not asked for its card.
        let mut stream = connect_from([127, 0, 0, 2], address).await?;
        let head = "GET /unknown HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await?;
        let mut text = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut text).await?;
        Ok(begun.elapsed())
    });
    let calls = (0..CALLS).map(|_| {
        let request =
            json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t"}});
        timeout(
            Duration::from_secs(60),
            post(address, request.to_string().into_bytes()),
        )
    });
    let answered = join_all(calls).await;
    let answered = answered
        .iter()
        .filter(|answer| matches!(answer, Ok(Ok(_))))
        .count();
    let slowest = beside.slowest().await?;
    agent.abort();
    let ended =
        format!("{answered} of {CALLS} answered, a good caller after {slowest:.0} ms at most");
    Ok((ended, gateway.peak()?))
}

/// Answers with a task whose artifact has text without an end.
async fn answer(mut stream: TcpStream) -> Result<(), TrialError> {
    let id = request_id(&mut stream).await?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let begin = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"id":"t","contextId":"c","status":{{"state":"TASK_STATE_WORKING"}},"artifacts":[{{"artifactId":"a","parts":[{{"text":""#
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(begin.as_bytes()).await?;
    let text = vec![b'x'; 64 << 10];
    loop {
        stream.write_all(&text).await?;
    }
}
