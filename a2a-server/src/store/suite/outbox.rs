//! Cases of notifications.

use a2a_transport::TraceContext;
use a2a_types::{Dialect, TaskPushNotificationConfig, TaskState};

use super::super::{Append, NewTask, Notification, Settlement};
use super::bench::{Bench, eventually};
use super::sample::{LONG, NONE, SHORT, ada, chunk, config, new, said, status, step, thought};
use super::saw::{Checked, Saw, holds, same};
use super::writer::Writer;

super::promises! {
    "outbox":
    every_event_once = "every webhook is told of every event that it should be told of, in order, and of no other";
    one_at_a_time = "of what a webhook is to be told only the first is due, and no webhook waits for another";
    taken = "what somebody has taken is due for nobody else, until the term is over";
    counted = "a notification tells how often it was tried before";
    untried = "what was taken and not tried is due again, and does not count as an attempt";
    put_off = "what is put off is due again after that time, and nothing overtakes it";
    given_up = "what is given up is a dead letter, lets the next one go, and can be tried again";
    undelivered = "what waits to be delivered is counted, without what was delivered or given up";
    in_its_generation = "a notification tells the generation of the protocol in which its webhook was asked for";
    in_its_trace = "a notification tells the trace that its event was written in, and no other's";
    so_many = "no more notifications are taken than were asked for, and the others stay";
    only_later_events = "a webhook is told of nothing that happened before it came";
    forgotten_with_the_webhook = "what a deleted webhook was to be told is forgotten";
    as_the_webhook_is_now = "a webhook that was replaced is told as it is now";
}

/// A task with these webhooks.
async fn watched(bench: &Bench, id: &str, webhooks: &[&str]) -> Checked<Writer> {
    let writer = bench.begin(id).await?;
    for webhook in webhooks {
        let config = config(&writer.task, webhook);
        bench
            .store
            .put_config(&ada(), config, Dialect::V1_0)
            .await?;
    }
    Ok(writer)
}

/// Adds so many chunks of which webhooks are notified.
async fn work(writer: &mut Writer, count: usize) -> Checked {
    let append = Append {
        notify: true,
        ..writer.held(vec![chunk(&writer.task, "a", "1", true); count])
    };
    writer.write(append).await
}

/// Returns task, webhook and generation of each notification, sorted.
fn told(due: &[Notification]) -> Vec<(String, String, u64)> {
    let mut told: Vec<_> = due
        .iter()
        .map(|due| {
            let TaskPushNotificationConfig { id, task_id, .. } = due.config.clone();
            (task_id.into(), id.into(), due.generation)
        })
        .collect();
    told.sort();
    told
}

fn row(task: &str, webhook: &str, generation: u64) -> (String, String, u64) {
    (task.to_owned(), webhook.to_owned(), generation)
}

/// The only notification that is due.
async fn only(bench: &Bench) -> Checked<Notification> {
    let mut due = bench.due().await?;
    same("how many are due", due.len(), 1)?;
    Ok(due.remove(0))
}

async fn every_event_once(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c", "d"]).await?;
    let id = writer.task.clone();
    writer.become_(TaskState::Working).await?;
    let answer = Append {
        notify: true,
        ..writer.held(vec![
            said(&id, "m"),
            status(&id, TaskState::Working),
            chunk(&id, "a", "1", false),
            said(&id, "n"),
            chunk(&id, "a", "2", true),
            step(&id, "s"),
            thought(&id, "that"),
        ])
    };
    writer.write(answer).await?;
    writer.add(vec![chunk(&id, "a", "3", true)]).await?;
    let end = Append {
        notify: true,
        ..writer.held(vec![status(&id, TaskState::Completed)])
    };
    writer.write(end).await?;
    let mut unheard = bench.begin("u").await?;
    work(&mut unheard, 2).await?;

    let rounds = bench.deliver().await?;
    let rounds: Vec<_> = rounds.iter().map(|round| told(round)).collect();
    let expected = [4, 5, 7, 11].map(|place| vec![row("t", "c", place), row("t", "d", place)]);
    same("what is told", rounds, expected.into())
}

async fn one_at_a_time(bench: Bench) -> Checked {
    let mut one = watched(&bench, "one", &["c", "d"]).await?;
    let mut two = watched(&bench, "two", &["c"]).await?;
    work(&mut one, 3).await?;
    work(&mut two, 2).await?;
    let due = bench.due().await?;
    let first = vec![row("one", "c", 2), row("one", "d", 2), row("two", "c", 2)];
    same("what is due", told(&due), first)?;
    same("what else is due", bench.due().await?, vec![])?;
    let of_one = due.iter().filter(|due| due.config.task_id == one.task);
    for due in of_one.filter(|due| due.config.id.as_str() == "d") {
        bench.store.settle(due, Settlement::Delivered).await?;
    }
    work(&mut one, 1).await?;
    let next = vec![row("one", "d", 3)];
    same("what is due then", told(&bench.due().await?), next)
}

async fn taken(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    let first = bench.store.notifications(10, SHORT).await?;
    same("what is due", told(&first), vec![row("t", "c", 2)])?;
    let again = eventually("the term is over", || async {
        let due = bench.due().await?;
        Ok((!due.is_empty()).then_some(due))
    })
    .await?;
    same("what is due again", told(&again), vec![row("t", "c", 2)])?;
    same("what is due meanwhile", bench.due().await?, vec![])?;
    // The first to take it may still settle it, and nothing happens twice.
    for _ in 0..2 {
        bench.store.settle(&first[0], Settlement::Delivered).await?;
    }
    let next = told(&bench.due().await?);
    same("what is due next", next, vec![row("t", "c", 3)])
}

async fn counted(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    for attempt in 0..4 {
        let due = bench.store.notifications(10, NONE).await?;
        let found: Vec<_> = due
            .iter()
            .map(|due| (due.generation, due.attempt))
            .collect();
        same("the attempts", found, vec![(2, attempt)])?;
        if attempt == 1 {
            let later = Settlement::Later(NONE);
            bench.store.settle(&due[0], later).await?;
        }
        if attempt == 3 {
            bench.store.settle(&due[0], Settlement::Delivered).await?;
        }
    }
    let next = only(&bench).await?;
    same("the next one", (next.generation, next.attempt), (3, 0))
}

async fn untried(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    for settlement in [Settlement::Untried(NONE), Settlement::Later(NONE)] {
        let due = only(&bench).await?;
        same("the attempt", (due.generation, due.attempt), (2, 0))?;
        bench.store.settle(&due, settlement).await?;
    }
    let due = only(&bench).await?;
    same("the attempt", (due.generation, due.attempt), (2, 1))?;
    let later = Settlement::Untried(LONG);
    bench.store.settle(&due, later).await?;
    same("what is due", bench.due().await?, vec![])
}

async fn put_off(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    let first = only(&bench).await?;
    let later = Settlement::Later(LONG);
    bench.store.settle(&first, later).await?;
    same("what is due", bench.due().await?, vec![])?;
    work(&mut writer, 1).await?;
    same("what is due", bench.due().await?, vec![])?;
    let soon = Settlement::Later(SHORT);
    bench.store.settle(&first, soon).await?;
    let again = eventually("the time is over", || async {
        Ok(bench.due().await?.pop())
    })
    .await?;
    let found = (again.generation, again.attempt);
    same("what is due again", found, (2, 1))
}

async fn undelivered(bench: Bench) -> Checked {
    let count = async |what, expected| same(what, bench.store.undelivered().await?, expected);
    count("what waits at first", 0).await?;
    let mut writer = watched(&bench, "t", &["c", "d"]).await?;
    work(&mut writer, 2).await?;
    count("what waits for two webhooks", 4).await?;
    let due = bench.due().await?;
    let [one, other] = due.as_slice() else {
        return Err(Saw::new(format!(
            "{} are due, not one of each webhook",
            due.len()
        )));
    };
    for (notification, settlement, expected) in [
        (one, Settlement::Later(LONG), 4),
        (one, Settlement::Delivered, 3),
        (other, Settlement::GivenUp, 2),
    ] {
        bench.store.settle(notification, settlement).await?;
        count("what waits", expected).await?;
    }
    Ok(())
}

async fn given_up(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c", "d"]).await?;
    work(&mut writer, 3).await?;
    for expected in [2, 3] {
        let due = bench.due().await?;
        let of_c = due.iter().find(|due| due.config.id.as_str() == "c");
        let Some(of_c) = of_c else {
            return Err(Saw::new("the next one of a webhook is not due"));
        };
        same("what is due", of_c.generation, expected)?;
        bench.store.settle(of_c, Settlement::GivenUp).await?;
    }
    let dead = bench.store.dead_letters(10).await?;
    let expected = vec![row("t", "c", 2), row("t", "c", 3)];
    same("the dead letters", told(&dead), expected)?;
    same("one of them", bench.store.dead_letters(1).await?.len(), 1)?;
    let again = Settlement::Later(NONE);
    bench.store.settle(&dead[0], again).await?;
    let left = told(&bench.store.dead_letters(10).await?);
    same(
        "the dead letters that are left",
        left,
        vec![row("t", "c", 3)],
    )?;
    let due = bench.due().await?;
    let of_c = due.iter().filter(|due| due.config.id.as_str() == "c");
    let of_c: Vec<_> = of_c.map(|due| (due.generation, due.attempt)).collect();
    same("what is tried again", of_c, vec![(2, 1)])?;
    writer.delete_config("c").await?;
    let left = bench.store.dead_letters(10).await?;
    same("the dead letters of no webhook", left, vec![])
}

async fn in_its_generation(bench: Bench) -> Checked {
    for &dialect in Dialect::ALL {
        let id = dialect.version();
        let new = NewTask {
            dialect,
            config: Some(config(&id.into(), "first")),
            ..new(id)
        };
        let mut writer = bench.create(&ada(), new).await?;
        let others = Dialect::ALL.iter().filter(|other| **other != dialect);
        for &other in others.clone() {
            let webhook = config(&writer.task, other.version());
            bench.store.put_config(&ada(), webhook, other).await?;
        }
        work(&mut writer, 1).await?;
        let due = bench.due().await?;
        let found = due
            .iter()
            .map(|due| (due.config.id.to_string(), due.dialect));
        let mut found: Vec<_> = found.collect();
        found.sort();
        let mut expected: Vec<_> = others
            .map(|other| (other.version().to_owned(), *other))
            .collect();
        expected.push(("first".to_owned(), dialect));
        same("the generations", found, expected)?;
    }
    Ok(())
}

async fn in_its_trace(bench: Bench) -> Checked {
    let trace = |id: u8| TraceContext::new([id; 16], [id; 8], id == 1);
    let first = trace(1).map(|trace| trace.with_state("a=1,b=2"));
    let id = "t".into();
    let new = NewTask {
        config: Some(config(&id, "c")),
        events: vec![status(&id, TaskState::Working)],
        notify: true,
        trace: first.clone(),
        ..new("t")
    };
    bench.store.create(&ada(), new).await?;
    let mut writer = bench.find(&ada(), &id).await?;
    for trace in [None, trace(2)] {
        let append = Append {
            notify: true,
            trace,
            ..writer.held(vec![chunk(&id, "a", "1", true); 2])
        };
        writer.write(append).await?;
    }
    let rounds = bench.deliver().await?;
    let told = rounds.into_iter().flatten();
    let told: Vec<_> = told.map(|told| (told.generation, told.trace)).collect();
    let expected = [first, None, None, trace(2), trace(2)];
    same("the traces", told, (2..).zip(expected).collect())?;

    let given_up = Append {
        notify: true,
        trace: trace(3),
        ..writer.held(vec![chunk(&id, "a", "1", true)])
    };
    writer.write(given_up).await?;
    let due = only(&bench).await?;
    bench.store.settle(&due, Settlement::GivenUp).await?;
    let dead = bench.store.dead_letters(10).await?;
    let dead: Vec<_> = dead.into_iter().map(|dead| dead.trace).collect();
    same("the trace of a dead letter", dead, vec![trace(3)])
}

async fn so_many(bench: Bench) -> Checked {
    let mut all = Vec::new();
    for number in 0..7 {
        let id = format!("t{number}");
        let mut writer = watched(&bench, &id, &["c"]).await?;
        work(&mut writer, 1).await?;
        all.push(row(&id, "c", 2));
    }
    let mut found = Vec::new();
    for (limit, expected) in [(1, 1), (3, 3), (2, 2), (3, 1), (3, 0)] {
        let due = bench.store.notifications(limit, LONG).await?;
        same("how many", due.len(), expected)?;
        holds(
            "none was tried before",
            due.iter().all(|due| due.attempt == 0),
        )?;
        found.extend(told(&due));
    }
    found.sort();
    same("all of them", found, all)
}

async fn only_later_events(bench: Bench) -> Checked {
    let mut writer = bench.begin("t").await?;
    work(&mut writer, 2).await?;
    let webhook = config(&writer.task, "c");
    bench
        .store
        .put_config(&ada(), webhook, Dialect::V1_0)
        .await?;
    same("what is due", bench.due().await?, vec![])?;
    work(&mut writer, 1).await?;
    let rounds = bench.deliver().await?.concat();
    same("what is due", told(&rounds), vec![row("t", "c", 4)])
}

async fn forgotten_with_the_webhook(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c", "d"]).await?;
    work(&mut writer, 2).await?;
    let due = bench.due().await?;
    writer.delete_config("c").await?;
    // A sender that is just delivering finds nothing to settle.
    for notification in due.iter().filter(|due| due.config.id.as_str() == "c") {
        let later = Settlement::Later(NONE);
        bench.store.settle(notification, later).await?;
    }
    let same_name = config(&writer.task, "c");
    bench
        .store
        .put_config(&ada(), same_name, Dialect::V1_0)
        .await?;
    same("what is due", bench.due().await?, vec![])?;
    work(&mut writer, 1).await?;
    let fresh = told(&bench.due().await?);
    same("what is due", fresh, vec![row("t", "c", 4)])?;
    for notification in due.iter().filter(|due| due.config.id.as_str() == "d") {
        let delivered = Settlement::Delivered;
        bench.store.settle(notification, delivered).await?;
    }
    let others = told(&bench.deliver().await?.concat());
    let expected = vec![row("t", "d", 3), row("t", "d", 4)];
    same("what the other is told", others, expected)
}

async fn as_the_webhook_is_now(bench: Bench) -> Checked {
    let mut writer = watched(&bench, "t", &["c"]).await?;
    work(&mut writer, 2).await?;
    let mut told = vec![only(&bench).await?];
    let moved = TaskPushNotificationConfig {
        url: "https://example.com/moved".to_owned(),
        token: None,
        ..config(&writer.task, "c")
    };
    bench
        .store
        .put_config(&ada(), moved.clone(), Dialect::V1_0)
        .await?;
    let later = Settlement::Later(NONE);
    bench.store.settle(&told[0], later).await?;
    told.extend(bench.deliver().await?.concat());
    let expected = [
        (2, config(&writer.task, "c")),
        (2, moved.clone()),
        (3, moved),
    ];
    if told.iter().any(|told| told.owner != ada()) {
        return Err(Saw::new("it is somebody else's"));
    }
    let told = told.into_iter().map(|told| (told.generation, told.config));
    same("what is told", told.collect::<Vec<_>>(), expected.into())
}
