//! The transitions of tasks, and the fold of their events.

use super::*;
use crate::{Artifact, Message, Part, TaskStatus, TaskStatusUpdateEvent};

fn task() -> Task {
    Task::submitted("t".into(), "c".into())
}

fn status(state: TaskState, says: Option<&str>) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: "t".into(),
        context_id: Some("c".into()),
        status: TaskStatus {
            message: says.map(|text| Message::agent(text).into()),
            ..state.into()
        },
        metadata: None,
    })
}

fn chunk(id: &str, text: &str, append: bool) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: None,
        artifact: Artifact {
            artifact_id: id.into(),
            parts: vec![Part::text(text)],
            ..Artifact::default()
        },
        append,
        last_chunk: false,
        metadata: None,
    })
}

#[test]
fn illegal_state_transitions_are_refused() {
    use TaskState::*;
    let all = [
        Unspecified,
        Submitted,
        Working,
        Completed,
        Failed,
        Canceled,
        InputRequired,
        Rejected,
        AuthRequired,
    ];
    for from in all {
        for to in all {
            let legal = match (from, to) {
                (_, Unspecified) => false,
                (Completed | Failed | Canceled | Rejected, to) => to == Submitted,
                (_, to) => to != Submitted,
            };
            let mut task = Task {
                status: from.into(),
                ..task()
            };
            let before = task.clone();
            let applied = task.apply(&status(to, None));
            assert_eq!(applied.is_ok(), legal, "{from:?} → {to:?}");
            if !legal {
                assert_eq!(task, before);
            }
        }
    }
}

/// A batch folds like single events, with any number of artifacts and a snapshot in between.
#[test]
fn a_batch_folds_to_what_its_events_fold_to_one_by_one() {
    let ids = (0..200).map(|number| number * 7 % 61);
    let mut events: Vec<Event> = ids
        .map(|id| chunk(&id.to_string(), "x", id % 3 > 0))
        .collect();
    let snapshot = Task {
        artifacts: vec![Artifact {
            artifact_id: "5".into(),
            ..Artifact::default()
        }],
        ..task()
    };
    events.insert(100, Event::Task(snapshot));
    events.insert(150, status(TaskState::Submitted, None));
    let (mut one_by_one, mut at_once) = (task(), task());
    for event in &events {
        drop(one_by_one.apply(event));
    }
    at_once.fold(&events);
    assert_eq!(at_once, one_by_one);
    events.remove(150);
    let mut applied = task();
    applied.status = at_once.status.clone();
    applied.apply_all(&events).unwrap();
    assert_eq!(applied.artifacts, one_by_one.artifacts);
}

/// As many artifacts as a server keeps of a task are created, then each is extended, in another order. One
/// search through all of them for each event would visit 50,000,000.
#[test]
fn artifacts_are_found_by_id_in_an_index() {
    const COUNT: usize = 10_000;
    let ids = |step: usize| (0..COUNT).map(move |number| (number * step % COUNT).to_string());
    let created: Vec<_> = ids(1).map(|id| chunk(&id, "x", false)).collect();
    let extended: Vec<_> = ids(7_919).map(|id| chunk(&id, "y", true)).collect();
    let (mut task, mut index) = (task(), ArtifactIndex::default());
    task.fold_indexed(&created, &mut index);
    assert_eq!(task.artifacts.len(), COUNT);
    assert!(index.visited < 20 * COUNT, "{} to create", index.visited);
    let mut index = ArtifactIndex::default();
    task.fold_indexed(&extended, &mut index);
    assert_eq!(task.artifacts.len(), COUNT);
    assert!(index.visited < 20 * COUNT, "{} to extend", index.visited);
    let mut index = ArtifactIndex::default();
    let replaced: Vec<_> = ids(7_919).map(|id| chunk(&id, "x", false)).collect();
    for event in replaced.iter().chain(&extended) {
        task.apply_indexed(event, &mut index).unwrap();
    }
    assert!(index.visited < 20 * COUNT, "{} one by one", index.visited);
    let are_extended = task.artifacts.iter().zip(ids(1)).all(|(artifact, id)| {
        artifact.artifact_id.as_str() == id && artifact.parts == ["x", "y"].map(Part::text)
    });
    assert!(are_extended);
}

#[test]
fn several_events_are_applied_together_or_not_at_all() {
    let (chunk, working) = (chunk("a", "1", true), status(TaskState::Working, None));
    let ended = status(TaskState::Completed, None);
    let mut task = task();
    let before = task.clone();
    let refused = task.apply_all(&[working.clone(), ended.clone(), chunk.clone()]);
    let after_end = IllegalEvent::ArtifactAfterEnd(TaskState::Completed);
    assert_eq!((refused, &task), (Err(after_end), &before));

    let mut one_by_one = before;
    for event in [&working, &chunk, &ended] {
        one_by_one.apply(event).unwrap();
    }
    task.apply_all(&[working, chunk, ended]).unwrap();
    assert_eq!(task, one_by_one);
}

#[test]
fn artifacts_are_created_replaced_and_extended() {
    let mut task = task();
    let mut texts = |id: &str, text: &str, append| {
        task.apply(&chunk(id, text, append)).unwrap();
        let parts = |a: &Artifact| a.parts.iter().filter_map(Part::as_text).collect::<String>();
        task.artifacts.iter().map(parts).collect::<Vec<_>>()
    };
    assert_eq!(texts("a", "1", false), ["1"]);
    assert_eq!(texts("a", "2", true), ["12"]);
    assert_eq!(texts("b", "3", true), ["12", "3"]);
    assert_eq!(texts("a", "4", false), ["4", "3"]);
}

#[test]
fn history_keeps_the_order_of_what_was_said() {
    let mut task = task();
    let said = |text: &str| {
        Event::Message(Message {
            task_id: Some("t".into()),
            ..Message::user(text)
        })
    };
    for event in [
        said("a phone"),
        status(TaskState::Working, Some("looking")),
        status(TaskState::InputRequired, Some("which?")),
        said("android"),
        status(TaskState::Completed, Some("done")),
    ] {
        task.apply(&event).unwrap();
    }
    let texts: Vec<_> = task.history.iter().map(Message::text).collect();
    assert_eq!(texts, ["a phone", "looking", "which?", "android"]);
    assert_eq!(task.status.message.as_ref().unwrap().text(), "done");
    task.trim_history(Some(2));
    assert_eq!(task.history.len(), 2);
    assert_eq!(task.history[1].text(), "android");
    assert_eq!(
        task.apply(&said("more")),
        Err(IllegalEvent::MessageAfterEnd(TaskState::Completed))
    );
    assert_eq!(
        task.apply(&chunk("a", "x", false)),
        Err(IllegalEvent::ArtifactAfterEnd(TaskState::Completed))
    );
}

#[test]
fn an_event_of_another_task_is_refused() {
    let mut other = Task {
        id: "u".into(),
        ..task()
    };
    let refused = other.apply(&status(TaskState::Working, None));
    assert!(matches!(refused, Err(IllegalEvent::OtherTask { .. })));
}
