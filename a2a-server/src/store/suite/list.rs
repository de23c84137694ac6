//! Cases of listings.

use std::cmp::Reverse;
use std::sync::Arc;

use a2a_types::{ContextId, Task, TaskState, TaskStatus, Timestamp};

use super::super::{Listing, NewTask, Place};
use super::bench::Bench;
use super::sample::{ada, new, status_at, task, time};
use super::saw::{Checked, holds, same};

super::promises! {
    "list":
    in_pages = "page by page each task comes once, and the last page says that it is";
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
