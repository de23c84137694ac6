//! Cases of leases.

use a2a_types::TaskState;

use super::super::{Append, NewTask, StoreError};
use super::bench::{Bench, eventually};
use super::sample::{LONG, NONE, SHORT, ada, chunk, new, seized, status, taken};
use super::saw::{Checked, Saw, refused, same};
use super::writer::Writer;

super::promises! {
    "lease":
    held_after_it_ran_out = "a lease that ran out is good for writing while nobody has taken it";
    fenced = "a writer whose lease was taken writes nothing any more";
    respected = "nobody takes a lease that has not run out";
    runs_out = "a lease can be taken once its term is over by the store's clock";
    taken_again = "a holder takes a lease of its own at any time, and its older one ends";
    handed_back = "a lease that was handed back can be taken at once";
    seized_always = "a lease can be seized, whoever has it";
    counted = "every lease has the epoch after the last one's, and its own term";
}

async fn free(bench: &Bench) -> Checked<Writer> {
    let new = NewTask {
        term: NONE,
        ..new("t")
    };
    Ok(bench.create(&ada(), new).await?)
}

async fn held_after_it_ran_out(bench: Bench) -> Checked {
    let mut writer = free(&bench).await?;
    writer.become_(TaskState::Working).await?;
    writer
        .add(vec![chunk(&writer.task, "a", "1", false)])
        .await?;
    writer.become_(TaskState::Completed).await
}

async fn fenced(bench: Bench) -> Checked {
    for lease in [
        taken("other", LONG),
        seized("other", LONG),
        taken("other", NONE),
    ] {
        let id = format!("{lease:?}");
        let new = NewTask {
            term: NONE,
            ..new(&id)
        };
        let mut writer = bench.create(&ada(), new).await?;
        let zombie = writer.clone();
        writer.write(writer.with(lease, vec![])).await?;
        let before = writer.look().await?;
        for _ in 0..2 {
            let late = zombie.held(vec![status(&zombie.task, TaskState::Working)]);
            refused!(zombie.append(late).await, StoreError::Fenced);
            let quiet = Append {
                release: true,
                ..zombie.held(vec![])
            };
            refused!(zombie.append(quiet).await, StoreError::Fenced);
        }
        same("the task", writer.look().await?, before)?;
        writer.become_(TaskState::Working).await?;
    }
    Ok(())
}

async fn respected(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    for state in [TaskState::Working, TaskState::InputRequired] {
        let other = writer.with(taken("other", LONG), vec![status(&writer.task, state)]);
        refused!(writer.append(other).await, StoreError::Leased);
        writer.become_(state).await?;
    }
    Ok(())
}

async fn runs_out(bench: Bench) -> Checked {
    let new = NewTask {
        term: SHORT,
        ..new("t")
    };
    let mut writer = bench.create(&ada(), new).await?;
    for holder in ["b", "c"] {
        let epoch = eventually("the lease runs out", || async {
            match writer
                .append(writer.with(taken(holder, SHORT), vec![]))
                .await
            {
                Ok(appended) => Ok(Some(appended.epoch)),
                Err(StoreError::Leased) => Ok(None),
                Err(other) => Err(Saw::from(other)),
            }
        })
        .await?;
        same("the epoch", epoch, writer.epoch + 1)?;
        writer.epoch = epoch;
    }
    writer.become_(TaskState::Working).await
}

async fn taken_again(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let older = writer.clone();
    let working = vec![status(&writer.task, TaskState::Working)];
    writer.write(writer.with(taken("h", LONG), working)).await?;
    let late = Append {
        after: 2,
        ..older.held(vec![chunk(&older.task, "a", "1", false)])
    };
    refused!(older.append(late).await, StoreError::Fenced);
    let other = writer.with(taken("other", LONG), vec![]);
    refused!(writer.append(other).await, StoreError::Leased);
    writer.become_(TaskState::Completed).await
}

async fn handed_back(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    for holder in ["b", "c", "d"] {
        let events = vec![chunk(&writer.task, "a", "1", true)];
        let hand_back = Append {
            release: true,
            ..writer.held(events.clone())
        };
        writer.write(hand_back).await?;
        writer
            .write(writer.with(taken(holder, LONG), events))
            .await?;
        let other = writer.with(taken("other", LONG), vec![]);
        refused!(writer.append(other).await, StoreError::Leased);
    }
    // Taken and handed back at once.
    let at_once = Append {
        release: true,
        ..writer.with(taken("d", LONG), vec![])
    };
    writer.write(at_once).await?;
    writer.write(writer.with(taken("e", LONG), vec![])).await
}

async fn seized_always(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    writer.become_(TaskState::Working).await?;
    for holder in ["other", "other", "h"] {
        let older = writer.clone();
        let events = vec![chunk(&writer.task, "a", holder, true)];
        writer
            .write(writer.with(seized(holder, LONG), events))
            .await?;
        let late = Append {
            after: writer.generation,
            ..older.held(vec![])
        };
        refused!(older.append(late).await, StoreError::Fenced);
    }
    let late = writer.with(taken("other", LONG), vec![]);
    refused!(writer.append(late).await, StoreError::Leased);
    let canceled = vec![status(&writer.task, TaskState::Canceled)];
    writer
        .write(writer.with(seized("other", LONG), canceled))
        .await
}

async fn counted(bench: Bench) -> Checked {
    let mut writer = free(&bench).await?;
    let leases = [
        taken("a", NONE),
        taken("b", NONE),
        seized("c", NONE),
        taken("c", NONE),
        seized("a", LONG),
        taken("a", NONE),
        taken("b", LONG),
    ];
    for (lease, epoch) in leases.into_iter().zip(2..) {
        writer.write(writer.with(lease, vec![])).await?;
        same("the epoch", writer.epoch, epoch)?;
        // What is written in between changes no epoch.
        writer
            .add(vec![chunk(&writer.task, "a", "1", true)])
            .await?;
    }
    let other = writer.with(taken("a", LONG), vec![]);
    refused!(writer.append(other).await, StoreError::Leased);
    Ok(())
}
