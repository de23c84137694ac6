//! Sizes of values, as they are counted and as they are. One test alone in its process, with an allocator that counts.

use std::alloc::System;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_jsonrpc::{Limits, Reason};
use a2a_types::size::{FoldSize, size_of_event, size_of_task, size_of_value};
use a2a_types::{Artifact, Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState};
use serde::Deserialize;
use serde_json::{Value, json};
use tracking_allocator::{AllocationGroupId, AllocationRegistry, AllocationTracker, Allocator};

#[global_allocator]
static ALLOCATOR: Allocator<System> = Allocator::system();

/// Bytes that the process holds.
static HELD: AtomicUsize = AtomicUsize::new(0);

struct Counter;

impl AllocationTracker for Counter {
    fn allocated(&self, _: usize, bytes: usize, _: usize, _: AllocationGroupId) {
        HELD.fetch_add(as_of_glibc(bytes), Ordering::Relaxed);
    }

    fn deallocated(
        &self,
        _: usize,
        bytes: usize,
        _: usize,
        _: AllocationGroupId,
        _: AllocationGroupId,
    ) {
        HELD.fetch_sub(as_of_glibc(bytes), Ordering::Relaxed);
    }
}

/// Bytes that glibc takes for an allocation: a header of 8 bytes, in steps of 16, and 32 at least.
fn as_of_glibc(bytes: usize) -> usize {
    (bytes + 8).div_ceil(16).max(2) * 16
}

/// A value, and the bytes that it holds.
fn held<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Ordering::Relaxed);
    let made = make();
    (made, HELD.load(Ordering::Relaxed) - before)
}

#[track_caller]
fn check(what: &str, counted: usize, held: usize) {
    let (least, most) = (held - held / 5, held + held / 5);
    assert!(
        (least..=most).contains(&counted),
        "{what}: {counted} counted, {held} held"
    );
}

#[test]
fn sizes_are_right_within_a_fifth() {
    AllocationRegistry::set_global_tracker(Counter).unwrap();
    AllocationRegistry::enable_tracking();
    for (what, document) in documents() {
        check_document(&what, &document);
    }
    for (what, event) in events() {
        check_events(what, &event.to_string());
    }
    events_of_a_turn_share_the_names_of_their_task();
    a_task_counts_what_its_events_have_made_of_it();
}

/// The budget of a document that is still text is that of the values which it becomes, to the byte.
#[track_caller]
fn check_document(what: &str, document: &str) {
    let (value, held) = held(|| serde_json::from_str::<Value>(document).unwrap());
    let counted = size_of_value(&value);
    check(what, counted, held);
    let mut limits = Limits::default();
    (limits.bytes, limits.depth, limits.heap) = (usize::MAX, 126, counted);
    let read = |limits: &Limits| a2a_jsonrpc::check(document.as_bytes(), limits);
    assert_eq!(read(&limits), Ok(()), "{what}");
    if let Some(less) = counted.checked_sub(1) {
        limits.heap = less;
        let fault = read(&limits).unwrap_err();
        assert_eq!(fault.reason, Reason::TooHeavy { limit: less }, "{what}");
    }
}

/// Documents of every shape.
fn documents() -> Vec<(String, String)> {
    let mut documents: Vec<(String, String)> = Vec::new();
    let mut add = |what: String, document: String| documents.push((what, document));
    for value in [
        "0",
        "null",
        r#""""#,
        r#""a""#,
        r#""0123456789012345678901234""#,
    ] {
        add(value.into(), value.into());
        for count in [1, 3, 4, 5, 100, 4096, 4097, 20_000] {
            let values = vec![value; count].join(",");
            add(format!("{count} of {value}"), format!("[{values}]"));
        }
        for count in [1, 2, 11, 12, 13, 18, 19, 30, 100, 1000, 20_000] {
            let member = |number: &usize| format!(r#""{number:07}":{value}"#);
            let mut numbers: Vec<_> = (0..count).collect();
            for order in ["ascending", "descending", "shuffled"] {
                let members: Vec<_> = numbers.iter().map(member).collect();
                let members = members.join(",");
                let what = format!("{count} members of {value}, {order}");
                add(what, format!("{{{members}}}"));
                numbers.reverse();
                if order == "descending" {
                    // A number that has no divisor in common with any of the counts.
                    numbers.sort_by_key(|number| number * 7_919 % 104_729);
                }
            }
        }
    }
    for unit in [
        r#"{"":0}"#,
        r#"{"a":"b"}"#,
        "[0]",
        "[]",
        "{}",
        r#"{"a":[{"b":{}}]}"#,
    ] {
        let units = vec![unit; 20_000].join(",");
        add(format!("many {unit}"), format!(r#"{{"k":[{units}]}}"#));
    }
    for (open, close) in [
        (r#"{"":"#, "}"),
        ("[", "]"),
        (r#"[0,0,0,0,{"long name":"#, "}]"),
    ] {
        let deep = format!("{}0{}", open.repeat(50), close.repeat(50));
        let deep = vec![deep; 400].join(",");
        add(format!("400 of {open}, 50 deep"), format!("[{deep}]"));
    }
    let long = "x".repeat(100_000);
    add("long texts".into(), format!(r#"{{"{long}":["{long}"]}}"#));
    documents
}

/// An event of each shape, many times in a list as of a log.
#[track_caller]
fn check_events(what: &str, event: &str) {
    let (events, held) = held(|| {
        let mut events = Vec::new();
        for _ in 0..200 {
            events.push(Arc::new(serde_json::from_str::<Event>(event).unwrap()));
        }
        events
    });
    let counted: usize = events.iter().map(|event| size_of_event(event)).sum();
    check(what, counted, held);
    let task = &serde_json::from_str::<Value>(event).unwrap()["task"];
    if !task.is_null() {
        let (task, held) = crate::held(|| Arc::new(Task::deserialize(task).unwrap()));
        check(what, size_of_task(&task), held);
    }
}

fn events() -> Vec<(&'static str, Value)> {
    let objects = json!({"k": vec![json!({"": 0}); 300]});
    let text = json!({"text": "a "});
    let part = json!({"text": "x".repeat(300), "mediaType": "text/plain", "filename": "a file", "metadata": {"a": 1}});
    let message = |parts: Value| {
        json!({
            "messageId": "0193a5b2-0000-7000-8000-000000000000", "taskId": "t", "contextId": "c",
            "role": "ROLE_AGENT", "parts": parts,
        })
    };
    let with = |mut value: Value, member: &str, it: Value| {
        value[member] = it;
        value
    };
    let artifact = |parts: Value| json!({"artifactId": "chunks", "name": "chunks", "parts": parts});
    let chunk = |artifact: Value| json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact, "append": true}});
    let status = |message: Value| {
        json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {
            "state": "TASK_STATE_WORKING", "message": message, "timestamp": "2026-01-01T00:00:00Z",
        }}})
    };
    let short = message(json!([text]));
    let names = json!(vec!["https://example.com/extensions/a"; 20]);
    let long = "i".repeat(1000);
    let task = json!({
        "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING", "message": short},
        "history": vec![short.clone(); 30], "metadata": objects,
        "artifacts": vec![artifact(json!(vec![text.clone(); 30])); 30],
    });
    let data = json!([{"data": objects}, {"data": vec![1; 100]}, {"data": "a text"}]);
    let files = json!([{"raw": "aGVsbG8="}, {"url": "https://example.com/"}]);
    let bare = json!({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}});
    vec![
        ("a chunk", chunk(artifact(json!([text])))),
        (
            "a chunk of four",
            chunk(artifact(json!(vec![text.clone(); 4]))),
        ),
        (
            "a chunk of many",
            chunk(artifact(json!(vec![text.clone(); 500]))),
        ),
        ("a chunk without parts", chunk(artifact(json!([])))),
        ("a part with everything", chunk(artifact(json!([part])))),
        ("data", chunk(artifact(data))),
        ("files", chunk(artifact(files))),
        (
            "metadata of an artifact",
            chunk(with(artifact(json!([text])), "metadata", objects.clone())),
        ),
        (
            "extensions",
            chunk(with(artifact(json!([text])), "extensions", names.clone())),
        ),
        ("a status", status(short.clone())),
        ("a bare status", bare),
        (
            "a status of many parts",
            status(message(json!(vec![part.clone(); 9]))),
        ),
        ("a message", json!({"message": short})),
        (
            "a message of many parts",
            json!({"message": message(json!(vec![text; 100]))}),
        ),
        (
            "metadata of a message",
            json!({"message": with(short.clone(), "metadata", objects)}),
        ),
        (
            "references",
            json!({"message": with(short.clone(), "referenceTaskIds", names.clone())}),
        ),
        (
            "names of a message",
            json!({"message": with(short.clone(), "extensions", names)}),
        ),
        (
            "long names",
            json!({"message": with(with(short, "messageId", json!(long)), "contextId", json!(long))}),
        ),
        ("a task", json!({"task": task})),
        (
            "a new task",
            json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}),
        ),
    ]
}

fn chunk(task: &Task, number: usize) -> Event {
    let mut text = String::new();
    write!(text, "{number} ").unwrap();
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: task.id.clone(),
        context_id: task.context_id.clone(),
        artifact: Artifact {
            artifact_id: "chunks".into(),
            name: Some("chunks".to_owned()),
            parts: vec![Part::text(text)],
            ..Artifact::default()
        },
        append: true,
        last_chunk: false,
        metadata: None,
    })
}

fn events_of_a_turn_share_the_names_of_their_task() {
    let task = Task::submitted(
        "t".repeat(36).as_str().into(),
        "c".repeat(36).as_str().into(),
    );
    let placed = |number: usize| {
        Event::Message(Message {
            task_id: Some(task.id.clone()),
            context_id: task.context_id.clone(),
            ..Message::user(number.to_string())
        })
    };
    let of_a_turn: [(&str, &dyn Fn(usize) -> Event); 2] = [
        ("chunks", &|number| chunk(&task, number)),
        ("messages", &placed),
    ];
    for (what, event) in of_a_turn {
        let (events, held) = held(|| {
            let mut events = Vec::new();
            for number in 0..1000 {
                events.push(Arc::new(event(number)));
            }
            events
        });
        check(
            what,
            events.iter().map(|event| size_of_event(event)).sum(),
            held,
        );
    }
}

/// The free places of the lists of a small task are counted later.
fn a_task_counts_what_its_events_have_made_of_it() {
    let begun = || Task::submitted("t".into(), "c".into());
    let names = begun();
    let replaced = |number: usize| {
        let Event::ArtifactUpdate(update) = chunk(&names, number) else {
            unreachable!("a chunk is one");
        };
        let append = false;
        Event::ArtifactUpdate(TaskArtifactUpdateEvent { append, ..update })
    };
    let artifacts = |number: usize| {
        let Event::ArtifactUpdate(mut update) = replaced(number) else {
            unreachable!("an artifact is one");
        };
        update.artifact.artifact_id = number.to_string().into();
        Event::ArtifactUpdate(update)
    };
    let messages = |number: usize| Event::Message(Message::user(number.to_string()));
    let statuses = |number: usize| {
        Event::StatusUpdate(a2a_types::TaskStatusUpdateEvent {
            task_id: names.id.clone(),
            context_id: None,
            status: a2a_types::TaskStatus {
                message: Some(Message::agent(number.to_string()).into()),
                ..TaskState::Working.into()
            },
            metadata: None,
        })
    };
    let kinds: [(&str, &dyn Fn(usize) -> Event); 5] = [
        ("chunks", &|number| chunk(&names, number)),
        ("a replaced artifact", &replaced),
        ("artifacts", &artifacts),
        ("messages", &messages),
        ("statuses", &statuses),
    ];
    for (what, event) in kinds {
        let mut size = FoldSize::of(&begun());
        let before = HELD.load(Ordering::Relaxed);
        let mut task = Arc::new(begun());
        for number in 0..3000 {
            let event = event(number);
            Arc::make_mut(&mut task).apply(&event).unwrap();
            size.grow(&task, [&event]);
            drop(event);
            let held = HELD.load(Ordering::Relaxed) - before;
            let counted = size.bytes();
            assert!(
                counted + 2048 > held - held / 5 && counted < held + held / 5 + 2048,
                "{what} {number}: {counted} counted, {held} held"
            );
        }
        let held = HELD.load(Ordering::Relaxed) - before;
        check(what, size_of_task(&task), held);
    }
}
