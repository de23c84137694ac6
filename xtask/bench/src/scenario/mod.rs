//! Scenarios of load.

mod comparison;
mod exchange;
mod grpc;
mod memory;
mod plan;
mod streams;
mod tokens;

use clap::ValueEnum;

use crate::machine::Failure;
use crate::measurement::Measurement;

pub(crate) use self::plan::Plan;

/// A kind of load.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// A message, answered when its task is complete.
    Send,
    /// The same as a stream of events.
    Stream,
    /// A task is read.
    Get,
    /// Sends by 50 users to a server with one processor and 512 MiB.
    Users,
    /// Sends to a server that has both processors.
    Cores,
    /// Sends in each protocol version.
    Versions,
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
    /// Sends by gRPC, compared with a server that tonic has generated.
    Grpc,
    /// Streams of 10,000 chunks by gRPC, compared in the same way.
    GrpcChunks,
    /// 10,000 streams of gRPC on which nothing happens, compared in the same way.
    GrpcIdle,
}

impl Scenario {
    pub(crate) async fn run(self, plan: &Plan) -> Result<Vec<Measurement>, Failure> {
        match self {
            Self::Send => exchange::send(plan).await,
            Self::Stream => exchange::stream(plan).await,
            Self::Get => exchange::get(plan).await,
            Self::Users => exchange::users(plan).await,
            Self::Cores => exchange::cores(plan).await,
            Self::Versions => exchange::versions(plan).await,
            Self::Stores => exchange::stores(plan).await,
            Self::Sizes => exchange::sizes(plan).await,
            Self::Http2 => exchange::http2(plan).await,
            Self::Tls => exchange::tls(plan).await,
            Self::Chunks => streams::chunks(plan).await,
            Self::Tokens => tokens::tokens(plan).await,
            Self::Idle => streams::idle(plan).await,
            Self::Crowd => streams::crowd(plan).await,
            Self::Memory => memory::memory(plan).await,
            Self::Grpc => grpc::send(plan).await,
            Self::GrpcChunks => grpc::chunks(plan).await,
            Self::GrpcIdle => grpc::idle(plan).await,
        }
    }
}
