//! Cases of listings.

use std::cmp::Reverse;
use std::sync::Arc;

use a2a_types::{ContextId, Task, TaskState, TaskStatus, Timestamp};

use super::super::{Listing, NewTask, Page, Place};
use super::bench::Bench;
use super::sample::{ada, chunk, new, owner, status_at, task, tells, time, within};
use super::saw::{Checked, Saw, holds, same};

super::promises! {
    "list":
    in_order = "the latest status comes first, then the id, and without a time last";
    filtered = "only those tasks are listed, and counted, that are wanted in every respect";
    in_pages = "page by page each task comes once, and the last page says that it is";
    stays_in_place = "a page goes on where the one before ended, whatever was added or changed meanwhile";
    as_they_stand = "tasks are listed whole, as they stand now";
    own = "nobody's tasks are listed but the owner's own";
}

const STATES: [TaskState; 4] = [
    TaskState::Submitted,
    TaskState::Working,
    TaskState::InputRequired,
    TaskState::Completed,
];

/// Tasks of three conversations, or of none, in every state, with times that repeat or lack.
fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for number in 0..48_u32 {
        let mut task = task(&format!("task {:02}", (number * 29) % 48));
        let contexts = [Some("a"), Some("b"), Some("A"), None];
        task.context_id = contexts[number as usize % 4].map(ContextId::from);
        task.status.state = STATES[(number as usize / 4) % 4];
        let times = [
            Some(time(-5)),
            Some(time(0)),
            Some(time(0)),
            Some(time(7)),
            None,
        ];
        task.status.timestamp = times[number as usize % 5];
        tasks.push(task);
    }
    // Before the epoch there are times too.
    tasks[3].status.timestamp = Timestamp::from_millis(-1);
    tasks
}

/// Creates tasks, and takes each to where it should stand.
async fn keep(bench: &Bench, tasks: &[Task]) -> Checked {
    for task in tasks {
        let TaskStatus {
            state, timestamp, ..
        } = task.status;
        let submitted = TaskStatus {
            timestamp,
            ..TaskState::Submitted.into()
        };
        let new = NewTask {
            task: Arc::new(Task {
                status: submitted,
                ..task.clone()
            }),
            ..new("")
        };
        let mut writer = bench.create(&ada(), new).await?;
        if state != TaskState::Submitted {
            let stands = status_at(&writer.task, state, timestamp);
            writer.add(vec![stands]).await?;
        }
    }
    Ok(())
}

fn sorted(mut tasks: Vec<Task>) -> Vec<Task> {
    tasks.sort_by_key(|task| {
        let time = task.status.timestamp.map(Timestamp::as_millis);
        (Reverse(time), task.id.clone())
    });
    tasks
}

fn ids<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Vec<&'a str> {
    tasks.into_iter().map(|task| task.id.as_str()).collect()
}

fn all() -> Listing {
    Listing::new(1000)
}

async fn in_order(bench: Bench) -> Checked {
    let tasks = tasks();
    keep(&bench, &tasks).await?;
    let page = bench.store.list(&ada(), all()).await?;
    let expected = sorted(tasks);
    same("the tasks", ids(&page.tasks), ids(&expected))?;
    same("how many", (page.total, page.more), (expected.len(), false))
}

async fn filtered(bench: Bench) -> Checked {
    let tasks = sorted(tasks());
    keep(&bench, &tasks).await?;
    let contexts = [None, Some("a"), Some("b"), Some("A"), Some("c")];
    let states = STATES
        .map(Some)
        .into_iter()
        .chain([None, Some(TaskState::Failed)]);
    let times = [
        None,
        Some(time(-5)),
        Some(time(-4)),
        Some(time(0)),
        Some(time(8)),
    ];
    for status in states {
        for context in contexts {
            for since in times {
                let wanted = |task: &&Task| {
                    (context.is_none() || task.context_id == context.map(ContextId::from))
                        && (status.is_none() || Some(task.status.state) == status)
                        && (since.is_none() || task.status.timestamp >= since)
                };
                let listing = Listing {
                    context_id: context.map(ContextId::from),
                    status,
                    since,
                    ..all()
                };
                let what = format!("{listing:?}");
                let page = bench.store.list(&ada(), listing).await?;
                let expected = ids(tasks.iter().filter(wanted));
                same(&what, ids(&page.tasks), expected.clone())?;
                same(&what, (page.total, page.more), (expected.len(), false))?;
            }
        }
    }
    Ok(())
}

async fn in_pages(bench: Bench) -> Checked {
    let tasks = sorted(tasks());
    keep(&bench, &tasks).await?;
    for status in [None, Some(TaskState::Working)] {
        let wanted = |task: &&Task| status.is_none_or(|state| task.status.state == state);
        let expected = ids(tasks.iter().filter(wanted));
        for limit in [1, 5, 12, 47, 48, 49] {
            let mut found = Vec::new();
            let mut after = None;
            loop {
                let listing = Listing {
                    status,
                    after,
                    ..Listing::new(limit)
                };
                let page = bench.store.list(&ada(), listing).await?;
                same("how many on all pages", page.total, expected.len())?;
                holds("a page is not too long", page.tasks.len() <= limit)?;
                after = page.tasks.last().map(Place::of);
                found.extend(page.tasks);
                let more = found.len() < expected.len();
                same("whether there are more", page.more, more)?;
                if !more {
                    break;
                }
                holds("a page before the last is full", found.len() % limit == 0)?;
            }
            same("the tasks", ids(&found), expected.clone())?;
        }
    }
    Ok(())
}

async fn stays_in_place(bench: Bench) -> Checked {
    let tasks = sorted(tasks());
    keep(&bench, &tasks).await?;
    let listing = Listing::new(10);
    let first = bench.store.list(&ada(), listing.clone()).await?;
    let place = first.tasks.last().map(Place::of);
    let place = place.ok_or_else(|| Saw::new("the first page is empty"))?;
    let at = |id: &str, time: Option<Timestamp>| {
        let mut task = task(id);
        task.status.timestamp = time;
        task
    };
    let last = tasks[9].status.timestamp;
    let added = [
        at("latest", Some(time(100))),
        at(" just before", last),
        at("~ just after", last),
        at("~ oldest", None),
    ];
    keep(&bench, &added).await?;
    // The place is good even if its own task is somewhere else now.
    let now = status_at(&tasks[9].id, TaskState::Working, Some(time(101)));
    let mut moved = bench.find(&ada(), &place.task).await?;
    if tasks[9].status.state.is_terminal() {
        moved.become_(TaskState::Submitted).await?;
    }
    moved.add(vec![now]).await?;
    let rest = Listing {
        after: Some(place),
        limit: 1000,
        ..listing
    };
    let page = bench.store.list(&ada(), rest).await?;
    let mut expected = tasks[10..].to_vec();
    expected.extend_from_slice(&added[2..]);
    let expected = sorted(expected);
    same(
        "the tasks after the place",
        ids(&page.tasks),
        ids(&expected),
    )?;
    same(
        "how many on all pages",
        page.total,
        tasks.len() + added.len(),
    )
}

async fn as_they_stand(bench: Bench) -> Checked {
    let mut one = bench.begin("one").await?;
    let two = bench.begin("two").await?;
    let work = vec![
        tells(&one.task, TaskState::Working, "looking"),
        chunk(&one.task, "a", "1", false),
        status_at(&one.task, TaskState::Completed, Some(time(3))),
    ];
    one.add(work).await?;
    let expected = vec![one.task().await?, two.task().await?];
    let page = bench.store.list(&ada(), all()).await?;
    same("the tasks", page.tasks, expected)?;
    let listing = Listing {
        status: Some(TaskState::Submitted),
        ..all()
    };
    let page = bench.store.list(&ada(), listing).await?;
    same("the submitted tasks", ids(&page.tasks), vec!["two"])?;
    let listing = Listing {
        since: Some(time(3)),
        ..all()
    };
    let page = bench.store.list(&ada(), listing).await?;
    same("the latest tasks", ids(&page.tasks), vec!["one"])
}

async fn own(bench: Bench) -> Checked {
    let owners = [ada(), within("tenant", ada()), owner("bob")];
    for (number, owner) in owners.iter().enumerate() {
        for count in 0..=number {
            let id = format!("{number}.{count}");
            bench.create(owner, new(&id)).await?;
        }
    }
    for (number, owner) in owners.iter().enumerate() {
        let Page { tasks, total, .. } = bench.store.list(owner, all()).await?;
        let expected: Vec<_> = (0..=number)
            .map(|count| format!("{number}.{count}"))
            .collect();
        same("how many", total, expected.len())?;
        let found: Vec<String> = tasks.into_iter().map(|task| task.id.into()).collect();
        same("the tasks", found, expected)?;
    }
    let nobody = bench.store.list(&owner("eve"), all()).await?;
    same("how many of nobody", nobody.total, 0)
}
