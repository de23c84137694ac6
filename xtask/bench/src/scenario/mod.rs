//! Scenarios of load.

mod comparison;
mod exchange;
mod memory;
mod streams;
mod tokens;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::Failure;
use crate::measurement::Measurement;
use crate::peers::Peer;

/// A kind of load.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// A message, answered when its task is complete.
    Send,
    /// The same as a stream of events.
    Stream,
    /// A task is read.
    Get,
    /// Sends to a server that has both processors.
    Cores,
    /// Sends in each protocol version.
    Dialects,
    /// Sends with tasks in memory and in SQLite.
    Stores,
    /// Sends of 1 KB, 64 KB and 1 MB.
    Sizes,
    /// Sends over HTTP/2.
    Http2,
    /// Sends by TLS.
    Tls,
    /// Streams of 10,000 and of 100,000 chunks; the ceiling is hyper that writes event by event.
    Chunks,
    /// Streams of 100 chunks a second: how late each arrives.
    Tokens,
    /// 1,000 and 10,000 streams on which nothing happens.
    Idle,
    /// 100 streams of one task.
    Crowd,
    /// Memory left by a million sends.
    Memory,
}

/// Settings of the measurements.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Number of rounds; in each, every server is measured once.
    pub(crate) rounds: usize,
    /// Duration of each measurement.
    pub(crate) period: Duration,
    /// Numbers of callers at once.
    pub(crate) connections: Vec<usize>,
    /// Number of messages where memory is measured; no more fill a cache.
    pub(crate) sends: usize,
    /// Directory of databases.
    pub(crate) directory: PathBuf,
    /// The processor of the server, and that of its callers.
    pub(crate) cores: [usize; 2],
    /// Servers of others that are measured, too.
    pub(crate) peers: Vec<Peer>,
}

impl Scenario {
    pub(crate) async fn run(self, plan: &Plan) -> Result<Vec<Measurement>, Failure> {
        match self {
            Self::Send => exchange::send(plan).await,
            Self::Stream => exchange::stream(plan).await,
            Self::Get => exchange::get(plan).await,
            Self::Cores => exchange::cores(plan).await,
            Self::Dialects => exchange::dialects(plan).await,
            Self::Stores => exchange::stores(plan).await,
            Self::Sizes => exchange::sizes(plan).await,
            Self::Http2 => exchange::http2(plan).await,
            Self::Tls => exchange::tls(plan).await,
            Self::Chunks => streams::chunks(plan).await,
            Self::Tokens => tokens::tokens(plan).await,
            Self::Idle => streams::idle(plan).await,
            Self::Crowd => streams::crowd(plan).await,
            Self::Memory => memory::memory(plan).await,
        }
    }
}
