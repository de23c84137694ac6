//! Cases of concurrent operations.

use std::collections::BTreeSet;

use a2a_server::{Outcome, StoreError};
use a2a_types::{Event, Message, TaskState};
use tokio::task::JoinSet;

use crate::bench::{Bench, soon};
use crate::case::promises;
use crate::observation::{Checked, Observation, holds, same};
use crate::sample::{
    LONG, NONE, ada, chunk, new_by, new_for, receipt, said, seized, status, taken,
};
use crate::writer::Writer;

promises! {
    "race.one_writer_wins": one_writer_wins = "of writers who know the same end of a log one appends, nothing that was appended is lost, and the reported sequence number only grows";
    "race.followers_agree": followers_agree = "everyone who follows a log sees the same events in the same order, none left out";
    "race.one_message_one_task": one_message_one_task = "of tasks that are created at once each id and each message begins one";
    "race.one_answer": one_answer = "a message that comes many times at once is appended or answered once";
    "race.one_lease": one_lease = "a lease that many want at once is taken by one";
    "race.fenced_at_once": fenced_at_once = "of a writer and one who seizes its lease at once only one succeeds";
    "race.not_swept_at_once": not_swept_at_once = "a task that begins again while others are swept is either gone or stays";
    "race.taken_once": taken_once = "a notification that many senders want at once is taken by one";
}

/// Does something `count` times at once; returns each result.
async fn at_once<T, F>(count: usize, act: impl Fn(usize) -> F) -> Checked<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut acting = JoinSet::new();
    for number in 0..count {
        acting.spawn(act(number));
    }
    let mut came = Vec::new();
    while let Some(joined) = acting.join_next().await {
        came.push(joined.map_err(|error| Observation::new(error.to_string()))?);
    }
    Ok(came)
}

/// Watches a log until it has `end` entries: the sequence number only grows.
async fn watch(reader: Writer, end: u64) -> Checked {
    let mut watch = reader.store.watch(&reader.owner, &reader.task).await?;
    let mut seen = *watch.borrow_and_update();
    while seen < end {
        let changed = watch.changed().await;
        changed.map_err(|_| Observation::new("the watch is closed"))?;
        let sequence = *watch.borrow_and_update();
        holds(format!("{sequence} is not before {seen}"), sequence >= seen)?;
        seen = sequence;
    }
    same("the last sequence", seen, end)
}

async fn one_writer_wins(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let watching = tokio::spawn(watch(writer.clone(), 97));
    let written = at_once(8, |number| {
        let mut writer = writer.clone();
        async move {
            let mut won = Vec::new();
            while won.len() < 12 {
                let event = said(&writer.task, &format!("{number}.{}", won.len()));
                let append = writer.held(vec![event.clone()]);
                match writer.append(append).await {
                    Ok(appended) => {
                        let next = writer.sequence + 1;
                        same("the sequence", appended.sequence, next)?;
                        writer.sequence = next;
                        won.push((next, event));
                    }
                    Err(StoreError::SequenceConflict(end)) => {
                        holds("the log has grown", end > writer.sequence)?;
                        writer.sequence = end;
                    }
                    Err(other) => return Err(Observation::from(other)),
                }
                tokio::task::yield_now().await;
            }
            Ok(won)
        }
    })
    .await?;
    let mut expected = Vec::new();
    for won in written {
        expected.extend(won?);
    }
    expected.sort_by_key(|(sequence, _)| *sequence);
    let found: Vec<_> = (2..).zip(writer.read(1).await?).collect();
    same("the log", found, expected)?;
    let history = writer.snapshot().await?.task.history.len();
    same("how many messages are in the history", history, 97)?;
    soon("the watcher sees every append", watching).await??
}

/// Follows a log to the end of its task, as a stream does.
async fn follow(reader: Writer) -> Checked<Vec<(u64, Event)>> {
    let mut watch = reader.store.watch(&reader.owner, &reader.task).await?;
    let mut seen = Vec::new();
    let mut after = 1;
    loop {
        let grown = watch.wait_for(|known| *known > after).await;
        let known = *grown.map_err(|_| Observation::new("the watch is closed"))?;
        let stored = reader.snapshot().await?.sequence;
        holds("the task is stored", stored >= known)?;
        let events = reader.batch(after).await?;
        holds("the event is stored", !events.is_empty())?;
        for logged in events {
            after = logged.sequence;
            seen.push((after, Event::clone(&logged.event)));
            let status = logged.event.status();
            if status.is_some_and(|status| status.state.is_terminal()) {
                return Ok(seen);
            }
        }
        tokio::task::yield_now().await;
    }
}

async fn followers_agree(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let reader = writer.clone();
    let following = tokio::spawn(async move { at_once(8, |_| follow(reader.clone())).await });
    let mut expected = Vec::new();
    for number in 0..60 {
        let count = 1 + number % 3;
        let events: Vec<_> = (0..count)
            .map(|part| chunk(&writer.task, "a", &format!("{number}.{part}"), true))
            .collect();
        writer.add(events.clone()).await?;
        expected.extend(events);
        tokio::task::yield_now().await;
    }
    let end = status(&writer.task, TaskState::Completed);
    writer.add(vec![end.clone()]).await?;
    expected.push(end);
    let expected: Vec<_> = (2..).zip(expected).collect();
    let followed = soon("the followers reach the end", following).await???;
    for seen in followed {
        same("what a follower sees", seen?, expected.clone())?;
    }
    Ok(())
}

/// Returns the number of successes, if the others were refused as they should be.
fn winners<T>(came: Vec<Result<T, StoreError>>, loses: fn(&StoreError) -> bool) -> Checked<usize> {
    let mut count = 0;
    for one in came {
        match one {
            Ok(_) => count += 1,
            Err(error) if loses(&error) => {}
            Err(other) => return Err(Observation::from(other)),
        }
    }
    Ok(count)
}

/// Returns what became of Ada's message.
async fn outcome(bench: &Bench, message: &str) -> Checked<Option<Outcome>> {
    let found = bench.store.received(&ada(), &message.into()).await?;
    Ok(found.map(|received| received.outcome))
}

async fn one_message_one_task(bench: Bench) -> Checked {
    let loses =
        |error: &StoreError| matches!(error, StoreError::DuplicateMessage | StoreError::TaskExists);
    for round in 0..4 {
        // Four ids with each of four messages: whichever come first, four go together.
        let name = |of: usize| format!("{round}.{of}");
        let came = at_once(16, |number| {
            let new = new_by(receipt(&name(number / 4)), &name(number % 4));
            let store = bench.store.clone();
            async move { store.create(&ada(), new).await }
        });
        same("how many tasks began", winners(came.await?, loses)?, 4)?;
        let mut begun = BTreeSet::new();
        for message in 0..4 {
            if let Some(Outcome::Task(task)) = outcome(&bench, &name(message)).await? {
                begun.insert(String::from(task));
            }
        }
        let tasks: BTreeSet<_> = (0..4).map(name).collect();
        same("the tasks that a message began", begun, tasks)?;
    }
    Ok(())
}

async fn one_answer(bench: Bench) -> Checked {
    let received = |error: &StoreError| matches!(error, StoreError::DuplicateMessage);
    for round in 0..6 {
        let message = format!("m{round}");
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        let writers = [bench.begin(&a).await?, bench.begin(&b).await?];
        let came = at_once(15, |number| {
            let writer = writers[number % 2].clone();
            let receipt = receipt(&message);
            // A different one is the first each time.
            let answers = (number + round).is_multiple_of(3);
            async move {
                if answers {
                    let answer = Message::agent("hello");
                    return writer.store.store_response(&ada(), receipt, answer).await;
                }
                let mut append = writer.held(vec![said(&writer.task, "m")]);
                append.receipt = Some(receipt);
                match writer.append(append).await {
                    // The same message was first, and so the end of the log is another.
                    Err(StoreError::SequenceConflict(2)) => Err(StoreError::DuplicateMessage),
                    appended => appended.map(drop),
                }
            }
        });
        same("how many were taken", winners(came.await?, received)?, 1)?;
        let outcome = outcome(&bench, &message).await?;
        for writer in writers {
            let has_it = writer.read(1).await?.len() == 1;
            let is_it = outcome == Some(Outcome::Task(writer.task.clone()));
            same("whether the message is in a task", has_it, is_it)?;
        }
    }
    Ok(())
}

async fn one_lease(bench: Bench) -> Checked {
    let leased = |error: &StoreError| matches!(error, StoreError::Leased);
    for round in 0..4 {
        let new = new_for(NONE, &format!("t{round}"));
        let writer = bench.create(&ada(), new).await?;
        let came = at_once(16, |number| {
            let writer = writer.clone();
            let append = writer.with(taken(&format!("h{number}"), LONG), vec![]);
            async move { writer.append(append).await }
        });
        same("how many have the lease", winners(came.await?, leased)?, 1)?;
        let second = Writer { epoch: 2, ..writer };
        second.append(second.held(vec![])).await?;
    }
    Ok(())
}

async fn fenced_at_once(bench: Bench) -> Checked {
    for round in 0..24 {
        let writer = bench.begin(&format!("t{round}")).await?;
        let came = at_once(2, |number| {
            let writer = writer.clone();
            let seizes = number == round % 2;
            // The append that takes the lease has no events, so the sequence number protects
            // neither writer.
            let append = match seizes {
                true => writer.with(seized("other", LONG), vec![]),
                false => writer.held(vec![chunk(&writer.task, "a", "1", false)]),
            };
            async move { (seizes, writer.append(append).await) }
        });
        let mut first = None;
        for (seizes, appended) in came.await? {
            match appended {
                Ok(_) => same("who else was first", first.replace(seizes), None)?,
                Err(StoreError::SequenceConflict(2)) => {}
                Err(StoreError::Fenced) if !seizes => {}
                Err(other) => return Err(Observation::from(other)),
            }
        }
        let nothing_written = writer.snapshot().await?.sequence == 1;
        same("whether the lease was first", first, Some(nothing_written))?;
    }
    Ok(())
}

async fn not_swept_at_once(bench: Bench) -> Checked {
    let mut writers = Vec::new();
    for number in 0..40 {
        let mut writer = bench.begin(&format!("t{number}")).await?;
        writer.become_(TaskState::Completed).await?;
        writers.push(writer);
    }
    let came = at_once(writers.len(), |number| {
        let (bench, writer) = (bench.clone(), writers[number].clone());
        let begins = writer.held(vec![status(&writer.task, TaskState::Submitted)]);
        async move {
            let swept = match number {
                20 => bench.sweep_all().await?,
                _ => 0,
            };
            Ok::<_, Observation>((swept, writer.append(begins).await, writer))
        }
    });
    let (mut swept, mut gone) = (0, 0);
    for one in came.await? {
        let (count, begun, writer) = one?;
        let stays = match begun {
            Ok(_) => true,
            Err(StoreError::NoTask) => false,
            Err(other) => return Err(Observation::from(other)),
        };
        same("whether it is there", writer.exists().await?, stays)?;
        (swept, gone) = (swept + count, gone + usize::from(!stays));
    }
    same("how many are swept", swept, gone)
}

async fn taken_once(bench: Bench) -> Checked {
    for task in ["a", "b", "c", "d"] {
        bench.watched(task).await?.work(2).await?;
        let came = at_once(6, |_| {
            let store = bench.store.clone();
            async move { store.notifications(10, LONG).await }
        });
        let mut taken = Vec::new();
        for found in came.await? {
            taken.extend(found?.into_iter().map(|due| due.sequence));
        }
        // The second waits for the first.
        same("what is taken", taken, vec![2])?;
    }
    Ok(())
}
