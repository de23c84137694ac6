//! Cases of retention.

use std::time::Duration;

use a2a_types::TaskState;

use super::super::{Append, Retention};
use super::bench::{Bench, eventually};
use super::observation::{Checked, same};
use super::sample::{LONG, ada, status};
use super::writer::Writer;

super::promises! {
    "sweep":
    by_count = "of the tasks that have ended those are kept that ended last";
    by_age = "a task is swept when its end, not its beginning, is long enough ago";
    by_patience = "a task that waits for its caller is swept when it has waited long enough";
    not_while_worked_on = "a task that waits for its caller is not swept while somebody has its lease";
    from_the_last_end = "of a task that began again only its last end counts";
}

fn keep(age: Duration, count: usize) -> Retention {
    Retention {
        age,
        count,
        patience: LONG,
    }
}

fn patience(patience: Duration) -> Retention {
    Retention {
        patience,
        ..keep(LONG, ANY)
    }
}

fn released(append: Append) -> Append {
    Append {
        release: true,
        ..append
    }
}

const LITTLE: Duration = Duration::from_millis(1);
const ANY: usize = usize::MAX >> 1;

async fn ended(bench: &Bench, id: &str) -> Checked<Writer> {
    let mut writer = bench.begin(id).await?;
    writer.become_(TaskState::Completed).await?;
    // The next one ends later by any clock.
    bench.tick().await?;
    Ok(writer)
}

/// The ids of the tasks that are there.
async fn left(bench: &Bench) -> Checked<Vec<String>> {
    let mut found = bench.ids(&ada()).await?;
    found.sort();
    Ok(found)
}

async fn by_count(bench: Bench) -> Checked {
    let mut late = bench.begin("a").await?;
    for id in ["d", "b", "c"] {
        ended(&bench, id).await?;
    }
    late.become_(TaskState::Failed).await?;
    for (count, swept, remain) in [(4, 0, "abcd"), (3, 1, "abc"), (1, 2, "a"), (0, 1, "")] {
        let found = bench.store.sweep(keep(LONG, count)).await?;
        same("how many are swept", found, swept)?;
        same(
            "what is left",
            left(&bench).await?.concat(),
            remain.to_owned(),
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
        let old = keep(Duration::from_millis(1), ANY);
        let swept = bench.store.sweep(old).await?;
        Ok((swept > 0).then_some(swept))
    })
    .await?;
    same("how many are swept", swept, 1)?;
    same("what is left", left(&bench).await?, vec!["late".to_owned()])?;
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
        let mut waiting = bench.begin(id).await?;
        let asked = vec![status(&waiting.task, state)];
        waiting.write(released(waiting.held(asked))).await?;
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
    let remain = vec!["again".to_owned(), "open".to_owned()];
    same("what is left", left(&bench).await?, remain)
}
