//! Cases of owners.

use a2a_transport::Principal;
use a2a_types::{Dialect, Message, TaskState};

use super::super::{Append, NewTask, Outcome, Owner, Received, StoreError};
use super::bench::Bench;
use super::sample::{ada, config, digest, new, owner, receipt, said, status, within};
use super::saw::{Checked, refused, same};
use super::writer::Writer;

super::promises! {
    "owner":
    not_there_for_others = "a task of another caller is not there";
    not_there_in_other_tenants = "a task of another tenant is not there, be it the same caller's";
    same_task_id = "two owners' tasks of the same id have nothing to do with each other";
    same_message_id = "two owners' messages of the same id have nothing to do with each other";
    told_apart = "owners are told apart exactly: the anonymous, the unnamed, none, empty, large and small";
}

/// Checks that other owners can read, change or notice nothing of a task.
async fn hidden_from(bench: &Bench, others: &[Owner]) -> Checked {
    let with_receipt = NewTask {
        receipt: Some(receipt("m")),
        config: Some(config(&"t".into(), "c")),
        ..new("t")
    };
    let mut writer = bench.create(&ada(), with_receipt).await?;
    writer.become_(TaskState::Working).await?;
    let before = writer.look().await?;
    for other in others {
        let stranger = Writer {
            owner: other.clone(),
            ..writer.clone()
        };
        let (store, task) = (&bench.store, &writer.task);
        same("the task is there", stranger.exists().await?, false)?;
        let work = stranger.held(vec![status(task, TaskState::Canceled)]);
        refused!(stranger.append(work).await, StoreError::NoTask);
        refused!(store.events_after(other, task, 1).await, StoreError::NoTask);
        refused!(store.watch(other, task).await, StoreError::NoTask);
        let webhook = config(task, "d");
        refused!(
            store.put_config(other, webhook, Dialect::V1_0).await,
            StoreError::NoTask
        );
        refused!(store.configs(other, task).await, StoreError::NoTask);
        refused!(stranger.delete_config("c").await, StoreError::NoTask);
        same("the tasks", bench.ids(other).await?, vec![])?;
        let received = store.received(other, &"m".into()).await?;
        same("the message", received, None)?;
    }
    same("the task", writer.look().await?, before)?;
    writer.become_(TaskState::Completed).await
}

async fn not_there_for_others(bench: Bench) -> Checked {
    let anonymous = Owner::from(Principal::anonymous());
    hidden_from(&bench, &[owner("bob"), owner("Ada"), owner(""), anonymous]).await
}

async fn not_there_in_other_tenants(bench: Bench) -> Checked {
    hidden_from(&bench, &[within("tenant", ada()), within("", ada())]).await
}

async fn same_task_id(bench: Bench) -> Checked {
    let owners = [
        ada(),
        within("tenant", ada()),
        within("other", ada()),
        owner("bob"),
    ];
    let mut writers = Vec::new();
    for (number, owner) in owners.iter().enumerate() {
        let new = NewTask {
            config: Some(config(&"t".into(), "c")),
            ..new("t")
        };
        let mut writer = bench.create(owner, new).await?;
        for count in 0..=number {
            let said = said(&writer.task, &format!("{number}.{count}"));
            let update = status(&writer.task, TaskState::Working);
            let append = Append {
                notify: true,
                ..writer.held(vec![said, update])
            };
            writer.write(append).await?;
        }
        writers.push(writer);
    }
    let mut looks = Vec::new();
    for (number, writer) in writers.iter().enumerate() {
        let look = writer.look().await?;
        same("the length", look.generation, 3 + 2 * number as u64)?;
        looks.push(look);
    }
    // A change of one changes none of the others.
    writers[0].become_(TaskState::Completed).await?;
    same("how many are swept", bench.sweep_all().await?, 1)?;
    writers[1].delete_config("c").await?;
    same("the swept task exists", writers[0].exists().await?, false)?;
    looks[1].configs.clear();
    for (writer, look) in writers.iter().zip(looks).skip(1) {
        same("a task of the same id", writer.look().await?, look)?;
    }
    let rounds = bench.deliver().await?;
    for owner in &owners {
        let told = rounds.iter().flatten().filter(|told| told.owner == *owner);
        let told: Vec<_> = told.map(|told| told.generation).collect();
        let expected: &[u64] = match owners.iter().position(|of| of == owner) {
            Some(2) => &[3, 5, 7],
            Some(3) => &[3, 5, 7, 9],
            _ => &[],
        };
        same("the notifications", &told[..], expected)?;
    }
    Ok(())
}

async fn same_message_id(bench: Bench) -> Checked {
    let owners = [ada(), within("tenant", ada()), owner("bob")];
    for owner in &owners {
        let new = NewTask {
            receipt: Some(receipt("m")),
            ..new(&format!("{owner:?}"))
        };
        let mut writer = bench.create(owner, new).await?;
        let append = Append {
            receipt: Some(receipt("n")),
            ..writer.held(vec![said(&writer.task, "n")])
        };
        writer.write(append).await?;
        let answer = Message::agent("hello");
        bench.store.keep_answer(owner, receipt("o"), answer).await?;
    }
    for owner in &owners {
        let task = format!("{owner:?}");
        for message in ["m", "n"] {
            let found = bench.store.received(owner, &message.into()).await?;
            let expected = Received::new(digest(message), Outcome::Task(task.as_str().into()));
            same("what became of a message", found, Some(expected))?;
        }
    }
    Ok(())
}

async fn told_apart(bench: Bench) -> Checked {
    let anonymous = Owner::from(Principal::anonymous());
    let owners = [
        anonymous.clone(),
        within("", anonymous.clone()),
        within("a", anonymous),
        owner(""),
        within("", owner("")),
        within("a", owner("")),
        owner("a"),
        owner("A"),
        owner("a "),
        within("", owner("a")),
        within("b", owner("a")),
        within("a", owner("b")),
        owner("a/b"),
        owner("a\u{1f}b"),
        owner("(anonymous)"),
        owner("null"),
        within("%", owner("_")),
    ];
    for owner in &owners {
        let writer = bench.create(owner, new("t")).await?;
        let config = config(&writer.task, &format!("{owner:?}"));
        bench.store.put_config(owner, config, Dialect::V1_0).await?;
    }
    for owner in &owners {
        let found = bench.store.configs(owner, &"t".into()).await?;
        let found: Vec<String> = found.into_iter().map(|config| config.id.into()).collect();
        same("the webhooks", found, vec![format!("{owner:?}")])?;
        same("the tasks", bench.ids(owner).await?, vec!["t".to_owned()])?;
    }
    Ok(())
}
