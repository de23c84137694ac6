//! An outage of the database: streams stay open, sends are refused with `Retry-After`, and then all continues.

use std::time::{Duration, Instant};

use a2a_client::{Event, SendMessageResponse, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Cluster, Failure, Report, address, begin};

pub(super) async fn run(
    mut cluster: Cluster,
    away: Duration,
    report: &mut Report,
) -> Result<(), Failure> {
    let client = cluster.client(0)?;
    let order = format!("wait {}", away.as_millis() + 10_000);
    let SendMessageResponse::Task(task) = client.send(begin(order)).await? else {
        return Err("a message was answered without a task".into());
    };
    let elsewhere = cluster.client(1)?;
    let mut streams = Vec::new();
    for client in [&client, &elsewhere] {
        let mut updates = client.subscribe(task.id.clone()).await?;
        updates
            .next()
            .await
            .ok_or("a stream without a first event")??;
        streams.push(tokio::spawn(async move {
            let mut completed = false;
            while let Some(Ok(event)) = updates.next().await {
                completed |=
                    matches!(&event, Event::StatusUpdate(it) if it.status.state.is_terminal());
            }
            completed
        }));
    }
    cluster.database.stop().await?;
    let gone = Instant::now();
    let target = address(&cluster.replicas[2])?;
    let (mut refused, mut others, mut slowest) = (0, 0, Duration::ZERO);
    while gone.elapsed() < away {
        let sent = Instant::now();
        let answer = send(target).await?;
        slowest = slowest.max(sent.elapsed());
        let head = answer.to_ascii_lowercase();
        match head.starts_with("http/1.1 503") && head.contains("retry-after:") {
            true => refused += 1,
            false => {
                others += 1;
                report.remark([format!("while the database is away: {answer}")]);
            }
        }
        tokio::time::timeout(Duration::from_millis(200), std::future::pending::<()>())
            .await
            .unwrap_or_default();
    }
    cluster.database.resume().await?;
    let back = Instant::now();
    while !send(target).await?.starts_with("HTTP/1.1 200") {
        if back.elapsed() > Duration::from_secs(60) {
            break;
        }
    }
    let recovered = back.elapsed();
    let mut open = 0;
    for stream in streams {
        open += usize::from(
            tokio::time::timeout(Duration::from_secs(60), stream)
                .await
                .is_ok_and(|it| it.unwrap_or(false)),
        );
    }
    report.note(
        "database away: sends refused with 503 and Retry-After",
        f64::from(refused),
    );
    report.exactly("database away: other answers", 0, others);
    report.note("database away: slowest refusal, s", slowest.as_secs_f64());
    report.at_most(
        "database back: full service after, s",
        3.0,
        recovered.as_secs_f64(),
    );
    report.exactly("streams that stayed open to the end of the task", 2, open);
    Ok(())
}

/// Sends a message by HTTP+JSON, where errors have a status of their own, and returns the answer with its head.
async fn send(target: std::net::SocketAddr) -> Result<String, Failure> {
    let id = uuid::Uuid::new_v4();
    let body = format!(
        r#"{{"message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"echo"}}]}}}}"#
    );
    let mut socket = TcpStream::connect(target).await?;
    let head = format!(
        "POST /message:send HTTP/1.1\r\nhost: {target}\r\ncontent-type: application/json\r\na2a-version: 1.0\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    Ok(answer)
}
