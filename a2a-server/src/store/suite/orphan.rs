//! Cases of orphans.

use std::collections::BTreeSet;

use a2a_types::TaskState;

use super::super::{Append, NewTask, Owner};
use super::bench::Bench;
use super::sample::{LONG, NONE, ada, new, owner, status, taken, within};
use super::saw::{Checked, holds, same};

super::promises! {
    "orphan":
    unfinished = "a task with a lease that ran out is an orphan, unless it has ended or waits for its caller";
    without_a_lease = "a task whose lease was handed back is an orphan, and one whose lease lasts is none";
    so_many = "no more orphans are told than were asked for";
}

async fn unfinished(bench: Bench) -> Checked {
    use TaskState::*;
    let states = [
        Working,
        Completed,
        Failed,
        Canceled,
        InputRequired,
        Rejected,
        AuthRequired,
    ];
    let mut expected = BTreeSet::new();
    for owner in [ada(), within("tenant", ada()), owner("bob")] {
        let begin = |id: &str| NewTask {
            term: NONE,
            ..new(id)
        };
        bench.create(&owner, begin("submitted")).await?;
        expected.insert((owner.clone(), "submitted".to_owned()));
        for state in states {
            let mut writer = bench.create(&owner, begin(state.as_str())).await?;
            writer.become_(state).await?;
            if state == Working {
                expected.insert((owner.clone(), state.as_str().to_owned()));
            }
        }
        // A task that was answered, or has begun again, is worked on again.
        for (state, next) in [(InputRequired, Working), (Completed, Submitted)] {
            let id = format!("again {}", state.as_str());
            let mut writer = bench.create(&owner, begin(&id)).await?;
            writer.become_(state).await?;
            writer.become_(next).await?;
            expected.insert((owner.clone(), id));
        }
    }
    same("the orphans", bench.orphans().await?, expected)
}

async fn without_a_lease(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let found = |owner: Owner| BTreeSet::from([(owner, "t".to_owned())]);
    same("while the lease lasts", bench.orphans().await?, [].into())?;
    let hand_back = Append {
        release: true,
        ..writer.held(vec![status(&writer.task, TaskState::Working)])
    };
    writer.write(hand_back).await?;
    same("handed back", bench.orphans().await?, found(ada()))?;
    writer
        .write(writer.with(taken("other", LONG), vec![]))
        .await?;
    same("taken", bench.orphans().await?, [].into())?;
    writer
        .write(writer.with(taken("other", NONE), vec![]))
        .await?;
    same("ran out", bench.orphans().await?, found(ada()))
}

async fn so_many(bench: Bench) -> Checked {
    let mut all = BTreeSet::new();
    for id in ["a", "b", "c", "d", "e"] {
        let new = NewTask {
            term: NONE,
            ..new(id)
        };
        bench.create(&ada(), new).await?;
        all.insert(id.to_owned());
    }
    for (limit, expected) in [(1, 1), (3, 3), (5, 5), (6, 5)] {
        let orphans = bench.store.orphans(limit).await?;
        same("how many orphans", orphans.len(), expected)?;
        let ids: BTreeSet<_> = orphans
            .into_iter()
            .map(|orphan| orphan.task.into())
            .collect();
        same("how many of them differ", ids.len(), expected)?;
        holds("every orphan is known", ids.is_subset(&all))?;
    }
    Ok(())
}
