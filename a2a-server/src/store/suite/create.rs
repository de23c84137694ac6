//! Cases of new tasks.

use std::sync::Arc;

use a2a_types::{Dialect, Task, TaskState};

use super::super::{Append, NewTask, Owner, Snapshot, StoreError};
use super::bench::Bench;
use super::sample::{LONG, ada, chunk, config, new, receipt, status, taken, task};
use super::saw::{Checked, refused, same};

super::promises! {
    "create":
    begins_the_log = "a task begins as it was given, at generation 1, with nothing after that";
    keeps_the_dialect = "a task knows the generation of the protocol in which it was created";
    leases = "who creates a task has its lease, of epoch 1";
    keeps_the_webhook = "a webhook that came with a task is kept with it";
    once = "a task that exists is not created again, and nothing of the second one is kept";
    with_what_has_happened = "what has happened to a new task already is in its log, and is told";
    or_not_at_all = "a task to which something illegal has happened does not begin";
    once_a_message = "a message begins no second task";
    any_name = "an id is any text, and no two are the same";
}

async fn begins_the_log(bench: Bench) -> Checked {
    let writer = bench.begin("t").await?;
    let Snapshot {
        task: found,
        generation,
        checkpoint,
        ..
    } = writer.snapshot().await?;
    same("the task", &*found, &task("t"))?;
    same("the generation", generation, 1)?;
    same("the checkpoint", checkpoint, None)?;
    same("the events after the task", writer.read(1).await?, vec![])?;
    same("the tasks", bench.ids(&ada()).await?, vec!["t".to_owned()])?;
    let watch = bench.store.watch(&ada(), &writer.task).await?;
    let told = *watch.borrow();
    same("the generation that is watched", told, 1)
}

async fn with_what_has_happened(bench: Bench) -> Checked {
    let id = "t".into();
    let events = vec![
        chunk(&id, "a", "1", false),
        chunk(&id, "a", "2", true),
        status(&id, TaskState::Completed),
    ];
    let mut expected = task("t");
    for event in &events {
        expected.apply(event).map_err(StoreError::from)?;
    }
    let begun = NewTask {
        events: events.clone(),
        config: Some(config(&id, "c")),
        release: true,
        notify: true,
        term: LONG,
        ..new("t")
    };
    bench.store.create(&ada(), begun).await?;
    let writer = bench.find(&ada(), &id).await?;
    let Snapshot {
        task, generation, ..
    } = writer.snapshot().await?;
    same("the task", &*task, &expected)?;
    same("the generation", generation, 4)?;
    same("the events", writer.read(1).await?, events)?;
    let watch = bench.store.watch(&ada(), &id).await?;
    let told = *watch.borrow();
    same("the generation that is watched", told, 4)?;
    let due = bench.deliver().await?;
    let due: Vec<_> = due.iter().flatten().map(|due| due.generation).collect();
    same("what the webhook is told", due, vec![2, 3, 4])?;
    same("how many ended ones are swept", bench.sweep_all().await?, 1)?;
    let free = NewTask {
        events: vec![status(&"u".into(), TaskState::Working)],
        release: true,
        term: LONG,
        ..new("u")
    };
    bench.store.create(&ada(), free).await?;
    same(
        "how many orphans there are",
        bench.orphans().await?.len(),
        1,
    )
}

async fn or_not_at_all(bench: Bench) -> Checked {
    let id = "t".into();
    let impossible = NewTask {
        events: vec![
            status(&id, TaskState::Completed),
            status(&id, TaskState::Working),
        ],
        receipt: Some(receipt("m")),
        config: Some(config(&id, "c")),
        ..new("t")
    };
    let refused = bench.store.create(&ada(), impossible).await;
    refused!(refused, StoreError::Illegal(_));
    same("the tasks", bench.ids(&ada()).await?, vec![])?;
    let received = bench.store.received(&ada(), &"m".into()).await?;
    same("what came of its message", received, None)?;
    bench.begin("t").await?;
    Ok(())
}

async fn keeps_the_dialect(bench: Bench) -> Checked {
    for &dialect in Dialect::ALL {
        let new = NewTask {
            dialect,
            ..new(dialect.version())
        };
        let mut writer = bench.create(&ada(), new).await?;
        same("the dialect", writer.snapshot().await?.dialect, dialect)?;
        writer.become_(TaskState::Completed).await?;
        let later = writer.snapshot().await?.dialect;
        same("the dialect at the end", later, dialect)?;
    }
    Ok(())
}

async fn leases(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    let work = || vec![chunk(&"t".into(), "a", "1", false)];
    for epoch in [0, 2] {
        let append = Append::held(1, epoch, work());
        refused!(writer.append(append).await, StoreError::Fenced);
    }
    let other = writer.with(taken("other", LONG), work());
    refused!(writer.append(other).await, StoreError::Leased);
    same("the generation", writer.snapshot().await?.generation, 1)?;
    writer.add(work()).await
}

async fn keeps_the_webhook(bench: Bench) -> Checked {
    let config = config(&"t".into(), "c");
    let new = NewTask {
        config: Some(config.clone()),
        ..new("t")
    };
    let writer = bench.create(&ada(), new).await?;
    same("the webhooks", writer.look().await?.configs, vec![config])
}

async fn once(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    writer.become_(TaskState::Working).await?;
    let before = writer.look().await?;
    let second = NewTask {
        task: Arc::new(Task {
            history: Vec::new(),
            ..task("t")
        }),
        config: Some(config(&writer.task, "c")),
        receipt: Some(receipt("m")),
        holder: "other".into(),
        ..new("t")
    };
    refused!(
        bench.store.create(&ada(), second).await,
        StoreError::TaskExists
    );
    same("the task", writer.look().await?, before)?;
    let received = bench.store.received(&ada(), &"m".into()).await?;
    same("the message of the second one", received, None)?;
    writer.become_(TaskState::Completed).await
}

async fn once_a_message(bench: Bench) -> Checked {
    let with_receipt = |id: &str| NewTask {
        receipt: Some(receipt("m")),
        ..new(id)
    };
    bench.create(&ada(), with_receipt("t")).await?;
    refused!(
        bench.store.create(&ada(), with_receipt("u")).await,
        StoreError::Received
    );
    same("the tasks", bench.ids(&ada()).await?, vec!["t".to_owned()])?;
    let second = bench.store.snapshot(&ada(), &"u".into()).await?;
    same("there is a second task", second.is_some(), false)
}

async fn any_name(bench: Bench) -> Checked {
    let owner = Owner::from(a2a_transport::Principal::named("it's \"me\"; -- %_\\"));
    let long = "x".repeat(1000);
    let mut names = [
        "", " ", "t", "T", "t ", "1", "01", "it's", "\"; --", "%", "_", "ü", "u\u{308}", "😀",
        "a\nb", "a/b", "a\\b", "null", &long,
    ];
    for name in names {
        let mut writer = bench.create(&owner, new(name)).await?;
        writer
            .add(vec![status(&writer.task, TaskState::Working)])
            .await?;
    }
    for name in names {
        let found = bench.store.snapshot(&owner, &name.into()).await?;
        let found = found.map(|snapshot| (snapshot.task.id.clone(), snapshot.generation));
        same("the task of a name", found, Some((name.into(), 2)))?;
    }
    names.sort_unstable();
    let found = bench.ids(&owner).await?;
    same("the names in order", found, names.map(str::to_owned).into())
}
