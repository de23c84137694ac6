//! A scene: the content of a log or the messages of a peer, and all results.

use a2a_types::extension::trpc::{
    Collapse, LlmResponse, LlmResponses, Reader, StreamStart, StreamWriter, write_task,
};
use a2a_types::reading::{Hints, Mode};
use a2a_types::{
    ArtifactId, Event, Operation, ProtocolVersion, Response, SendMessageResponse, Task, v0_2,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::trpc::framework::Framework;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Fixture {
    /// Description of the scene.
    #[serde(rename = "about")]
    _about: String,
    /// Words that every receiver must keep once.
    #[serde(default)]
    pub(crate) words: Vec<String>,
    /// The message that a stream answers; without it the stream begins with the task.
    asked: Option<String>,
    #[serde(default)]
    hides_steps: bool,
    /// The canonical events of our log: a stream is written.
    stored: Option<Vec<Value>>,
    /// A canonical task: an answer is written.
    task: Option<Value>,
    /// The caller wants the task.
    #[serde(default)]
    wants_task: bool,
    /// The stream breaks off in the end.
    #[serde(default)]
    breaks_off: bool,
    /// Results that a peer streams.
    streamed: Option<Vec<Value>>,
    /// The result that a peer answers by.
    answered: Option<Value>,
}

impl Fixture {
    /// Returns all results of the fixture, for the golden file.
    pub(crate) fn play(&self) -> String {
        let mut golden = String::new();
        let mut section = |title: &str, lines: Vec<String>| {
            golden.push_str(&format!("# {title}\n"));
            for line in lines {
                golden.push_str(&line);
                golden.push('\n');
            }
        };
        let lines = |values: &[Value]| values.iter().map(Value::to_string).collect();
        let wire = self.wire();
        if self.streamed.is_none() && self.answered.is_none() {
            section("written", lines(&wire));
        }
        let read = self.read(&wire);
        if let Reply::Stream(events) = &read {
            let events: Vec<_> = events.iter().map(|event| json!(event)).collect();
            section("read", lines(&events));
        }
        section("responses", shown(&read.responses()));
        section("framework", vec![self.framework(&wire).to_string()]);
        golden
    }

    /// Returns what our reader and the framework's client keep.
    pub(crate) fn kept(&self) -> Vec<(&'static str, String)> {
        let wire = self.wire();
        let ours = shown(&self.read(&wire).responses());
        let mut kept = vec![("our client", ours.concat())];
        // The framework's client reads answers of the framework's own agents as it likes.
        if self.streamed.is_none() && self.answered.is_none() {
            kept.push(("the framework's client", self.framework(&wire).to_string()));
        }
        kept
    }

    fn streams(&self) -> bool {
        self.stored.is_some() || self.streamed.is_some()
    }

    fn wire(&self) -> Vec<Value> {
        if let Some(streamed) = &self.streamed {
            return streamed.clone();
        }
        if let Some(answered) = &self.answered {
            return vec![answered.clone()];
        }
        if let Some(task) = &self.task {
            let task = Task::deserialize(task).unwrap();
            let collapse = match self.wants_task {
                true => Collapse::Never,
                false => Collapse::One,
            };
            let answer = write_task(task, !self.hides_steps, collapse);
            let response =
                v0_2::write_response(Response::SendMessage(answer), ProtocolVersion::V0_2);
            return vec![json!(response.unwrap())];
        }
        let beginning = match &self.asked {
            Some(asked) => StreamStart::Message(asked.as_str().into()),
            None => StreamStart::Task,
        };
        let mut writer = StreamWriter::new(beginning, !self.hides_steps);
        let stored = self.stored.iter().flatten();
        let stored = stored.map(|event| Event::deserialize(event).unwrap());
        let mut written: Vec<_> = stored.flat_map(|event| writer.write(event)).collect();
        if self.breaks_off {
            written.extend(writer.break_off("The stream broke off."));
        }
        written
            .into_iter()
            .map(|event| without_made_up(json!(v0_2::write_event(event))))
            .collect()
    }

    fn read(&self, wire: &[Value]) -> Reply {
        if !self.streams() {
            let text = wire[0].to_string();
            let read = v0_2::read_response(
                Operation::SendMessage,
                &text,
                Mode::Lenient,
                &Hints::at("$"),
            );
            return match read.unwrap().value {
                Response::SendMessage(answer) => Reply::Single(Box::new(answer)),
                other => panic!("{other:?}"),
            };
        }
        let mut reader = Reader::default();
        let mut artifact: Option<ArtifactId> = None;
        let mut events = Vec::new();
        for event in wire {
            let hints = Hints {
                artifact: artifact.as_ref(),
                ..Hints::at("$")
            };
            let read = v0_2::read_event(&event.to_string(), Mode::Lenient, &hints).unwrap();
            if let Event::ArtifactUpdate(update) = &read.value.event {
                artifact = Some(update.artifact.artifact_id.clone());
            }
            events.extend(reader.read(read.value.event));
        }
        Reply::Stream(events)
    }

    fn framework(&self, wire: &[Value]) -> Framework {
        match self.streams() {
            true => Framework::streamed(wire),
            false => Framework::answered(&wire[0]),
        }
    }
}

enum Reply {
    Single(Box<SendMessageResponse>),
    Stream(Vec<Event>),
}

impl Reply {
    fn responses(&self) -> LlmResponses {
        match self {
            Self::Single(answer) => LlmResponses::of_answer(answer),
            Self::Stream(events) => {
                let mut responses = LlmResponses::default();
                events.iter().for_each(|event| responses.add_event(event));
                responses
            }
        }
    }
}

fn shown(responses: &LlmResponses) -> Vec<String> {
    let failure = responses
        .failure()
        .map(|reason| format!("failed {reason:?}"));
    responses.iter().map(shown_one).chain(failure).collect()
}

fn shown_one(response: &LlmResponse) -> String {
    let LlmResponse {
        id,
        reasoning,
        text,
        steps,
        others,
    } = response;
    let mut line = format!("{id}:");
    if !reasoning.is_empty() {
        line.push_str(&format!(" thought {reasoning:?}"));
    }
    if !text.is_empty() {
        line.push_str(&format!(" said {text:?}"));
    }
    for step in steps {
        line.push_str(&format!(" {step:?}"));
    }
    for part in others {
        line.push_str(&format!(" {}", json!(part)));
    }
    line
}

/// Replaces the random id of the message that a writer makes up.
fn without_made_up(mut event: Value) -> Value {
    if event["status"]["message"]["parts"][0]["text"] == "The stream broke off." {
        event["status"]["message"]["messageId"] = json!("(made up)");
    }
    event
}
