//! gRPC, compared with a server that tonic has generated.

use std::time::Instant;

use memchr::memmem;

use super::comparison::{MeasuredServer, OURS, compare};
use super::exchange::{self, measured};
use super::plan::Plan;
use super::streams::{CHUNK_COLUMNS, IDLE_COLUMNS};
use crate::load;
use crate::machine::Failure;
use crate::measurement::{Bound, Measurement};
use crate::multiplexed::{self, Connection, MultiplexedCall};
use crate::process::Process;
use crate::request_template::RequestKind;
use crate::serve::{CHUNK, ServerKind};
use crate::statistics::median;

pub(super) async fn send(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut all = Vec::new();
    for connections in &plan.connections {
        all.push(send_over(plan, *connections, 1).await?);
    }
    all.push(send_over(plan, 4, 16).await?);
    Ok(all)
}

/// Compares sends, also with sends by JSON-RPC to ours, over HTTP/2 and over HTTP/1.1.
async fn send_over(
    plan: &Plan,
    connections: usize,
    at_once: usize,
) -> Result<Measurement, Failure> {
    let ours = MeasuredServer::ours(plan, RequestKind::Send, "say this back to me");
    let mut servers = vec![tonic(&ours), ours.clone(), ours.clone().named(JSON_RPC)];
    if at_once == 1 {
        servers.push(ours.named(HTTP1));
    }
    let load = match at_once {
        1 => format!("send by gRPC, {connections} connections"),
        _ => format!("send by gRPC, {connections} connections, {at_once} at once on each"),
    };
    let columns = &exchange::COLUMNS;
    let mut sends = compare(plan, load, columns, &servers, async |server, process| {
        let address = process.address();
        let call = match server.name.as_str() {
            HTTP1 => {
                let orders = exchange::orders(server, process, connections).await?;
                let callers = || load::callers(address, orders.clone());
                return measured(plan, process, callers).await;
            }
            JSON_RPC => MultiplexedCall::json_rpc(address, RequestKind::Send, &server.text),
            _ => MultiplexedCall::grpc(address, SEND, &server.text),
        };
        let callers = || multiplexed::callers(&call, connections, at_once);
        measured(plan, process, callers).await
    })
    .await?;
    if connections * at_once >= MANY {
        let rate = sends.ratio(OURS, TONIC, "rate");
        sends.claim("rate, ours ÷ tonic", rate, Bound::AtLeast(1.0));
        let cpu = sends.ratio(OURS, JSON_RPC, "CPU");
        sends.claim("CPU, ours by gRPC ÷ by JSON-RPC", cpu, Bound::AtMost(1.5));
    }
    Ok(sends)
}

/// Compares one long stream after the other.
pub(super) async fn chunks(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let ours = MeasuredServer::ours(plan, RequestKind::Stream, &format!("chunks {CHUNKS}"));
    let load = format!("a stream of {CHUNKS} chunks by gRPC");
    let servers = [tonic(&ours), ours];
    let columns = &CHUNK_COLUMNS;
    let mut chunks = compare(plan, load, columns, &servers, async |server, process| {
        let call = MultiplexedCall::grpc(process.address(), STREAM, &server.text);
        let mut connection = Connection::open(call).await?;
        // Costs of the first call occur once.
        stream(&mut connection).await?;
        let (begun, cpu) = (Instant::now(), process.cpu()?);
        let (mut firsts, mut wholes) = (Vec::new(), Vec::new());
        while begun.elapsed() < plan.period {
            let (first, whole) = stream(&mut connection).await?;
            firsts.push(first * 1e6);
            wholes.push(whole * 1e3);
        }
        let (took, cpu) = (wholes.iter().sum::<f64>() / 1e3, process.cpu()? - cpu);
        let count = (wholes.len() * CHUNKS) as f64;
        let middle = |values: &[f64]| median(values).unwrap_or(f64::NAN);
        let figures = [middle(&firsts), middle(&wholes), cpu * 1e6 / count];
        Ok([&[count / took], &figures[..]].concat())
    })
    .await?;
    let rate = chunks.ratio(OURS, TONIC, "rate");
    chunks.claim("rate, ours ÷ tonic", rate, Bound::AtLeast(0.8));
    Ok(vec![chunks])
}

/// Reads a stream to its end. Returns the seconds to the first event and to the last.
async fn stream(connection: &mut Connection) -> Result<(f64, f64), Failure> {
    connection.begin();
    let mut first = None;
    loop {
        connection.receive().await?;
        let Some(stream) = connection.streams.last() else {
            return Err("there is no stream".into());
        };
        if first.is_none() && !stream.body.is_empty() {
            first = Some(stream.begun.elapsed());
        }
        if stream.has_ended {
            let whole = stream.begun.elapsed();
            let arrived = memmem::find_iter(&stream.body, CHUNK).count();
            connection.streams.clear();
            return match first {
                Some(first) if arrived == CHUNKS => Ok((first.as_secs_f64(), whole.as_secs_f64())),
                _ => Err(format!("{arrived} chunks arrived of {CHUNKS}").into()),
            };
        }
    }
}

/// Compares the memory of idle streams, each of its own waiting task.
pub(super) async fn idle(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let ours = MeasuredServer::ours(plan, RequestKind::Stream, "wait for nothing");
    let load = format!("{IDLE} idle streams by gRPC, {STREAMS} on each connection");
    let servers = [tonic(&ours), ours];
    let columns = &IDLE_COLUMNS;
    let mut idle = compare(plan, load, columns, &servers, async |server, process| {
        // Memory that any number of streams needs is there after the first ones.
        let first = open(server, process, 1).await?;
        let (memory, cpu) = (process.memory()?, process.cpu()?);
        let rest = open(server, process, IDLE / STREAMS - 1).await?;
        let (memory, cpu) = (process.memory()? - memory, process.cpu()? - cpu);
        let count = (rest.len() * STREAMS) as f64;
        drop((first, rest));
        Ok(vec![memory / 1024.0 / count, cpu * 1e6 / count])
    })
    .await?;
    let memory = idle.ratio(OURS, TONIC, "memory");
    idle.claim("memory, ours ÷ tonic", memory, Bound::AtMost(1.0));
    Ok(vec![idle])
}

/// Opens connections with streams, and waits for the first event of each stream.
async fn open(
    server: &MeasuredServer,
    process: &Process,
    connections: usize,
) -> Result<Vec<Connection>, Failure> {
    let call = MultiplexedCall::grpc(process.address(), STREAM, &server.text);
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut connection = Connection::open(call.clone()).await?;
        for _ in 0..STREAMS {
            connection.begin();
        }
        while connection.streams.iter().any(|it| it.body.is_empty()) {
            connection.receive().await?;
            if connection.streams.iter().any(|it| it.has_ended) {
                return Err("an idle stream has ended".into());
            }
        }
        opened.push(connection);
    }
    Ok(opened)
}

fn tonic(ours: &MeasuredServer) -> MeasuredServer {
    let mut tonic = ours.clone().named(TONIC);
    tonic.settings.kind = ServerKind::Tonic;
    tonic
}

/// Names of servers in the tables.
const TONIC: &str = "tonic";
const JSON_RPC: &str = "ours, JSON-RPC over HTTP/2";
const HTTP1: &str = "ours, JSON-RPC over HTTP/1.1";

const SEND: &str = "/lf.a2a.v1.A2AService/SendMessage";
const STREAM: &str = "/lf.a2a.v1.A2AService/SendStreamingMessage";

/// Number of calls at once from which the processor of the server is never idle.
const MANY: usize = 16;

/// Number of chunks of a long answer.
const CHUNKS: usize = 10_000;

/// Number of idle streams, and of those on each connection.
const IDLE: usize = 10_000;
const STREAMS: usize = 100;
