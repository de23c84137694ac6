//! Answers with one damaged member: what is readable is read, and the damage is told.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::{OutgoingReply, read_reply, write_reply};
use a2a_transport::{Binding, Envelope, Error};
use a2a_types::reading::Mode;
use a2a_types::{
    Artifact, Dialect, Message, Operation, Part, Response, SendMessageResponse, Task, TaskState,
};
use http::StatusCode;
use serde_json::{Value, json};

const TEXT: &str = "The answer";

fn task() -> Task {
    let mut task = Task::submitted("t".into(), "c".into());
    task.status = TaskState::Completed.into();
    task.status.message = Some(Box::new(Message::agent("done")));
    task.history = vec![Message::user("hi")];
    task.artifacts = vec![Artifact {
        artifact_id: "a".into(),
        name: Some("answer".to_owned()),
        parts: vec![Part::text(TEXT)],
        ..Artifact::default()
    }];
    task
}

fn answers() -> Vec<(String, Envelope, Value)> {
    let bindings = [
        (Dialect::V0_1, Binding::JsonRpc),
        (Dialect::V0_2, Binding::JsonRpc),
        (Dialect::V0_3, Binding::JsonRpc),
        (Dialect::V0_3, Binding::HttpJson),
        (Dialect::V1_0, Binding::JsonRpc),
        (Dialect::V1_0, Binding::HttpJson),
    ];
    let message = SendMessageResponse::Message(Message::agent(TEXT));
    let mut answers = Vec::new();
    for (dialect, binding) in bindings {
        let sent = Response::SendMessage(SendMessageResponse::Task(task()));
        let mut of_version = vec![
            (Operation::SendMessage, sent),
            (Operation::GetTask, Response::GetTask(task())),
        ];
        if dialect != Dialect::V0_1 {
            of_version.push((
                Operation::SendMessage,
                Response::SendMessage(message.clone()),
            ));
        }
        for (operation, response) in of_version {
            let mut envelope = Envelope::new(dialect, binding, operation);
            envelope.id = Some(Id::number(1));
            let OutgoingReply { body, .. } = write_reply(&envelope, Ok(response));
            let json = serde_json::from_slice(&body).unwrap();
            answers.push((
                format!("{dialect} {binding} {}", operation.name()),
                envelope,
                json,
            ));
        }
    }
    answers
}

fn read(envelope: &Envelope, answer: &Value, mode: Mode) -> Result<(String, usize), Error> {
    let body = answer.to_string();
    let read = read_reply(
        envelope,
        StatusCode::OK,
        body.as_bytes(),
        mode,
        &Limits::default(),
    )?;
    let text = match read.value {
        Response::SendMessage(SendMessageResponse::Message(message)) => message.text(),
        Response::SendMessage(SendMessageResponse::Task(task)) | Response::GetTask(task) => {
            task.answer_text()
        }
        other => panic!("{other:?}"),
    };
    Ok((text, read.repairs.len()))
}

/// Every place below a value, and whether the text is there or further below.
fn places(value: &Value, path: &str, found: &mut Vec<(String, bool)>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(object) => {
            let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
            object
                .iter()
                .map(|(name, value)| (escaped(name), value))
                .collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, value)| (index.to_string(), value))
                .collect()
        }
        _ => Vec::new(),
    };
    for (name, value) in below {
        let path = format!("{path}/{name}");
        found.push((path.clone(), value.to_string().contains(TEXT)));
        places(value, &path, found);
    }
}

/// Returns an answer with one damaged place; `None` if it is as it was.
fn damaged(answer: &Value, path: &str, damage: &str) -> Option<Value> {
    let mut copy = answer.clone();
    let place = copy.pointer_mut(path)?;
    let better = match damage {
        "null" => Value::Null,
        "a number" => json!(5),
        "another word" => json!("sideways"),
        "an object" => json!({"x": 1}),
        "in an array" => json!([place.clone()]),
        "in a wrapper" => json!({ "root": place.clone() }),
        "absent" => {
            let (outer, name) = path.rsplit_once('/')?;
            match copy.pointer_mut(outer)? {
                Value::Object(object) => drop(object.remove(name)),
                Value::Array(items) => drop(items.remove(name.parse().ok()?)),
                _ => return None,
            }
            return Some(copy);
        }
        other => panic!("{other}"),
    };
    if *place == better {
        return None;
    }
    *place = better;
    Some(copy)
}

const DAMAGES: [&str; 7] = [
    "absent",
    "null",
    "a number",
    "another word",
    "an object",
    "in an array",
    "in a wrapper",
];

#[test]
fn a_damaged_member_costs_at_most_what_is_in_it() {
    let (mut whole, mut reported, mut lost) = (0, 0, Vec::new());
    for (name, envelope, answer) in answers() {
        let (text, deviations) = read(&envelope, &answer, Mode::Strict).unwrap();
        assert_eq!((text.as_str(), deviations), (TEXT, 0), "{name}");
        let mut all = Vec::new();
        places(&answer, "", &mut all);
        for (path, has_text) in all {
            for damage in DAMAGES {
                let Some(damaged) = damaged(&answer, &path, damage) else {
                    continue;
                };
                let place = format!("{name} {path} {damage}");
                match read(&envelope, &damaged, Mode::Tolerant) {
                    Ok((text, _)) if text == TEXT => whole += 1,
                    // The reader reports the damage.
                    Ok((_, deviations)) if deviations > 0 => reported += 1,
                    // The damaged answer is a right one with another text.
                    Ok(_) if !damaged.to_string().contains(TEXT) => reported += 1,
                    Err(_) if has_text || path == "/jsonrpc" || path == "/id" => reported += 1,
                    read => lost.push(format!("{place}: {read:?}")),
                }
            }
        }
    }
    println!("{whole} whole, {reported} reported, {} lost", lost.len());
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn a_document_of_another_kind_is_no_answer() {
    let documents = [
        json!({"name": "n", "description": "d", "url": "http://h", "version": "1", "skills": []}),
        json!({"status": 500, "error": "Internal Server Error", "message": "boom"}),
        json!({"code": -32602, "message": "Invalid parameters"}),
        json!({"detail": "Not Found"}),
        json!({}),
    ];
    for (name, envelope, _) in answers() {
        for document in &documents {
            let read = read(&envelope, document, Mode::Tolerant);
            assert!(read.is_err(), "{name} {document}: {read:?}");
        }
    }
}
