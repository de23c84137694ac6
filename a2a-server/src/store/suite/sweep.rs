//! Cases of retention.

use std::time::Duration;

use a2a_types::{Dialect, TaskState};

use super::super::{Append, NewTask, Retention, Snapshot, StoreError};
use super::bench::{Bench, eventually};
use super::sample::{LONG, NONE, ada, chunk, config, new, owner, within};
use super::saw::{Checked, refused, same};
use super::writer::Writer;

super::promises! {
    "sweep":
    only_what_has_ended = "a task that has not ended is not swept";
    by_count = "of the tasks that have ended those are kept that ended last";
    by_age = "a task is swept when its end, not its beginning, is long enough ago";
    by_patience = "a task that waits for its caller is swept when it has waited long enough";
    from_the_last_end = "of a task that began again only its last end counts";
    all_of_it = "nothing of a task that was swept is left, and its id can be used again";
}

fn keep(age: Duration, count: usize) -> Retention {
    Retention {
        age,
        count,
        patience: LONG,
    }
}

const ANY: usize = usize::MAX >> 1;

async fn ended(bench: &Bench, id: &str) -> Checked<Writer> {
    let mut writer = bench.begin(id).await?;
    writer.become_(TaskState::Completed).await?;
    // The next one ends later by any clock.
    bench.tick().await?;
    Ok(writer)
}

async fn only_what_has_ended(bench: Bench) -> Checked {
    use TaskState::*;
    let mut left = vec!["SUBMITTED".to_owned()];
    let submitted = NewTask {
        term: NONE,
        ..new("SUBMITTED")
    };
    bench.create(&ada(), submitted).await?;
    let states = [
        Working,
        Completed,
        Failed,
        Canceled,
        InputRequired,
        Rejected,
        AuthRequired,
    ];
    for state in states {
        let mut writer = bench.begin(state.as_str()).await?;
        writer.become_(state).await?;
        if !state.is_terminal() {
            left.push(state.as_str().to_owned());
        }
    }
    let mut again = bench.begin("again").await?;
    again.become_(Completed).await?;
    again.become_(Submitted).await?;
    left.push("again".to_owned());
    left.sort();
    let nothing = bench.store.sweep(keep(LONG, ANY)).await?;
    same("how many of those that may stay", nothing, 0)?;
    same("how many are swept", bench.sweep_all().await?, 4)?;
    same("how many are swept again", bench.sweep_all().await?, 0)?;
    bench.tick().await?;
    let old = bench.store.sweep(keep(NONE, ANY)).await?;
    same("how many old ones", old, 0)?;
    let mut found = bench.ids(&ada()).await?;
    found.sort();
    same("what is left", found, left)
}

async fn by_count(bench: Bench) -> Checked {
    let mut late = bench.begin("a").await?;
    for id in ["d", "b", "c"] {
        ended(&bench, id).await?;
    }
    late.become_(TaskState::Failed).await?;
    for (count, swept, left) in [
        (4, 0, vec!["a", "b", "c", "d"]),
        (3, 1, vec!["a", "b", "c"]),
        (1, 2, vec!["a"]),
        (0, 1, vec![]),
    ] {
        let found = bench.store.sweep(keep(LONG, count)).await?;
        same("how many are swept", found, swept)?;
        let mut found = bench.ids(&ada()).await?;
        found.sort();
        same(
            "what is left",
            found,
            left.into_iter().map(str::to_owned).collect(),
        )?;
    }
    Ok(())
}

async fn by_age(bench: Bench) -> Checked {
    let mut late = bench.begin("late").await?;
    ended(&bench, "early").await?;
    let none = bench.store.sweep(keep(LONG, ANY)).await?;
    same("how many are old", none, 0)?;
    let swept = eventually("an ended task gets old", || async {
        let swept = bench
            .store
            .sweep(keep(Duration::from_millis(1), ANY))
            .await?;
        Ok((swept > 0).then_some(swept))
    })
    .await?;
    same("how many are swept", swept, 1)?;
    same(
        "what is left",
        bench.ids(&ada()).await?,
        vec!["late".to_owned()],
    )?;
    late.become_(TaskState::Completed).await?;
    let young = bench.store.sweep(keep(LONG, ANY)).await?;
    same("how many of the young ones", young, 0)
}

async fn by_patience(bench: Bench) -> Checked {
    bench.begin("working").await?;
    ended(&bench, "ended").await?;
    let mut answered = bench.begin("answered").await?;
    answered.become_(TaskState::InputRequired).await?;
    answered.become_(TaskState::Working).await?;
    for (id, state) in [
        ("input", TaskState::InputRequired),
        ("auth", TaskState::AuthRequired),
    ] {
        bench.begin(id).await?.become_(state).await?;
    }
    bench.tick().await?;
    let patience = |patience| Retention {
        patience,
        ..keep(LONG, ANY)
    };
    let none = bench.store.sweep(patience(LONG)).await?;
    same("how many have waited long", none, 0)?;
    let swept = bench
        .store
        .sweep(patience(Duration::from_millis(1)))
        .await?;
    same("how many are swept", swept, 2)?;
    let mut found = bench.ids(&ada()).await?;
    found.sort();
    let left = ["answered", "ended", "working"].map(str::to_owned);
    same("what is left", found, left.to_vec())
}

async fn from_the_last_end(bench: Bench) -> Checked {
    let mut again = ended(&bench, "again").await?;
    ended(&bench, "once").await?;
    let mut open = ended(&bench, "open").await?;
    again.become_(TaskState::Submitted).await?;
    again.become_(TaskState::Completed).await?;
    open.become_(TaskState::Submitted).await?;
    // Two have ended, `again` after `once`.
    let swept = bench.store.sweep(keep(LONG, 2)).await?;
    same("how many are too many", swept, 0)?;
    let swept = bench.store.sweep(keep(LONG, 1)).await?;
    same("how many are swept", swept, 1)?;
    let mut found = bench.ids(&ada()).await?;
    found.sort();
    let left = vec!["again".to_owned(), "open".to_owned()];
    same("what is left", found, left)
}

async fn all_of_it(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let webhook = config(&writer.task, "c");
    bench
        .store
        .put_config(&ada(), webhook, Dialect::V1_0)
        .await?;
    let others = [within("tenant", ada()), owner("bob")];
    for other in &others {
        bench.create(other, new("t")).await?;
    }
    let end = Append {
        notify: true,
        checkpoint: Some(super::sample::object("step", 1)),
        ..writer.held(vec![
            chunk(&writer.task, "a", "1", false),
            super::sample::status(&writer.task, TaskState::Completed),
        ])
    };
    writer.write(end).await?;
    same("how many are due", bench.due().await?.len(), 1)?;
    same("how many are swept", bench.sweep_all().await?, 1)?;

    let (store, task) = (&bench.store, &writer.task);
    same("the task exists", writer.exists().await?, false)?;
    same("the tasks", bench.ids(&ada()).await?, vec![])?;
    refused!(
        store.events_after(&ada(), task, 1).await,
        StoreError::NoTask
    );
    refused!(store.configs(&ada(), task).await, StoreError::NoTask);
    refused!(store.watch(&ada(), task).await, StoreError::NoTask);
    let late = writer.held(vec![super::sample::status(task, TaskState::Submitted)]);
    refused!(writer.append(late).await, StoreError::NoTask);
    same("what is due", bench.due().await?, vec![])?;
    for other in &others {
        let left = bench.ids(other).await?;
        same("another's task", left, vec!["t".to_owned()])?;
    }

    let mut second = bench.begin("t").await?;
    let Snapshot {
        task,
        generation,
        checkpoint,
        ..
    } = second.snapshot().await?;
    same("the new task", &*task, &super::sample::task("t"))?;
    same(
        "its generation and checkpoint",
        (generation, checkpoint),
        (1, None),
    )?;
    same("its webhooks", second.look().await?.configs, vec![])?;
    same("what is due", bench.due().await?, vec![])?;
    second.become_(TaskState::Completed).await
}
