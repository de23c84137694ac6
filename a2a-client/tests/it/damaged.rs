//! Answers, streams and cards with one damaged member: the readable part is read, and the damage is
//! reported.

use a2a_client::read_card_in;
use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::{EventReader, EventWriter, OutgoingReply, read_reply, write_reply};
use a2a_transport::{Binding, Error, ResponseContext, SharedEvent};
use a2a_types::reading::Mode;
use a2a_types::{
    AgentCard, AgentSkill, Artifact, Content, Event, Message, Operation, Part, ProtocolVersion,
    Response, SendMessageResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent,
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

const BINDINGS: [(ProtocolVersion, Binding); 6] = [
    (ProtocolVersion::V0_1, Binding::JsonRpc),
    (ProtocolVersion::V0_2, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::JsonRpc),
    (ProtocolVersion::V0_3, Binding::HttpJson),
    (ProtocolVersion::V1_0, Binding::JsonRpc),
    (ProtocolVersion::V1_0, Binding::HttpJson),
];

fn answers() -> Vec<(String, ResponseContext, Value)> {
    let message = SendMessageResponse::Message(Message::agent(TEXT));
    let mut answers = Vec::new();
    for (protocol_version, binding) in BINDINGS {
        let sent = Response::SendMessage(SendMessageResponse::Task(task()));
        let mut of_version = vec![
            (Operation::SendMessage, sent),
            (Operation::GetTask, Response::GetTask(task())),
        ];
        if protocol_version != ProtocolVersion::V0_1 {
            of_version.push((
                Operation::SendMessage,
                Response::SendMessage(message.clone()),
            ));
        }
        for (operation, response) in of_version {
            let mut envelope = ResponseContext::new(protocol_version, binding, operation);
            envelope.id = Some(Id::number(1));
            let OutgoingReply { body, .. } = write_reply(&envelope, Ok(response));
            let json = serde_json::from_slice(&body).unwrap();
            answers.push((
                format!("{protocol_version} {binding} {}", operation.name()),
                envelope,
                json,
            ));
        }
    }
    answers
}

fn read(envelope: &ResponseContext, answer: &Value, mode: Mode) -> Result<(String, usize), Error> {
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
            task.text()
        }
        other => panic!("{other:?}"),
    };
    Ok((text, read.repairs.len()))
}

/// The events of a stream, as JSON.
fn stream(protocol_version: ProtocolVersion, binding: Binding) -> (ResponseContext, Vec<Value>) {
    let chunk = |text: &str, append: bool| {
        Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: "t".into(),
            context_id: Some("c".into()),
            artifact: Artifact {
                artifact_id: "a".into(),
                parts: vec![Part::text(text)],
                ..Artifact::default()
            },
            append,
            last_chunk: append,
            metadata: None,
        })
    };
    let status = |state: TaskState| {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: Some("c".into()),
            status: state.into(),
            metadata: None,
        })
    };
    let (first, second) = TEXT.split_at(4);
    let events = [
        status(TaskState::Working),
        chunk(first, false),
        chunk(second, true),
        status(TaskState::Completed),
    ];
    let mut envelope =
        ResponseContext::new(protocol_version, binding, Operation::SendStreamingMessage);
    envelope.id = Some(Id::number(1));
    let mut writer = EventWriter::new(&envelope);
    let mut lines = Vec::new();
    for event in events {
        for line in writer.write(&SharedEvent::from(event)) {
            lines.push(serde_json::from_slice(&line.json()).unwrap());
        }
    }
    (envelope, lines)
}

fn text_of(artifact: &Artifact) -> String {
    let texts = artifact
        .parts
        .iter()
        .filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
    texts.collect()
}

/// Returns the text of the artifact and the last state, as far as they are read, and the number of events with damage.
fn read_stream(
    envelope: &ResponseContext,
    events: &[Value],
    mode: Mode,
) -> (String, TaskState, usize) {
    let mut reader = EventReader::new(envelope.clone(), mode, Limits::default());
    let (mut text, mut state, mut damaged) = (String::new(), TaskState::Unspecified, 0);
    for event in events {
        match reader.read(event.to_string().as_bytes()) {
            Ok(read) => {
                damaged += usize::from(!read.repairs.is_empty());
                match read.value.event {
                    Event::ArtifactUpdate(update) => text += &text_of(&update.artifact),
                    Event::StatusUpdate(update) => state = update.status.state,
                    Event::Task(task) => state = task.status.state,
                    Event::Message(message) => text += &message.text(),
                }
            }
            Err(_) => damaged += 1,
        }
    }
    (text, state, damaged)
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
fn a_damaged_event_costs_no_other_event() {
    let (mut whole, mut reported, mut lost) = (0, 0, Vec::new());
    for (protocol_version, binding) in BINDINGS {
        let (envelope, events) = stream(protocol_version, binding);
        let name = format!("{protocol_version} {binding}");
        let (first, second) = TEXT.split_at(4);
        let last = if binding == Binding::HttpJson || protocol_version == ProtocolVersion::V1_0 {
            "COMPLETED"
        } else {
            "completed"
        };
        let contents = ["", first, second, last];
        let all = (TEXT.to_owned(), TaskState::Completed, 0);
        assert_eq!(read_stream(&envelope, &events, Mode::Strict), all, "{name}");
        for (index, event) in events.iter().enumerate() {
            let mut found = Vec::new();
            places(event, "", &mut found);
            let damages = found
                .iter()
                .flat_map(|(path, _)| DAMAGES.map(|damage| (path, damage)));
            for (path, damage) in damages {
                let Some(damaged) = damaged(event, path, damage) else {
                    continue;
                };
                // Damage may replace a text or a state by another right one.
                let is_there =
                    contents[index].is_empty() || damaged.to_string().contains(contents[index]);
                let mut events = events.clone();
                events[index] = damaged;
                let (text, state, damaged) = read_stream(&envelope, &events, Mode::Tolerant);
                let others = match index {
                    1 => text.ends_with("answer"),
                    2 => text.starts_with("The "),
                    _ => text == TEXT,
                };
                let ended = index == 3 || state == TaskState::Completed;
                let is_whole = text == TEXT && state == TaskState::Completed;
                // The client reports a task without a state, and exits with 6.
                let is_told = damaged > 0 || state == TaskState::Unspecified;
                match (is_whole, others && ended && (is_told || !is_there)) {
                    (true, _) => whole += 1,
                    (_, true) => reported += 1,
                    _ => lost.push(format!("{name} {index} {path} {damage}: {text} {state:?}")),
                }
            }
        }
    }
    println!("{whole} whole, {reported} reported, {} lost", lost.len());
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// Returns the cards of each version with the places that name the endpoint.
fn cards() -> [(&'static str, Value, &'static [&'static str]); 3] {
    let mut card = AgentCard::new("Agent", "Does things").at("http://agent.example/");
    card.skills = vec![AgentSkill {
        id: "s".to_owned(),
        name: "Skill".to_owned(),
        description: "Does a thing".to_owned(),
        tags: vec!["thing".to_owned()],
        ..AgentSkill::default()
    }];
    card.supported_interfaces.truncate(1);
    let of_1_0 = serde_json::to_value(&card).unwrap();
    card.supported_interfaces[0].protocol_version = "0.3.0".to_owned();
    let of_0_3 = serde_json::to_value(a2a_types::v0_2::AgentCard::from(card.clone())).unwrap();
    let of_0_1 = serde_json::to_value(a2a_types::v0_1::AgentCard::from(card)).unwrap();
    [
        ("1.0", of_1_0, &["/supportedInterfaces"]),
        (
            "0.3",
            of_0_3,
            &[
                "/url",
                "/preferredTransport",
                "/protocolVersion",
                "/additionalInterfaces",
            ],
        ),
        ("0.1", of_0_1, &["/url"]),
    ]
}

#[test]
fn a_card_with_a_damaged_member_is_usable_if_its_endpoint_is_whole() {
    let (mut usable, mut refused, mut lost) = (0, 0, Vec::new());
    for (version, card, endpoint) in cards() {
        let read = read_card_in(&card.to_string(), Mode::Tolerant).unwrap();
        assert!(
            read.repairs.is_empty(),
            "{version} {card}: {:?}",
            read.repairs
        );
        let url = read.value.supported_interfaces[0].url.clone();
        let mut found = Vec::new();
        places(&card, "", &mut found);
        let damages = found
            .iter()
            .flat_map(|(path, _)| DAMAGES.map(|damage| (path, damage)));
        for (path, damage) in damages {
            let Some(damaged) = damaged(&card, path, damage) else {
                continue;
            };
            let is_essential = endpoint.iter().any(|place| path.starts_with(place));
            match read_card_in(&damaged.to_string(), Mode::Tolerant) {
                Ok(read)
                    if read
                        .value
                        .supported_interfaces
                        .iter()
                        .any(|it| it.url == url) =>
                {
                    usable += 1
                }
                Ok(_) | Err(_) if is_essential => refused += 1,
                read => lost.push(format!("{version} {path} {damage}: {read:?}")),
            }
        }
    }
    println!(
        "{usable} usable, {refused} without the endpoint, {} lost",
        lost.len()
    );
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn a_document_of_another_kind_is_not_an_answer() {
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
