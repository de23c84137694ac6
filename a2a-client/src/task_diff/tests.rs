use a2a_types::{Part, TaskState, Timestamp};

use super::*;

fn artifact(id: &str, parts: &[&str]) -> Artifact {
    Artifact {
        artifact_id: id.into(),
        parts: parts.iter().copied().map(Part::text).collect(),
        ..Artifact::default()
    }
}

fn message(id: &str, role: Role) -> Message {
    Message {
        message_id: id.into(),
        role,
        parts: vec![Part::text(id)],
        ..Message::default()
    }
}

fn task(state: TaskState, artifacts: &[Artifact]) -> Task {
    Task {
        status: state.into(),
        artifacts: artifacts.to_vec(),
        ..Task::submitted("t".into(), "c".into())
    }
}

/// Checks a summary of the missing events, and that they lead to the snapshot.
#[track_caller]
fn check(known: &Task, snapshot: &Task, expected: &[&str]) {
    let events = diff(known, snapshot, true);
    let summary: Vec<String> = events.iter().map(in_short).collect();
    assert_eq!(summary, expected);
    let mut result = known.clone();
    for event in &events {
        result.apply(event).unwrap();
    }
    for artifact in &snapshot.artifacts {
        let reached = result.artifacts.iter();
        let reached = reached.filter(|reached| reached.artifact_id == artifact.artifact_id);
        let longest = reached.map(|reached| reached.parts.len()).max();
        assert!(longest >= Some(artifact.parts.len()), "{result:?}");
    }
    assert!(diff(&result, snapshot, true).is_empty(), "{result:?}");
}

fn in_short(event: &Event) -> String {
    match event {
        Event::ArtifactUpdate(update) => {
            let texts: Vec<_> = update
                .artifact
                .parts
                .iter()
                .filter_map(Part::as_text)
                .collect();
            let sign = if update.append { "+" } else { "=" };
            format!("{}{sign}{}", update.artifact.artifact_id, texts.concat())
        }
        Event::StatusUpdate(update) => update.status.state.as_str().to_owned(),
        Event::Message(message) => message.text(),
        Event::Task(_) => "task".to_owned(),
    }
}

#[test]
fn equal_tasks_yield_no_events() {
    let known = task(TaskState::Working, &[artifact("a", &["1", "2"])]);
    check(&known, &known, &[]);
}

#[test]
fn artifacts_are_continued_replaced_and_new() {
    let known = [
        artifact("a", &["1"]),
        artifact("b", &["2"]),
        artifact("c", &["3"]),
    ];
    let named = Artifact {
        name: Some("n".to_owned()),
        ..artifact("c", &["3"])
    };
    let now = [
        artifact("a", &["1", "4", "5"]),
        artifact("b", &["6"]),
        named,
        artifact("d", &["7"]),
    ];
    check(
        &task(TaskState::Working, &known),
        &task(TaskState::Completed, &now),
        &["a+45", "b=6", "c=3", "d=7", "TASK_STATE_COMPLETED"],
    );
}

#[test]
fn the_same_text_in_other_parts_replaces_the_artifact() {
    let known = task(TaskState::Working, &[artifact("a", &["1", "2"])]);
    let joined = task(TaskState::Working, &[artifact("a", &["123"])]);
    check(&known, &joined, &["a=123"]);
}

#[test]
fn a_replica_that_lags_behind_tells_nothing() {
    let at = |seconds: i64, state: TaskState, artifacts: &[Artifact]| {
        let text = format!("2026-01-01T00:00:{seconds:02}Z");
        let mut task = task(state, artifacts);
        task.status.timestamp = text.parse::<Timestamp>().ok();
        assert!(task.status.timestamp.is_some());
        task
    };
    let known = at(5, TaskState::InputRequired, &[artifact("a", &["1", "2"])]);
    check(
        &known,
        &at(4, TaskState::Working, &[artifact("a", &["1"])]),
        &[],
    );
    check(&known, &at(4, TaskState::Working, &[]), &[]);
    let later = at(6, TaskState::Working, &[]);
    check(&known, &later, &["TASK_STATE_WORKING"]);
    // A terminal state is final, whatever the timestamps.
    let done = at(4, TaskState::Completed, &[]);
    check(&known, &done, &["TASK_STATE_COMPLETED"]);
    let ended = task(TaskState::Completed, &[]);
    check(&ended, &task(TaskState::Working, &[]), &[]);
}

#[test]
fn messages_of_the_agent_are_returned_once() {
    let mut known = task(TaskState::Working, &[]);
    known.history = vec![message("asked", Role::User)];
    known.status.message = Some(message("looking", Role::Agent).into());
    let mut now = task(TaskState::InputRequired, &[]);
    now.history = vec![
        message("older", Role::Agent),
        message("asked", Role::User),
        message("looking", Role::Agent),
        message("found", Role::Agent),
        message("more", Role::User),
    ];
    now.status.message = Some(message("which?", Role::Agent).into());
    check(&known, &now, &["found", "TASK_STATE_INPUT_REQUIRED"]);
    assert!(diff(&known, &now, false).len() == 1);
}

/// In 0.1 a message has another id on a stream, and one by its place in a task.
#[test]
fn messages_without_ids_are_returned_once() {
    let unnamed = |texts: &[&str]| {
        let mut task = task(TaskState::Working, &[]);
        let named = texts.iter().enumerate().map(|(ordinal, text)| Message {
            message_id: MessageId::derived(&task.id, ordinal),
            ..match text.strip_prefix("you: ") {
                Some(text) => Message::user(text),
                None => Message::agent(*text),
            }
        });
        task.history = named.collect();
        task
    };
    let mut streamed = task(TaskState::Working, &[]);
    streamed.history = vec![Message::agent("looking")];
    check(&streamed, &unnamed(&["you: go", "looking"]), &[]);
    check(
        &streamed,
        &unnamed(&["you: go", "looking", "looking", "found"]),
        &["looking", "found"],
    );
    let looked = unnamed(&["you: go", "looking"]);
    check(&looked, &unnamed(&["looking", "found"]), &["found"]);
    check(&looked, &unnamed(&["you: go", "looking"]), &[]);
}

#[test]
fn the_message_of_the_status_is_returned_once() {
    let known = Task {
        history: vec![message("asked", Role::User)],
        ..task(TaskState::Working, &[])
    };
    let mut snapshot = task(TaskState::InputRequired, &[]);
    snapshot.status.message = Some(Box::new(message("what?", Role::Agent)));
    snapshot.history = vec![
        message("asked", Role::User),
        message("thinking", Role::Agent),
        message("what?", Role::Agent),
    ];
    let expected = ["thinking", "TASK_STATE_INPUT_REQUIRED"];
    check(&known, &snapshot, &expected);

    // Some agents put it before a later message.
    snapshot.history.swap(1, 2);
    check(&known, &snapshot, &expected);
    snapshot.history.swap(1, 2);

    // In 0.1 the ids of messages derive from their index.
    for (place, message) in snapshot.history.iter_mut().enumerate() {
        message.message_id = MessageId::derived(&"t".into(), place);
    }
    check(&known, &snapshot, &expected);
}
