//! Many idle readers at one replica.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use a2a_client::SendMessageResponse;
use a2a_types::TaskId;

use super::{Cluster, Failure, Report, address, begin};

pub(super) async fn run(
    cluster: &Cluster,
    readers: usize,
    report: &mut Report,
) -> Result<(), Failure> {
    let worker = cluster.client(0)?;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        match worker.send(begin("steps 1 3600000")).await? {
            SendMessageResponse::Task(task) => tasks.push(task.id),
            SendMessageResponse::Message(_) => {
                return Err("a message was answered without a task".into());
            }
        }
    }
    let (replica, target) = (&cluster.replicas[1], address(&cluster.replicas[1])?);
    // After these, every connection that the replica needs is open.
    let mut sockets = subscribe(target, &tasks, 0..WARM).await?;
    let (memory, connections) = (
        replica.memory()?,
        cluster.database.number(CONNECTIONS).await?,
    );
    sockets.extend(subscribe(target, &tasks, WARM..readers).await?);
    // Long enough for a few polls of the database.
    tokio::time::timeout(Duration::from_secs(5), std::future::pending::<()>())
        .await
        .unwrap_or_default();
    let more = cluster
        .database
        .number(CONNECTIONS)
        .await?
        .saturating_sub(connections);
    report.exactly("idle readers at one replica", readers, sockets.len());
    report.exactly("… connections to the database more", 0, more as usize);
    report.note(
        "… memory of the replica more, MiB",
        (replica.memory()?.saturating_sub(memory)) as f64 / 1024.0,
    );
    let cpu = replica.cpu();
    tokio::time::timeout(Duration::from_secs(10), std::future::pending::<()>())
        .await
        .unwrap_or_default();
    report.note(
        "… CPU of the replica, per cent of a core",
        (replica.cpu() - cpu) * 10.0,
    );
    Ok(())
}

/// Subscribes to tasks, one connection each, and waits until all of them are answered.
async fn subscribe(
    target: SocketAddr,
    tasks: &[TaskId],
    readers: Range<usize>,
) -> Result<Vec<TcpStream>, Failure> {
    let mut sockets = Vec::new();
    for number in readers {
        let mut socket = TcpStream::connect(target).await?;
        let task = &tasks[number % tasks.len()];
        let request = format!(
            "POST /tasks/{task}:subscribe HTTP/1.1\r\nhost: {target}\r\na2a-version: 1.0\r\n\
             accept: text/event-stream\r\ncontent-length: 0\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).await?;
        sockets.push(socket);
    }
    for socket in &mut sockets {
        let mut first = [0; 12];
        socket.read_exact(&mut first).await?;
        if &first != b"HTTP/1.1 200" {
            return Err("a subscription was refused".into());
        }
    }
    Ok(sockets)
}

const TASKS: usize = 100;
/// Number of readers before anything is measured.
const WARM: usize = 200;
const CONNECTIONS: &str =
    "select count(*) from pg_stat_activity where datname = 'a2a' and pid <> pg_backend_pid()";
