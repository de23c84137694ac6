//! Requests and answers, as many as there can be: `send`, `stream` and `get`.

use std::net::SocketAddr;

use super::{CEILING, OURS, Plan};
use crate::load::{self, Connection};
use crate::measured::{Bound, Column, Figures, Measured};
use crate::order::{Ask, Order};
use crate::process::Process;
use crate::serve::{Settings, Who};
use crate::{Failure, machine};

pub(super) async fn send(plan: &Plan) -> Result<Vec<Measured>, Failure> {
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let mut send = measure(plan, "send", Ask::Send, *connections).await?;
        if *connections >= 16 {
            let rate = send.ratio(OURS, CEILING, "rate");
            send.claim("rate, ours ÷ hyper alone", rate, Bound::AtLeast(0.52));
            let cpu = send.ratio(OURS, CEILING, "CPU");
            send.claim("CPU, ours ÷ hyper alone", cpu, Bound::AtMost(17.5 / 9.0));
        }
        late(&mut send, *connections);
        measured.push(send);
    }
    Ok(measured)
}

pub(super) async fn stream(plan: &Plan) -> Result<Vec<Measured>, Failure> {
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let mut stream = measure(plan, "send and stream", Ask::Stream, *connections).await?;
        late(&mut stream, *connections);
        measured.push(stream);
    }
    Ok(measured)
}

pub(super) async fn get(plan: &Plan) -> Result<Vec<Measured>, Failure> {
    let mut measured = Vec::new();
    for connections in &plan.connections {
        let mut get = measure(plan, "get", Ask::Get, *connections).await?;
        if *connections >= 16 {
            let rate = get.ratio(OURS, CEILING, "rate");
            get.claim("rate, ours ÷ hyper alone", rate, Bound::AtLeast(0.85));
        }
        late(&mut get, *connections);
        measured.push(get);
    }
    Ok(measured)
}

fn late(measured: &mut Measured, connections: usize) {
    if connections == 64 {
        let late = measured.ratio(OURS, CEILING, "p99");
        measured.claim("p99, ours ÷ hyper alone", late, Bound::AtMost(3.0));
    }
}

/// Measures both in turn, each time as a new process.
async fn measure(
    plan: &Plan,
    name: &str,
    ask: Ask,
    connections: usize,
) -> Result<Measured, Failure> {
    let [server, callers] = plan.cores;
    machine::pin(&[callers])?;
    let ours = Settings::new(Who::Ours, &[server]);
    let ceiling = like(&ours, ask).await?;
    let servers = [(CEILING, ceiling), (OURS, ours)];
    let mut figures = servers.each_ref().map(|(name, _)| Figures {
        server: (*name).to_owned(),
        rounds: Vec::new(),
    });
    for round in 0..plan.rounds {
        eprintln!(
            "{name}, {connections} connections: round {} of {}",
            round + 1,
            plan.rounds
        );
        for ((_, settings), figures) in servers.iter().zip(&mut figures) {
            let process = Process::begin(settings).await?;
            figures
                .rounds
                .push(once(plan, &process, ask, connections).await?);
            process.end().await?;
        }
    }
    Ok(Measured {
        load: format!("{name}, {connections} connections"),
        columns: COLUMNS.to_vec(),
        servers: figures.into(),
        claims: Vec::new(),
    })
}

#[rustfmt::skip]
const COLUMNS: [Column; 4] = [
    Column { name: "rate", unit: "requests/s" },
    Column { name: "p50", unit: "µs" },
    Column { name: "p99", unit: "µs" },
    Column { name: "CPU", unit: "µs of the server for each" },
];

async fn once(
    plan: &Plan,
    process: &Process,
    ask: Ask,
    connections: usize,
) -> Result<Vec<f64>, Failure> {
    let address = process.address();
    let mut orders = Vec::with_capacity(connections);
    for _ in 0..connections {
        orders.push(order(ask, address).await?);
    }
    // What happens first happens once: pages, caches, connections.
    load::drive(address, orders.clone(), plan.period / 5).await?;
    let cpu = process.cpu()?;
    let seen = load::drive(address, orders, plan.period).await?;
    let cpu = process.cpu()? - cpu;
    let count = seen.count();
    Ok(vec![
        count / seen.took,
        seen.late(0.5),
        seen.late(0.99),
        cpu * 1e6 / count,
    ])
}

/// What one caller asks; a task that is to be read is made first.
async fn order(ask: Ask, address: SocketAddr) -> Result<Order, Failure> {
    if ask != Ask::Get {
        return Ok(Order::new(ask, address, TEXT));
    }
    let mut send = Order::new(Ask::Send, address, TEXT);
    let answer = Connection::open(address)
        .await?
        .ask(send.next())
        .await?
        .to_vec();
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    let id = answer["result"]["task"]["id"].as_str().unwrap_or("none");
    Ok(Order::with_id(ask, address, id, TEXT))
}

/// Hyper alone, which answers as much as ours does.
async fn like(ours: &Settings, ask: Ask) -> Result<Settings, Failure> {
    let process = Process::begin(ours).await?;
    let mut order = order(ask, process.address()).await?;
    let mut connection = Connection::open(process.address()).await?;
    let answer = connection.ask(order.next()).await?.to_vec();
    process.end().await?;
    let mut ceiling = Settings::new(Who::Ceiling, &ours.cores);
    ceiling.bytes = answer.len();
    ceiling.events = memchr::memmem::find_iter(&answer, b"data: ").count();
    Ok(ceiling)
}

/// What is said.
const TEXT: &str = "say this back to me";
