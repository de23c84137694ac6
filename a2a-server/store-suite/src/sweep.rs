//! Cases of retention.

use std::time::Duration;

use a2a_server::{Append, ListQuery, Retention};
use a2a_types::TaskState;

use crate::bench::{Bench, eventually};
use crate::case::promises;
use crate::observation::{Checked, same};
use crate::sample::{LONG, ada, retention, status};
use crate::writer::Writer;

promises! {
    "sweep.by_count": by_count = "of the tasks that have ended those are kept that ended last; of one that began again only its last end counts";
    "sweep.by_age": by_age = "a task is swept when its end, not its beginning, is long enough ago";
    "sweep.by_patience": by_patience = "a task that waits for its caller is swept when it has waited long enough";
    "sweep.not_while_worked_on": not_while_worked_on = "a task that waits for its caller is not swept while a server has its lease";
}

fn keep(age: Duration, count: usize) -> Retention {
    retention(age, count, LONG)
}

fn patience(patience: Duration) -> Retention {
    retention(LONG, ALL, patience)
}

fn released(mut append: Append) -> Append {
    append.release = true;
    append
}

const LITTLE: Duration = Duration::from_millis(1);
const ALL: usize = usize::MAX >> 1;

async fn ended(bench: &Bench, id: &str) -> Checked<Writer> {
    let mut writer = bench.begin(id).await?;
    writer.become_(TaskState::Completed).await?;
    // The next one ends later by any clock.
    bench.tick().await?;
    Ok(writer)
}

/// The ids of Ada's tasks that are there.
async fn left(bench: &Bench) -> Checked<Vec<String>> {
    let page = bench.store.list(&ada(), ListQuery::new(ALL)).await?;
    let mut ids: Vec<_> = page.tasks.into_iter().map(|task| task.id.into()).collect();
    ids.sort();
    Ok(ids)
}

async fn by_count(bench: Bench) -> Checked {
    let mut again = ended(&bench, "a").await?;
    for id in ["d", "b", "c"] {
        ended(&bench, id).await?;
    }
    let mut open = ended(&bench, "o").await?;
    for writer in [&mut again, &mut open] {
        writer.become_(TaskState::Submitted).await?;
    }
    again.become_(TaskState::Failed).await?;
    for (count, swept, remain) in [(4, 0, "abcdo"), (3, 1, "abco"), (1, 2, "ao"), (0, 1, "o")] {
        let found = bench.store.sweep(keep(LONG, count)).await?;
        same("how many are swept", found, swept)?;
        let left = left(&bench).await?.concat();
        same("what is left", left, remain.to_owned())?;
    }
    Ok(())
}

async fn by_age(bench: Bench) -> Checked {
    let mut late = bench.begin("late").await?;
    ended(&bench, "early").await?;
    let none = bench.store.sweep(keep(LONG, ALL)).await?;
    same("how many are old", none, 0)?;
    let swept = eventually("an ended task gets old", || async {
        let old = keep(Duration::from_millis(1), ALL);
        let swept = bench.store.sweep(old).await?;
        Ok((swept > 0).then_some(swept))
    })
    .await?;
    same("how many are swept", swept, 1)?;
    same("what is left", left(&bench).await?, vec!["late".to_owned()])?;
    late.become_(TaskState::Completed).await?;
    let young = bench.store.sweep(keep(LONG, ALL)).await?;
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
        let mut waiting = bench.begin(id).await?;
        let interrupted = vec![status(&waiting.task, state)];
        let append = released(waiting.held(interrupted));
        waiting.write(append).await?;
    }
    bench.tick().await?;
    let none = bench.store.sweep(patience(LONG)).await?;
    same("how many have waited long", none, 0)?;
    let swept = bench.store.sweep(patience(LITTLE)).await?;
    same("how many are swept", swept, 2)?;
    let remain = ["answered", "ended", "working"].map(str::to_owned);
    same("what is left", left(&bench).await?, remain.to_vec())
}

async fn not_while_worked_on(bench: Bench) -> Checked {
    let mut waiting = bench.begin("t").await?;
    waiting.become_(TaskState::InputRequired).await?;
    bench.tick().await?;
    let none = bench.store.sweep(patience(LITTLE)).await?;
    same("how many are not worked on", none, 0)?;
    waiting.write(released(waiting.held(vec![]))).await?;
    let swept = bench.store.sweep(patience(LITTLE)).await?;
    same("how many are swept", swept, 1)
}
