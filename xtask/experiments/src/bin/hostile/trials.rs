//! The trials: each starts a server of its own.

use std::time::{Duration, Instant};

use a2a_client::Client;
use a2a_types::{
    Message, ProtocolVersion, SendMessageConfiguration, SendMessageRequest, SendMessageResponse,
};
use tokio::net::{TcpSocket, TcpStream};

use crate::agent::{EVENTS, ServerProcess};
use crate::peers::{GoodRequests, ask, drip, follow, follow_with_small_buffer, listen};
use crate::{Figure, TrialError, progress, tls};

type Figures = Result<Vec<Figure>, TrialError>;

/// Measures valid requests and memory while other peers send request heads a byte a second.
pub(crate) async fn heads() -> Figures {
    const PEERS: usize = 2000;
    let server = ServerProcess::start(8192).await?;
    progress("heads: good requests alone");
    let good = GoodRequests::requests(server.address);
    wait(Duration::from_secs(10)).await;
    let alone = good.p99().await?;
    let before = server.resident()?;
    progress(format_args!("heads: {PEERS} peers, a byte a second each"));
    let good = GoodRequests::requests(server.address);
    let slow = tokio::spawn(drip(server.address, PEERS, b"POST / HTTP/1.1\r\nx: ", b'x'));
    wait(Duration::from_secs(5)).await;
    let growth = server.resident()? - before;
    let longest = slow.await??;
    let beside = good.p99().await?;
    Ok(vec![
        figure(
            "heads",
            "the last peer is closed after",
            "s",
            longest.as_secs_f64(),
            12.0,
        ),
        note("heads", "p99 of good requests alone", "ms", alone),
        figure(
            "heads",
            "p99 of good requests meanwhile",
            "ms",
            beside,
            (2.0 * alone).max(5.0),
        ),
        note("heads", "memory grows by", "MiB", growth),
    ])
}

/// Measures valid requests, each with a full TLS handshake, and memory while other peers send handshakes a byte a
/// second.
pub(crate) async fn handshakes() -> Figures {
    const PEERS: usize = 2000;
    // A record of 512 bytes, with the first of a greeting.
    const BEGIN: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    let files = tls::Files::new()?;
    let server = ServerProcess::with_tls(8192, files.directory.path()).await?;
    let (address, connector) = (server.address, files.connector()?);
    let requests = || {
        let connector = connector.clone();
        GoodRequests::asking(move || tls::ask(address, connector.clone()))
    };
    progress("handshakes: good requests alone");
    let good = requests();
    wait(Duration::from_secs(10)).await;
    let alone = good.p99().await?;
    let before = server.resident()?;
    progress(format_args!(
        "handshakes: {PEERS} peers, a byte a second each"
    ));
    let good = requests();
    let slow = tokio::spawn(drip(address, PEERS, BEGIN, b'x'));
    wait(Duration::from_secs(5)).await;
    let growth = server.resident()? - before;
    let longest = slow.await??;
    let beside = good.p99().await?;
    Ok(vec![
        figure(
            "handshakes",
            "the last peer is closed after",
            "s",
            longest.as_secs_f64(),
            12.0,
        ),
        note("handshakes", "p99 of good requests alone", "ms", alone),
        figure(
            "handshakes",
            "p99 of good requests meanwhile",
            "ms",
            beside,
            (2.0 * alone).max(10.0),
        ),
        note("handshakes", "memory grows by", "MiB", growth),
    ])
}

/// Request bodies that are sent a byte a second.
pub(crate) async fn bodies() -> Figures {
    const PEERS: usize = 500;
    const BEGIN: &[u8] =
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
        content-length: 100000\r\n\r\n";
    let server = ServerProcess::start(8192).await?;
    ask(server.address).await?;
    let before = server.resident()?;
    progress(format_args!("bodies: {PEERS} peers, a byte a second each"));
    let slow = tokio::spawn(drip(server.address, PEERS, BEGIN, b' '));
    wait(Duration::from_secs(5)).await;
    let growth = server.resident()? - before;
    let longest = slow.await??;
    ask(server.address).await?;
    Ok(vec![
        figure(
            "bodies",
            "the last peer is closed after",
            "s",
            longest.as_secs_f64(),
            15.0,
        ),
        // 32 KiB for each: hyper's buffers alone are two of 8 KiB.
        figure("bodies", "memory grows by", "MiB", growth, 16.0),
    ])
}

/// Measures one follower that reads, and memory, while other followers do not read.
pub(crate) async fn readers() -> Figures {
    const PEERS: usize = 1000;
    let server = ServerProcess::start(8192).await?;
    progress(format_args!("readers: one listens to {EVENTS} events"));
    let before = server.resident()?;
    let (alone, _) = talk(&server, 0).await?;
    let of_task = server.resident()? - before;

    progress(format_args!(
        "readers: {PEERS} more follow, and do not listen"
    ));
    let before = server.resident()?;
    let (beside, stalled) = talk(&server, PEERS).await?;
    let growth = server.resident()? - before - of_task;
    let quiet = Instant::now();
    let mut second = tokio::time::interval(Duration::from_millis(100));
    // They do not read, so that only the server shows that it has closed them.
    while server.descriptors()? > 50 && quiet.elapsed() < Duration::from_secs(120) {
        second.tick().await;
    }
    let closed = quiet.elapsed();
    drop(stalled);
    let left = server.resident()? - before - of_task;
    let (after, _) = talk(&server, 0).await?;
    Ok(vec![
        note(
            "readers",
            "one follower reads 10,000 events in",
            "ms",
            millis(alone),
        ),
        figure(
            "readers",
            "the same with 1,000 followers that do not read",
            "ms",
            millis(beside),
            // All of them get what fits on the way to them, from the same cores.
            millis(alone) + 3000.0,
        ),
        note("readers", "and when they are gone", "ms", millis(after)),
        note(
            "readers",
            "memory grows by, for the task itself",
            "MiB",
            of_task,
        ),
        figure(
            "readers",
            "memory grows by, for followers that do not read",
            "MiB",
            growth,
            100.0,
        ),
        note(
            "readers",
            "of which is left when they are closed",
            "MiB",
            left,
        ),
        figure(
            "readers",
            "the last of them is closed after",
            "s",
            closed.as_secs_f64(),
            35.0,
        ),
    ])
}

/// Lets the agent send events to one follower that reads and to some that do not; returns the time that the first one took.
async fn talk(
    server: &ServerProcess,
    stalled: usize,
) -> Result<(Duration, Vec<TcpStream>), TrialError> {
    let client = Client::at(
        &format!("http://{}/", server.address),
        ProtocolVersion::V1_0,
    )?;
    let request = SendMessageRequest {
        message: Message::user("talk"),
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    };
    let SendMessageResponse::Task(task) = client.send(request).await? else {
        return Err("the agent began no task".into());
    };
    let mut followers = Vec::with_capacity(stalled);
    for _ in 0..stalled {
        followers.push(follow_with_small_buffer(server.address, task.id.as_str()).await?);
    }
    let listener = follow(TcpSocket::new_v4()?, server.address, task.id.as_str()).await?;
    let listening = tokio::spawn(listen(listener));
    client.send("go").await?;
    let begun = Instant::now();
    let events = listening.await??;
    match events >= EVENTS {
        true => Ok((begun.elapsed(), followers)),
        false => Err(format!("{events} of {EVENTS} events were received").into()),
    }
}

/// Opens more connections than the server has descriptors for.
pub(crate) async fn descriptors() -> Figures {
    let server = ServerProcess::start(256).await?;
    ask(server.address).await?;
    progress("descriptors: 1,000 connections to a server with 256");
    let mut silent = Vec::new();
    for _ in 0..1000 {
        silent.push(TcpStream::connect(server.address).await?);
    }
    let begun = Instant::now();
    drop(silent);
    ask(server.address).await?;
    let recovered = begun.elapsed();
    Ok(vec![figure(
        "descriptors",
        "when they are gone, a good request is answered after",
        "s",
        recovered.as_secs_f64(),
        1.0,
    )])
}

/// Waits for this long while the other tasks run.
pub(crate) async fn wait(time: Duration) {
    let mut ticks = tokio::time::interval(time);
    ticks.tick().await;
    ticks.tick().await;
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn figure(
    trial: &'static str,
    what: &'static str,
    unit: &'static str,
    measured: f64,
    at_most: f64,
) -> Figure {
    Figure {
        at_most: Some(at_most),
        ..note(trial, what, unit, measured)
    }
}

/// A figure without a target.
fn note(trial: &'static str, what: &'static str, unit: &'static str, measured: f64) -> Figure {
    Figure {
        trial,
        what: what.to_owned(),
        unit,
        measured,
        at_most: None,
    }
}
