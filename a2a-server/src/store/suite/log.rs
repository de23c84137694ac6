//! Cases of reading a log.

use a2a_types::{Event, Part};

use super::bench::Bench;
use super::observation::{Checked, holds, same};
use super::sample::chunk;

super::promises! {
    "log":
    read_in_parts = "a reader who is far behind does not get everything at once";
}

async fn read_in_parts(bench: Bench) -> Checked {
    let mut many = bench.begin("many").await?;
    let events = (0..600).map(|_| chunk(&many.task, "a", "1", true));
    many.add(events.collect()).await?;
    holds(
        "fewer than 600 events at once",
        many.batch(1).await?.len() < 600,
    )?;
    same("how many events", many.read(1).await?.len(), 600)?;

    let mut heavy = bench.begin("heavy").await?;
    let large = "x".repeat(100 << 10);
    let mut event = chunk(&heavy.task, "a", "", false);
    if let Event::ArtifactUpdate(update) = &mut event {
        update.artifact.parts = vec![Part::text(large)];
    }
    heavy.add(vec![event; 24]).await?;
    holds("less than 2 MiB at once", heavy.batch(1).await?.len() < 20)?;
    same("how many events", heavy.read(1).await?.len(), 24)
}
