//! The servers that are measured: each is a process of this program.

mod agent;
mod ceiling;
mod floor;
mod ours;
mod settings;
mod tonic;

pub(crate) use self::agent::{CHUNK, TOKENS_PER_SECOND};
pub(crate) use self::settings::{Pace, ServerKind, Settings, cores_argument};
use crate::machine::{self, Failure};

/// Serves until the process is killed; prints its address first.
pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    machine::pin(&settings.cores)?;
    // Like `tokio::main`: one worker for each processor that the process may use.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(settings.cores.len())
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match settings.kind {
            ServerKind::Ceiling => ceiling::serve(settings).await,
            ServerKind::Floor => floor::serve().await,
            ServerKind::Ours => ours::serve(settings).await,
            ServerKind::Tonic => tonic::serve().await,
        }
    })
}
