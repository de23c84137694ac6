//! Our server, made as the README shows.

use std::path::Path;

use a2a_server::{BoundServer, MemoryStore, Retention, Server, ServerBuilder};
use a2a_types::AgentCard;

use super::agent::Echo;
use super::settings::Settings;
use crate::machine::Failure;

pub(super) async fn serve(settings: &Settings) -> Result<(), Failure> {
    let bound = bind(
        settings.directory.as_deref(),
        settings.kept,
        settings.merges,
    )
    .await?;
    let bound = match &settings.tls {
        Some(directory) => by_tls(bound, directory)?,
        None => bound,
    };
    println!("{}", bound.local_addr());
    Ok(bound.run(std::future::pending()).await?)
}

/// Binds a server with its tasks in `directory`, or in memory. It keeps `kept` ended tasks, or the default
/// number. Unless chunks are merged, each is an event of its own.
pub(crate) async fn bind(
    directory: Option<&Path>,
    kept: Option<usize>,
    merges: bool,
) -> Result<BoundServer, Failure> {
    let mut card = AgentCard::new("Echo", "Echoes the message");
    card.capabilities.streaming = Some(true);
    let mut builder = Server::builder(card, Echo::new()).merge_chunks(merges);
    if let Some(directory) = directory {
        builder = stored(builder, directory)?;
    }
    if let Some(count) = kept {
        let store = MemoryStore::with_capacity(count, 4 << 30);
        let mut retention = Retention::default();
        retention.count = count;
        builder = builder.store(store).retention(retention);
    }
    Ok(builder.build()?.bind("127.0.0.1:0").await?)
}

fn stored(builder: ServerBuilder, directory: &Path) -> Result<ServerBuilder, Failure> {
    let name = format!("{}.db", std::process::id());
    let store = a2a_server::SqliteStore::open(directory.join(name))?;
    Ok(builder.store(store))
}

fn by_tls(bound: BoundServer, directory: &Path) -> Result<BoundServer, Failure> {
    Ok(bound.tls(crate::tls::load(directory)?))
}
