//! Cases of appends to a log.

use a2a_types::{Event, TaskState};

use super::super::limits::{MAX_ARTIFACTS, MAX_MESSAGES};
use super::super::{Appended, StoreError};
use super::bench::Bench;
use super::sample::{chunk, said, status, step};
use super::saw::{Checked, refused, same};

super::promises! {
    "append":
    so_many_messages = "a task takes 1,000 messages of its caller, and can end after that";
    so_many_artifacts = "a task has 10,000 artifacts at most, and goes on with those";
    so_many_bytes = "a log does not grow beyond 64 MiB, but a task can always end";
}

async fn so_many_messages(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let task = writer.task.clone();
    let messages = |count: usize| {
        let ids = (0..count).map(|number| said(&task, &number.to_string()));
        ids.collect::<Vec<_>>()
    };
    // One is in the history from the beginning.
    let one_too_many = writer.held(messages(MAX_MESSAGES));
    refused!(
        writer.append(one_too_many).await,
        StoreError::TooManyMessages(_)
    );
    same("the log", writer.read(1).await?, vec![])?;
    writer.add(messages(MAX_MESSAGES - 1)).await?;
    let one_more = writer.held(messages(1));
    refused!(
        writer.append(one_more).await,
        StoreError::TooManyMessages(_)
    );
    // The agent's own steps do not count.
    writer
        .add(vec![chunk(&task, "a", "1", false), step(&task, "s")])
        .await?;
    writer.become_(TaskState::Completed).await?;
    let history = writer.snapshot().await?.task.history.len();
    same(
        "how many messages are in the history",
        history,
        MAX_MESSAGES + 1,
    )
}

async fn so_many_artifacts(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let task = writer.task.clone();
    let artifacts = |numbers: std::ops::Range<usize>| -> Vec<Event> {
        let chunk = |number: usize| chunk(&task, &number.to_string(), "x", false);
        numbers.map(chunk).collect()
    };
    let one_too_many = writer.held(artifacts(0..MAX_ARTIFACTS + 1));
    refused!(
        writer.append(one_too_many).await,
        StoreError::TooManyArtifacts(_)
    );
    for first in (0..MAX_ARTIFACTS).step_by(1000) {
        writer.add(artifacts(first..first + 1000)).await?;
    }
    for new in [
        MAX_ARTIFACTS..MAX_ARTIFACTS + 1,
        MAX_ARTIFACTS - 1..MAX_ARTIFACTS + 1,
    ] {
        let one_more = writer.held(artifacts(new));
        refused!(
            writer.append(one_more).await,
            StoreError::TooManyArtifacts(_)
        );
    }
    writer.add(vec![chunk(&task, "7", "y", true)]).await?;
    writer.become_(TaskState::Completed).await?;
    let artifacts = writer.snapshot().await?.task.artifacts.len();
    same("how many artifacts there are", artifacts, MAX_ARTIFACTS)
}

async fn so_many_bytes(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let huge = "x".repeat(66 << 20);
    for in_parts in [true, false] {
        let Event::ArtifactUpdate(mut update) = chunk(&writer.task, "a", "", false) else {
            return Ok(());
        };
        match in_parts {
            true => update.artifact.parts = vec![a2a_types::Part::text(huge.clone())],
            false => {
                let noted = ("noted".to_owned(), huge.clone().into());
                update.artifact.metadata = Some([noted].into_iter().collect());
            }
        }
        let append = writer.held(vec![Event::ArtifactUpdate(update)]);
        match writer.append(append).await {
            Err(StoreError::TooLong(_)) => {}
            other => same("whether it is too long", other.is_ok(), false)?,
        }
    }
    let Appended { sequence, epoch } =
        Appended::new(writer.snapshot().await?.sequence, writer.epoch);
    same("the log", (sequence, epoch), (1, 1))?;
    let Event::StatusUpdate(mut last) = status(&writer.task, TaskState::Failed) else {
        return Ok(());
    };
    last.metadata = Some([("noted".to_owned(), huge.into())].into_iter().collect());
    let append = writer.held(vec![Event::StatusUpdate(last)]);
    match writer.append(append).await {
        Err(StoreError::TooLong(_)) => {}
        other => same("whether a long end is too long", other.is_ok(), false)?,
    }
    writer.become_(TaskState::Failed).await
}
