//! Servers measured in turn, each time as a new process, so that none has what another left.

use std::path::PathBuf;

use super::plan::Plan;
use crate::load::Connection;
use crate::machine::{self, Failure};
use crate::measurement::{Column, Figures, Measurement};
use crate::peers::Peer;
use crate::process::Process;
use crate::request_template::{RequestKind, RequestTemplate};
use crate::serve::{ServerKind, Settings};

/// A server, and the requests that it gets.
#[derive(Clone, Debug)]
pub(super) struct MeasuredServer {
    /// Name in tables.
    pub(super) name: String,
    /// The program of another project; `None` for a server of this program.
    peer: Option<PathBuf>,
    pub(super) settings: Settings,
    pub(super) ask: RequestKind,
    pub(super) text: String,
    /// The processors of the callers.
    pub(super) callers: Vec<usize>,
    /// Bytes of memory that its process may have; `None` for any.
    pub(super) memory_limit: Option<u64>,
}

impl MeasuredServer {
    /// Ours, on one processor and asked from the other.
    pub(super) fn ours(plan: &Plan, ask: RequestKind, text: &str) -> Self {
        let [server, callers] = plan.cores;
        Self {
            name: OURS.to_owned(),
            peer: None,
            settings: Settings::new(ServerKind::Ours, &[server]),
            ask,
            text: text.to_owned(),
            callers: vec![callers],
            memory_limit: None,
        }
    }

    /// The floor, asked the same.
    pub(super) fn floor(&self) -> Self {
        let mut floor = self.clone().named(FLOOR);
        floor.settings.kind = ServerKind::Floor;
        floor
    }

    /// Returns whether no caller runs on its processors.
    fn has_its_processors(&self) -> bool {
        let is_shared = |core| self.callers.contains(core);
        !self.settings.cores.iter().any(is_shared)
    }

    /// Another name, for tables that have several of ours.
    pub(super) fn named(self, name: &str) -> Self {
        let name = name.to_owned();
        Self { name, ..self }
    }

    /// A server of others, asked the same.
    pub(super) fn peer(&self, peer: &Peer) -> Self {
        Self {
            peer: Some(peer.program.clone()),
            ..self.clone().named(&peer.name)
        }
    }

    /// Begins its process.
    async fn begin(&self) -> Result<Process, Failure> {
        match &self.peer {
            Some(program) => Process::peer(program, &self.settings.cores, self.memory_limit).await,
            None => Process::begin(&self.settings, self.memory_limit).await,
        }
    }

    /// Hyper alone, asked the same and answering as much.
    pub(super) async fn ceiling(&self) -> Result<Self, Failure> {
        let process = self.begin().await?;
        let mut connection = Connection::open(process.address()).await?;
        let mut order = self.order(&process).await?;
        let answer = connection.ask(order.next()).await?.to_vec();
        process.end().await?;
        let mut settings = Settings::new(ServerKind::Ceiling, &self.settings.cores);
        settings.http2 = self.settings.http2;
        settings.bytes = answer.len();
        settings.events = events(&answer);
        Ok(Self {
            name: CEILING.to_owned(),
            settings,
            ..self.clone()
        })
    }

    /// Returns the requests of one caller to this server; a task that is to be read is made first.
    pub(super) async fn order(&self, process: &Process) -> Result<RequestTemplate, Failure> {
        let address = process.address();
        if self.ask != RequestKind::Get || self.settings.kind == ServerKind::Ceiling {
            return Ok(RequestTemplate::new(self.ask, address, &self.text));
        }
        let mut send = RequestTemplate::new(RequestKind::Send, address, &self.text);
        let mut connection = Connection::open(address).await?;
        connection.ask(send.next()).await?;
        let id = connection
            .task()
            .ok_or("an answer to a send tells of no task")?;
        Ok(RequestTemplate::with_id(self.ask, address, &id, &self.text))
    }
}

/// Measures each server once in each round.
pub(super) async fn compare(
    plan: &Plan,
    load: String,
    columns: &[Column],
    servers_to_measure: &[MeasuredServer],
    once: impl AsyncFn(&MeasuredServer, &Process) -> Result<Vec<f64>, Failure>,
) -> Result<Measurement, Failure> {
    let mut servers: Vec<_> = servers_to_measure
        .iter()
        .map(|server| Figures {
            server: server.name.clone(),
            rounds: Vec::new(),
        })
        .collect();
    for round in 1..=plan.rounds {
        eprintln!("{load}: round {round} of {}", plan.rounds);
        for (server, figures) in servers_to_measure.iter().zip(&mut servers) {
            let process = server.begin().await?;
            machine::pin(&server.callers)?;
            let awake = server.has_its_processors().then(machine::stay_awake);
            let figure = once(server, &process).await;
            let figure = figure.map_err(|failure| format!("{load}, {}: {failure}", server.name))?;
            drop(awake);
            figures.rounds.push(figure);
            process.end().await?;
        }
    }
    Ok(Measurement {
        load,
        columns: columns.to_vec(),
        servers,
        claims: Vec::new(),
    })
}

/// Returns the number of events of an answer; 0 if it is not a stream.
pub(super) fn events(answer: &[u8]) -> usize {
    memchr::memmem::find_iter(answer, b"data: ").count()
}

/// Names of servers in every table.
pub(super) const CEILING: &str = "hyper alone";
pub(super) const FLOOR: &str = "made by hand";
pub(super) const OURS: &str = "ours";
