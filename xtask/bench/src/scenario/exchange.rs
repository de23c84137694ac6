//! Requests and answers, as many as there can be, in every way they come.

use super::comparison::{CEILING, FLOOR, MeasuredServer, OURS, compare};
use super::plan::Plan;
use crate::load::{Caller, Latencies};
use crate::machine::Failure;
use crate::measurement::{Bound, Column, Measurement};
use crate::multiplexed::MultiplexedCall;
use crate::process::Process;
use crate::request_template::{RequestKind, RequestTemplate};
use crate::{load, multiplexed};

pub(super) async fn send(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let mut send = beside(plan, "send", RequestKind::Send, *connections).await?;
        if *connections >= MANY {
            rate(&mut send, 0.80);
            best(plan, &mut send, 1.6);
        }
        late(&mut send, *connections);
        measured.push(send);
    }
    Ok(measured)
}

pub(super) async fn stream(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let mut stream = beside(plan, "send and stream", RequestKind::Stream, *connections).await?;
        if *connections >= MANY {
            best(plan, &mut stream, 1.0);
        }
        late(&mut stream, *connections);
        measured.push(stream);
    }
    Ok(measured)
}

pub(super) async fn get(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let mut get = beside(plan, "get", RequestKind::Get, *connections).await?;
        if *connections >= MANY {
            rate(&mut get, 0.90);
            best(plan, &mut get, 1.25);
        }
        late(&mut get, *connections);
        measured.push(get);
    }
    measured.push(cold(plan).await?);
    Ok(measured)
}

/// Compares gets of tasks that only a file has with gets of tasks that the store also has in memory.
async fn cold(plan: &Plan) -> Result<Measurement, Failure> {
    let directory = tempfile::tempdir_in(&plan.directory)?;
    let mut warm = MeasuredServer::ours(plan, RequestKind::Get, TEXT).named("SQLite, in its cache");
    warm.settings.directory = Some(directory.path().to_owned());
    let cold = warm.clone().named(COLD);
    let load = format!("get, by cache, {MANY} connections");
    let mut gets = compare(
        plan,
        load,
        &COLUMNS,
        &[warm, cold],
        async |server, process| {
            let orders = orders(server, process, MANY).await?;
            let mut later = match server.name == COLD {
                true => CACHED.min(plan.sends as f64),
                false => 0.0,
            };
            let sends = MeasuredServer::ours(plan, RequestKind::Send, TEXT);
            while later > 0.0 {
                let orders = self::orders(&sends, process, MANY).await?;
                let callers = load::callers(process.address(), orders).await?;
                later -= load::drive(callers, plan.period / 5).await?.count();
            }
            let callers = || load::callers(process.address(), orders.clone());
            measured(plan, process, callers).await
        },
    )
    .await?;
    let cpu = gets.median(COLD, "CPU");
    gets.claim("CPU of one from the file, µs", cpu, Bound::AtMost(40.0));
    Ok(gets)
}

/// Returns the requests of callers, one for each connection.
pub(super) async fn orders(
    server: &MeasuredServer,
    process: &Process,
    connections: usize,
) -> Result<Vec<RequestTemplate>, Failure> {
    let mut orders = Vec::with_capacity(connections);
    for _ in 0..connections {
        orders.push(server.order(process).await?);
    }
    Ok(orders)
}

/// Compares servers that share both processors with their callers with ours on a processor of its own.
pub(super) async fn cores(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let one = MeasuredServer::ours(plan, RequestKind::Send, TEXT).named("ours, one processor");
    let mut both = MeasuredServer::ours(plan, RequestKind::Send, TEXT).named("ours, both");
    both.settings.cores = plan.cores.to_vec();
    both.callers = plan.cores.to_vec();
    let ceiling = both.ceiling().await?;
    let servers_to_measure = [ceiling, one, both];
    let mut cores = requests(
        plan,
        "send, on both processors",
        &servers_to_measure,
        4 * MAX_CONNECTIONS,
    )
    .await?;
    let gain = cores.ratio("ours, both", "ours, one processor", "rate");
    cores.claim("rate, both ÷ one", gain, Bound::AtLeast(1.6));
    Ok(vec![cores])
}

/// The same message in each protocol version.
pub(super) async fn versions(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let names = [
        (RequestKind::Send, "1.0"),
        (RequestKind::Send02, "0.2"),
        (RequestKind::Send01, "0.1"),
    ];
    let servers_to_measure =
        names.map(|(ask, name)| MeasuredServer::ours(plan, ask, TEXT).named(name));
    let mut protocol_versions =
        requests(plan, "send, by version", &servers_to_measure, MANY).await?;
    for older in ["0.2", "0.1"] {
        let cpu = protocol_versions.ratio(older, "1.0", "CPU");
        protocol_versions.claim(format!("CPU, {older} ÷ 1.0"), cpu, Bound::AtMost(1.15));
    }
    Ok(vec![protocol_versions])
}

/// Tasks in memory, and in a file that has them before their senders get an answer.
pub(super) async fn stores(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let directory = tempfile::tempdir_in(&plan.directory)?;
    let memory = MeasuredServer::ours(plan, RequestKind::Send, TEXT).named("memory");
    let mut sqlite = memory.clone().named("SQLite");
    sqlite.settings.directory = Some(directory.path().to_owned());
    let servers_to_measure = [memory.ceiling().await?, memory.floor(), memory, sqlite];
    let mut measured = Vec::new();
    for (connections, least) in [(MANY, 0.30), (MAX_CONNECTIONS, 0.35)] {
        let mut stores = requests(plan, "send, by store", &servers_to_measure, connections).await?;
        let rate = stores.ratio("SQLite", FLOOR, "rate");
        stores.claim("rate, SQLite ÷ made by hand", rate, Bound::AtLeast(least));
        measured.push(stores);
    }
    Ok(measured)
}

/// Messages of some size, which come back as artifacts of that size.
pub(super) async fn sizes(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut measured = Vec::new();
    for (name, bytes) in [("1 KB", 1 << 10), ("64 KB", 1 << 16), ("1 MB", 1 << 20)] {
        let ours = MeasuredServer::ours(plan, RequestKind::Send, &TEXT.repeat(bytes / TEXT.len()));
        let servers_to_measure = [ours.ceiling().await?, ours];
        let load = format!("send, {name}");
        measured.push(requests(plan, &load, &servers_to_measure, MANY).await?);
    }
    Ok(measured)
}

/// Many requests at once over few connections.
pub(super) async fn http2(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut ours = MeasuredServer::ours(plan, RequestKind::Send, TEXT);
    ours.settings.http2 = true;
    let servers_to_measure = [ours.ceiling().await?, ours];
    let load = format!("send over HTTP/2, 4 connections, {MAX_CONNECTIONS} at once");
    let measured = compare(
        plan,
        load,
        &COLUMNS,
        &servers_to_measure,
        async |server, process| {
            let call =
                MultiplexedCall::json_rpc(process.address(), RequestKind::Send, &server.text);
            let callers = || multiplexed::callers(&call, 4, MAX_CONNECTIONS / 4);
            measured(plan, process, callers).await
        },
    );
    Ok(vec![measured.await?])
}

/// Compares sends by TLS with sends in the clear, over connections that are kept.
pub(super) async fn tls(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    use crate::tls::{Files, callers};

    let files = Files::new()?;
    let clear = MeasuredServer::ours(plan, RequestKind::Send, TEXT).named("in the clear");
    let mut by_tls = clear.clone().named("by TLS");
    by_tls.settings.tls = Some(files.directory.path().to_owned());
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let load = format!("send, by TLS, {connections} connections");
        let servers_to_measure = [clear.clone(), by_tls.clone()];
        let compared = compare(
            plan,
            load,
            &COLUMNS,
            &servers_to_measure,
            async |server, process| {
                let orders = orders(server, process, *connections).await?;
                let address = process.address();
                match server.settings.tls {
                    None => {
                        let callers = || load::callers(address, orders.clone());
                        self::measured(plan, process, callers).await
                    }
                    Some(_) => {
                        let callers = || callers(address, &files, orders.clone());
                        self::measured(plan, process, callers).await
                    }
                }
            },
        );
        let mut sends = compared.await?;
        if *connections >= MANY {
            let rate = sends.ratio("by TLS", "in the clear", "rate");
            sends.claim("rate, by TLS ÷ in the clear", rate, Bound::AtLeast(0.8));
        }
        measured.push(sends);
    }
    Ok(measured)
}

/// Measures our server, hyper alone, the floor, and the measured servers of other projects.
async fn beside(
    plan: &Plan,
    name: &str,
    ask: RequestKind,
    connections: usize,
) -> Result<Measurement, Failure> {
    let ours = MeasuredServer::ours(plan, ask, TEXT);
    requests(plan, name, &with_others(plan, ours).await?, connections).await
}

/// Returns hyper alone, the floor, the measured servers of other projects, and ours, which all are asked the same.
async fn with_others(plan: &Plan, ours: MeasuredServer) -> Result<Vec<MeasuredServer>, Failure> {
    let mut servers = vec![ours.ceiling().await?, ours.floor()];
    servers.extend(plan.peers.iter().map(|peer| ours.peer(peer)));
    servers.push(ours);
    Ok(servers)
}

/// Sends by many users to servers with one processor and little memory, as it is often quoted for servers of tools.
pub(super) async fn users(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut ours = MeasuredServer::ours(plan, RequestKind::Send, TEXT);
    ours.memory_limit = Some(USERS_MEMORY);
    let load = format!(
        "send, {USERS} users, one processor, {} MiB",
        USERS_MEMORY >> 20
    );
    let mut users = compare(
        plan,
        load,
        &USER_COLUMNS,
        &with_others(plan, ours).await?,
        async |server, process| {
            let orders = orders(server, process, USERS).await?;
            let callers = || load::callers(process.address(), orders.clone());
            let (seen, cpu) = observed(plan, process, callers).await?;
            let late = [0.5, 0.9, 0.99, 0.999].map(|part| seen.late(part));
            let mut figures = vec![seen.count() / seen.took];
            figures.extend(late);
            figures.extend([cpu, process.memory()? / (1 << 20) as f64]);
            Ok(figures)
        },
    )
    .await?;
    best(plan, &mut users, 1.6);
    Ok(vec![users])
}

async fn requests(
    plan: &Plan,
    name: &str,
    servers_to_measure: &[MeasuredServer],
    connections: usize,
) -> Result<Measurement, Failure> {
    let load = match connections {
        1 => format!("{name}, 1 connection"),
        many => format!("{name}, {many} connections"),
    };
    compare(
        plan,
        load,
        &COLUMNS,
        servers_to_measure,
        async |server, process| {
            let orders = orders(server, process, connections).await?;
            let callers = || load::callers(process.address(), orders.clone());
            measured(plan, process, callers).await
        },
    )
    .await
}

/// Returns the figures of a server under load, in the order of the columns.
pub(super) async fn measured<C: Caller>(
    plan: &Plan,
    process: &Process,
    callers: impl AsyncFn() -> Result<Vec<C>, Failure>,
) -> Result<Vec<f64>, Failure> {
    let (seen, cpu) = observed(plan, process, callers).await?;
    let rate = seen.count() / seen.took;
    Ok(vec![rate, seen.late(0.5), seen.late(0.99), cpu])
}

/// Returns the latencies of a server under load, and the µs of processor time for each request.
async fn observed<C: Caller>(
    plan: &Plan,
    process: &Process,
    callers: impl AsyncFn() -> Result<Vec<C>, Failure>,
) -> Result<(Latencies, f64), Failure> {
    // Costs of the first call occur once: pages, caches, connections.
    load::drive(callers().await?, plan.period / 5).await?;
    let (callers, cpu) = (callers().await?, process.cpu()?);
    let seen = load::drive(callers, plan.period).await?;
    let each = (process.cpu()? - cpu) * 1e6 / seen.count();
    Ok((seen, each))
}

#[rustfmt::skip]
pub(super) const COLUMNS: [Column; 4] = [
    Column { name: "rate", unit: "requests/s" },
    Column { name: "p50", unit: "µs" },
    Column { name: "p99", unit: "µs" },
    Column { name: "CPU", unit: "µs of the server for each request" },
];

#[rustfmt::skip]
const USER_COLUMNS: [Column; 7] = [
    Column { name: "rate", unit: "requests/s" },
    Column { name: "p50", unit: "µs" },
    Column { name: "p90", unit: "µs" },
    Column { name: "p99", unit: "µs" },
    Column { name: "p99.9", unit: "µs" },
    Column { name: "CPU", unit: "µs of the server for each request" },
    Column { name: "memory", unit: "MiB of the server, resident" },
];

fn rate(measured: &mut Measurement, least: f64) {
    let rate = measured.ratio(OURS, FLOOR, "rate");
    measured.claim("rate, ours ÷ made by hand", rate, Bound::AtLeast(least));
}

/// Claims how many times as much as the best of others ours does, if they were measured.
fn best(plan: &Plan, measured: &mut Measurement, least: f64) {
    let rates = plan.peers.iter().map(|peer| {
        let rate = measured.median(&peer.name, "rate");
        (rate.unwrap_or_default(), &peer.name)
    });
    if let Some((_, best)) = rates.max_by(|(one, _), (other, _)| one.total_cmp(other)) {
        let ratio = measured.ratio(OURS, best, "rate");
        let what = format!("rate, ours ÷ {best}");
        measured.claim(what, ratio, Bound::AtLeast(least));
    }
}

fn late(measured: &mut Measurement, connections: usize) {
    if connections == MAX_CONNECTIONS {
        let late = measured.ratio(OURS, CEILING, "p99");
        measured.claim("p99, ours ÷ hyper alone", late, Bound::AtMost(3.0));
    }
}

/// A server that has a task in its file alone.
const COLD: &str = "SQLite, in its file";

/// Number of further sends after which a task is no longer in the cache of the store.
const CACHED: f64 = 12_000.0;

/// Number of connections from which the processor of the server is never idle.
const MANY: usize = 16;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 64;

/// Number of users, and the bytes of memory of a server that they share.
const USERS: usize = 50;
const USERS_MEMORY: u64 = 512 << 20;

/// Text of each message.
const TEXT: &str = "say this back to me";
