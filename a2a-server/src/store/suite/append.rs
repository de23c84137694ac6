//! Cases of appends to a log.

use a2a_types::{Dialect, Event, IllegalEvent, TaskState};

use super::super::limits::{MAX_ARTIFACTS, MAX_MESSAGES};
use super::super::{Append, Appended, StoreError};
use super::bench::Bench;
use super::sample::{LONG, ada, chunk, object, receipt, said, status, step, taken, tells};
use super::saw::{Checked, refused, same};
use super::writer::Writer;

super::promises! {
    "append":
    adds_at_the_end = "events are added to the log and to the task, in order";
    all_or_nothing = "of an append that is refused nothing is kept: no event, message, lease, checkpoint, notification";
    at_the_known_end = "a writer who does not know the end of the log is told it, and writes nothing";
    nothing_after_the_end = "nothing happens to a task that has ended, except that it begins again";
    of_this_task = "an event of another task is refused";
    without_events = "an append without events changes no generation";
    no_task = "nothing is appended to a task that is not there";
    so_many_messages = "a task takes 1,000 messages of its caller, and can end after that";
    so_many_artifacts = "a task has 10,000 artifacts at most, and goes on with those";
    so_many_bytes = "a log does not grow beyond 64 MiB, but a task can always end";
}

async fn adds_at_the_end(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let mut task = writer.task().await?;
    let appends = [
        vec![status(&writer.task, TaskState::Working)],
        vec![
            chunk(&writer.task, "a", "1", false),
            said(&writer.task, "m"),
            chunk(&writer.task, "a", "2", true),
        ],
        vec![tells(&writer.task, TaskState::Completed, "done")],
    ];
    for events in &appends {
        writer.add(events.clone()).await?;
        for event in events {
            apply(&mut task, event);
        }
        same("the task", writer.task().await?, task.clone())?;
    }
    same("the log", writer.read(1).await?, appends.concat())
}

async fn all_or_nothing(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let config = super::sample::config(&writer.task, "c");
    bench
        .store
        .put_config(&ada(), config, Dialect::V1_0)
        .await?;
    writer.become_(TaskState::Working).await?;
    let before = writer.look().await?;
    let watch = bench.store.watch(&ada(), &writer.task).await?;
    let half_right = || Append {
        release: true,
        receipt: Some(receipt("m")),
        checkpoint: Some(object("step", 1)),
        notify: true,
        ..writer.held(vec![
            chunk(&writer.task, "a", "1", false),
            said(&writer.task, "m"),
            status(&writer.task, TaskState::Submitted),
        ])
    };
    let again = Append {
        lease: taken("h", LONG),
        ..half_right()
    };
    for append in [half_right(), again] {
        refused!(writer.append(append).await, StoreError::Illegal(_));
    }
    let fenced = Append::held(2, 9, vec![chunk(&writer.task, "a", "1", false)]);
    refused!(writer.append(fenced).await, StoreError::Fenced);

    same("the task", writer.look().await?, before)?;
    let told = *watch.borrow();
    same("the generation that is watched", told, 2)?;
    let received = bench.store.received(&ada(), &"m".into()).await?;
    same("the message", received, None)?;
    same("the notifications", bench.due().await?, vec![])?;
    let other = writer.with(taken("other", LONG), vec![]);
    refused!(writer.append(other).await, StoreError::Leased);
    writer.become_(TaskState::Completed).await
}

async fn at_the_known_end(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    writer.become_(TaskState::Working).await?;
    writer.add(vec![said(&writer.task, "m")]).await?;
    let before = writer.look().await?;
    for after in [0, 1, 2, 4, 100] {
        let append = Append {
            after,
            ..writer.held(vec![chunk(&writer.task, "a", "1", false)])
        };
        refused!(writer.append(append).await, StoreError::Behind(3));
    }
    same("the task", writer.look().await?, before)?;
    writer.become_(TaskState::Completed).await
}

async fn nothing_after_the_end(bench: Bench) -> Checked {
    use TaskState::{Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Working};
    for end in [Completed, Failed, Canceled, Rejected] {
        let mut writer = bench.begin(end.as_str()).await?;
        writer.become_(end).await?;
        let before = writer.look().await?;
        let task = writer.task.clone();
        let late = [
            said(&task, "m"),
            chunk(&task, "a", "1", false),
            chunk(&task, "a", "1", true),
            status(&task, Working),
            status(&task, InputRequired),
            status(&task, Completed),
            status(&task, Canceled),
        ];
        for event in late {
            let append = writer.held(vec![event]);
            refused!(writer.append(append).await, StoreError::Illegal(_));
        }
        same("the task that has ended", writer.look().await?, before)?;
        writer
            .add(vec![status(&task, Submitted), said(&task, "m")])
            .await?;
        let again = writer.snapshot().await?.task.status.state;
        same("the state of a task that began again", again, Submitted)?;
    }
    Ok(())
}

async fn of_this_task(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    bench.begin("u").await?;
    let events = [
        said(&"u".into(), "m"),
        chunk(&"u".into(), "a", "1", false),
        status(&"u".into(), TaskState::Working),
        Event::Task(super::sample::task("u")),
    ];
    for event in events {
        let append = writer.held(vec![event]);
        let illegal = writer.append(append).await;
        refused!(illegal, StoreError::Illegal(IllegalEvent::OtherTask { .. }));
    }
    same("the generation", writer.snapshot().await?.generation, 1)
}

async fn without_events(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    writer.become_(TaskState::Working).await?;
    let before = writer.look().await?;
    let note = Append {
        checkpoint: Some(object("step", 1)),
        notify: true,
        ..writer.held(vec![])
    };
    writer.write(note).await?;
    let hand_back = Append {
        release: true,
        ..writer.held(vec![])
    };
    writer.write(hand_back).await?;
    writer
        .write(writer.with(taken("other", LONG), vec![]))
        .await?;
    let behind = Append::held(1, writer.epoch, vec![]);
    refused!(writer.append(behind).await, StoreError::Behind(2));
    let mut after = writer.look().await?;
    same(
        "the checkpoint",
        after.checkpoint.take(),
        Some(object("step", 1)),
    )?;
    same("the task", after, before)
}

async fn no_task(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let nowhere = Writer {
        task: "u".into(),
        ..writer.clone()
    };
    let append = || Append {
        receipt: Some(receipt("m")),
        ..writer.held(vec![said(&nowhere.task, "m")])
    };
    refused!(nowhere.append(append()).await, StoreError::NoTask);
    same("the task exists", nowhere.exists().await?, false)?;
    let received = bench.store.received(&ada(), &"m".into()).await?;
    same("the message", received, None)
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
    let Appended { generation, epoch } =
        Appended::new(writer.snapshot().await?.generation, writer.epoch);
    same("the log", (generation, epoch), (1, 1))?;
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

/// Applies an event of a case to a task; panics if the event is illegal.
pub(super) fn apply(task: &mut a2a_types::Task, event: &Event) {
    task.apply(event).expect("the case's own events are legal");
}
