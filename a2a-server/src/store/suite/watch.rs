//! Cases of watches on a log.

use a2a_types::TaskState;

use super::super::StoreError;
use super::bench::{Bench, soon};
use super::sample::{ada, chunk};
use super::saw::{Checked, Saw, holds, refused, same};

super::promises! {
    "watch":
    tells_of_growth = "who watches is told of what is appended";
    stored_first = "what is told is stored";
    never_back = "the sequence number that is told only grows";
    closed = "who watches is told when the task is gone";
}

async fn tells_of_growth(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let mut watch = bench.store.watch(&ada(), &writer.task).await?;
    for _ in 0..5 {
        let next = writer.sequence + 1;
        let waiting = tokio::spawn(async move {
            let told = watch.wait_for(|told| *told >= next).await.is_ok();
            (watch, told)
        });
        tokio::task::yield_now().await;
        writer
            .add(vec![chunk(&writer.task, "a", "1", true)])
            .await?;
        let joined = soon("the watcher is told", waiting).await?;
        let (back, told) = joined.map_err(|error| Saw::new(error.to_string()))?;
        holds("the watch is open", told)?;
        watch = back;
        let told = *watch.borrow();
        same("the sequence", told, writer.sequence)?;
    }
    Ok(())
}

async fn stored_first(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let reader = writer.clone();
    let mut watch = bench.store.watch(&ada(), &writer.task).await?;
    let reading = tokio::spawn(async move {
        let mut seen = 1;
        while seen < 101 {
            let told = watch.wait_for(|told| *told > seen).await;
            let told = *told.map_err(|_| Saw::new("the watch is closed"))?;
            let snapshot = reader.snapshot().await?;
            holds("the task is stored", snapshot.sequence >= told)?;
            let read = reader.batch(told - 1).await?;
            holds("the event is stored", !read.is_empty())?;
            seen = told;
        }
        Ok::<_, Saw>(())
    });
    for _ in 0..100 {
        writer
            .add(vec![chunk(&writer.task, "a", "1", true)])
            .await?;
        tokio::task::yield_now().await;
    }
    let read = soon("the reader has read everything", reading).await?;
    read.map_err(|error| Saw::new(error.to_string()))?
}

async fn never_back(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let mut watch = bench.store.watch(&ada(), &writer.task).await?;
    let watching = tokio::spawn(async move {
        let mut seen = *watch.borrow_and_update();
        while seen < 81 {
            let changed = watch.changed().await;
            changed.map_err(|_| Saw::new("the watch is closed"))?;
            let told = *watch.borrow_and_update();
            holds(format!("{told} is not before {seen}"), told >= seen)?;
            seen = told;
        }
        same("the last sequence", seen, 81)
    });
    let mut writing = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut writer = writer.clone();
        writing.spawn(async move {
            let mut written = 0;
            while written < 20 {
                let append = writer.held(vec![chunk(&writer.task, "a", "1", true)]);
                match writer.append(append).await {
                    Ok(appended) => {
                        written += 1;
                        writer.sequence = appended.sequence;
                    }
                    Err(StoreError::Behind(end)) => writer.sequence = end,
                    Err(other) => return Err(Saw::from(other)),
                }
                tokio::task::yield_now().await;
            }
            Ok(())
        });
    }
    for written in writing.join_all().await {
        written?;
    }
    let watched = soon("the watcher is told of everything", watching).await?;
    watched.map_err(|error| Saw::new(error.to_string()))?
}

async fn closed(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let mut watch = bench.store.watch(&ada(), &writer.task).await?;
    writer.become_(TaskState::Completed).await?;
    same("how many are swept", bench.sweep_all().await?, 1)?;
    let waiting = async { while watch.changed().await.is_ok() {} };
    soon("the watch is closed", waiting).await?;
    refused!(
        bench.store.watch(&ada(), &writer.task).await,
        StoreError::NoTask
    );
    Ok(())
}
