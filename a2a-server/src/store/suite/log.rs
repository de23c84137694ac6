//! Cases of reading a log.

use a2a_types::{Event, Part, Task, TaskState};

use super::super::{Append, Tail};
use super::append::apply;
use super::bench::Bench;
use super::sample::{ada, chunk, object, said, status, tells};
use super::saw::{Checked, holds, same};
use super::writer::Writer;

super::promises! {
    "log":
    task_is_its_fold = "the task is the fold of its log, however long that is";
    read_once_in_order = "a reader gets each event once, in order, wherever it begins";
    read_in_parts = "a reader who is far behind does not get everything at once";
    known_places = "before the first and after the last generation nothing is known, at the last there is nothing";
    keeps_the_checkpoint = "a checkpoint stays until it is replaced";
    keeps_what_is_shared = "what a reader was given does not change when the log grows";
}

/// A turn of the agent, with everything that can happen in one.
fn turn(task: &Task, number: usize) -> Vec<Event> {
    let id = &task.id;
    let artifact = format!("artifact {}", number % 3);
    let name = |what: &str| format!("{what} {number}");
    let mut events = vec![
        tells(id, TaskState::Working, &name("looking")),
        chunk(id, &artifact, "begin", number.is_multiple_of(7)),
        chunk(id, &artifact, "more", true),
        chunk(id, &name("artifact"), "all", false),
        tells(id, TaskState::InputRequired, &name("question")),
        said(id, &name("answer")),
    ];
    if number % 10 == 9 {
        events.push(status(id, TaskState::Completed));
        events.push(status(id, TaskState::Submitted));
    }
    if number % 17 == 16 {
        events.push(Event::Task(Task {
            history: Vec::new(),
            metadata: Some(object("replaced", 1)),
            ..task.clone()
        }));
    }
    events
}

/// A log of more than 200 events, written in pieces of different sizes, with the expected task and events.
async fn long(bench: &Bench) -> Checked<(Writer, Task, Vec<Event>)> {
    let mut writer = bench.begin("t").await?;
    let mut task = writer.task().await?;
    let mut log = Vec::new();
    for number in 0..35 {
        let events = turn(&task, number);
        for piece in events.chunks(1 + number % 9) {
            writer.add(piece.to_vec()).await?;
        }
        events.iter().for_each(|event| apply(&mut task, event));
        log.extend(events);
        let found = writer.snapshot().await?;
        same("the generation", found.generation, log.len() as u64 + 1)?;
        same("the task", &*found.task, &task)?;
    }
    Ok((writer, task, log))
}

async fn task_is_its_fold(bench: Bench) -> Checked {
    let (mut writer, mut task, log) = long(&bench).await?;
    let mut folded = super::sample::task("t");
    log.iter().for_each(|event| apply(&mut folded, event));
    same("the fold of what was written", &folded, &task)?;
    let mut read = super::sample::task("t");
    let found = writer.read(1).await?;
    found.iter().try_for_each(|event| {
        let applied = read.apply(event);
        holds("what is read can be folded", applied.is_ok())
    })?;
    same("the fold of what is read", &read, &task)?;
    let end = tells(&task.id, TaskState::Completed, "done");
    apply(&mut task, &end);
    writer.add(vec![end]).await?;
    same("the task at its end", writer.task().await?, task)
}

async fn read_once_in_order(bench: Bench) -> Checked {
    let (writer, _, log) = long(&bench).await?;
    for after in [
        1,
        2,
        3,
        31,
        32,
        33,
        63,
        64,
        65,
        128,
        200,
        writer.generation - 1,
    ] {
        let after_that = usize::try_from(after - 1).unwrap_or(usize::MAX);
        let expected = log[after_that..].to_vec();
        same("the log", writer.read(after).await?, expected)?;
    }
    let one_after_the_other = async {
        for (after, event) in (1..).zip(&log) {
            let batch = writer.batch(after).await?;
            let next = batch.first().map(|next| (next.generation, &*next.event));
            same("the next event", next, Some((after + 1, event)))?;
        }
        Ok(())
    };
    one_after_the_other.await
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

async fn known_places(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    for length in 1..4 {
        same("at the end", writer.batch(length).await?.len(), 0)?;
        for unknown in [0, length + 1, length + 100, u64::MAX >> 1] {
            let tail = bench
                .store
                .events_after(&ada(), &writer.task, unknown)
                .await?;
            let is_unknown = matches!(tail, Tail::Unknown);
            holds(format!("{unknown} of {length} is unknown"), is_unknown)?;
        }
        writer
            .add(vec![chunk(&writer.task, "a", "1", true)])
            .await?;
    }
    Ok(())
}

async fn keeps_the_checkpoint(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let mut expected = None;
    for step in 0..80 {
        let checkpoint = (step % 20 == 7).then(|| object("step", step));
        let append = Append {
            checkpoint: checkpoint.clone(),
            ..writer.held(vec![chunk(&writer.task, "a", "1", true)])
        };
        writer.write(append).await?;
        expected = checkpoint.or(expected);
        let found = writer.snapshot().await?.checkpoint;
        same("the checkpoint", found, expected.clone())?;
    }
    let empty = Append {
        checkpoint: Some(a2a_types::Object::new()),
        ..writer.held(vec![status(&writer.task, TaskState::InputRequired)])
    };
    writer.write(empty).await?;
    let found = writer.snapshot().await?.checkpoint;
    same(
        "the empty checkpoint",
        found,
        Some(a2a_types::Object::new()),
    )
}

async fn keeps_what_is_shared(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    writer
        .add(vec![chunk(&writer.task, "a", "1", false)])
        .await?;
    let before = writer.look().await?;
    let batch = writer.batch(1).await?;
    writer
        .add(vec![chunk(&writer.task, "a", "2", true)])
        .await?;
    writer.become_(TaskState::Completed).await?;
    let read: Vec<_> = batch
        .iter()
        .map(|logged| Event::clone(&logged.event))
        .collect();
    same("what was read", read, before.events.clone())?;
    let now = writer.read(1).await?;
    same("the log begins as it did", &now[..1], &before.events[..])
}
