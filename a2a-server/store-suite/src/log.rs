//! Cases of a log: the limits on appends, reading in parts, and watches.

use a2a_server::StoreError;
use a2a_server::limits::{MAX_ARTIFACTS, MAX_MESSAGES};
use a2a_types::{Event, Object, Part, TaskState};

use crate::bench::{Bench, soon};
use crate::case::promises;
use crate::observation::{Checked, holds, refused, same};
use crate::sample::{ada, chunk, said, status, step};

promises! {
    "append.message_limit": message_limit = "a task takes 1,000 messages of its caller, and can end after that";
    "append.artifact_limit": artifact_limit = "a task has 10,000 artifacts at most, and goes on with those";
    "append.byte_limit": byte_limit = "a log does not grow beyond 64 MiB, but a task can always end";
    "log.read_in_parts": read_in_parts = "a reader who is far behind does not get everything at once";
    "watch.tells_of_growth": tells_of_growth = "a watcher sees every append, and the removal of the task";
}

async fn message_limit(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let task = writer.task.clone();
    let messages = |count: usize| -> Vec<Event> {
        let ids = 0..count;
        ids.map(|id| said(&task, &id.to_string())).collect()
    };
    // One is in the history from the beginning.
    let answer = writer.append(writer.held(messages(MAX_MESSAGES))).await;
    refused!(answer, StoreError::TooManyMessages(_));
    same("the log", writer.read(1).await?, vec![])?;
    writer.add(messages(MAX_MESSAGES - 1)).await?;
    let answer = writer.append(writer.held(messages(1))).await;
    refused!(answer, StoreError::TooManyMessages(_));
    // The agent's own steps do not count.
    let steps = vec![chunk(&task, "a", "1", false), step(&task, "s")];
    writer.add(steps).await?;
    writer.become_(TaskState::Completed).await?;
    let history = writer.snapshot().await?.task.history.len();
    same("the messages in the history", history, MAX_MESSAGES + 1)
}

async fn artifact_limit(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let task = writer.task.clone();
    let artifacts = |numbers: std::ops::Range<usize>| -> Vec<Event> {
        let chunk = |number: usize| chunk(&task, &number.to_string(), "x", false);
        numbers.map(chunk).collect()
    };
    let end = MAX_ARTIFACTS + 1;
    let answer = writer.append(writer.held(artifacts(0..end))).await;
    refused!(answer, StoreError::TooManyArtifacts(_));
    for first in (0..MAX_ARTIFACTS).step_by(1000) {
        writer.add(artifacts(first..first + 1000)).await?;
    }
    for new in [end - 1..end, end - 2..end] {
        let answer = writer.append(writer.held(artifacts(new))).await;
        refused!(answer, StoreError::TooManyArtifacts(_));
    }
    writer.add(vec![chunk(&task, "7", "y", true)]).await?;
    writer.become_(TaskState::Completed).await?;
    let artifacts = writer.snapshot().await?.task.artifacts.len();
    same("how many artifacts there are", artifacts, MAX_ARTIFACTS)
}

async fn byte_limit(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let huge = "x".repeat(66 << 20);
    let noted = Object::from_iter([("noted".to_owned(), huge.as_str().into())]);
    let mut in_parts = chunk(&writer.task, "a", "", false);
    let mut beside = in_parts.clone();
    let mut at_the_end = status(&writer.task, TaskState::Failed);
    if let Event::ArtifactUpdate(update) = &mut in_parts {
        update.artifact.parts = vec![Part::text(huge)];
    }
    if let Event::ArtifactUpdate(update) = &mut beside {
        update.artifact.metadata = Some(noted.clone());
    }
    if let Event::StatusUpdate(update) = &mut at_the_end {
        update.metadata = Some(noted);
    }
    for event in [in_parts, beside, at_the_end] {
        let answer = writer.append(writer.held(vec![event])).await;
        let is_refused = matches!(answer, Err(StoreError::TooLong(_)));
        holds("an event beyond the limit is too long", is_refused)?;
    }
    same("the log", writer.snapshot().await?.sequence, 1)?;
    writer.become_(TaskState::Failed).await
}

async fn read_in_parts(bench: Bench) -> Checked {
    let mut many = bench.begin("many").await?;
    let events = (0..600).map(|_| chunk(&many.task, "a", "1", true));
    many.add(events.collect()).await?;
    let batch = many.batch(1).await?.len();
    holds("fewer than 600 events at once", batch < 600)?;
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

async fn tells_of_growth(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let mut watch = bench.store.watch(&ada(), &writer.task).await?;
    for state in [TaskState::Working, TaskState::Completed] {
        writer.become_(state).await?;
        let grown = watch.wait_for(|end| *end >= writer.sequence);
        let end = soon("the watcher sees the append", grown)
            .await?
            .map(|end| *end);
        same("the sequence", end.ok(), Some(writer.sequence))?;
    }
    same("how many are swept", bench.sweep_all().await?, 1)?;
    let waiting = async { while watch.changed().await.is_ok() {} };
    soon("the watch is closed", waiting).await?;
    let again = bench.store.watch(&ada(), &writer.task).await;
    refused!(again, StoreError::NoTask);
    Ok(())
}
