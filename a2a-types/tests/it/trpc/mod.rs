//! The profile of trpc-agent-go: golden files of the written and read forms, and of the content
//! that a client of the framework keeps.
//!
//! `data/*.yaml` are the scenes, `data/*.golden` their results, which `A2A_REWRITE=1` rewrites.

mod fixture;
mod framework;
mod version;

use std::path::{Path, PathBuf};

use a2a_types::extension::trpc::{LlmResponses, Reader, StreamStart, StreamWriter};
use a2a_types::{
    Artifact, Event, Message, Part, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent, v0_2,
};

use crate::trpc::fixture::Fixture;

#[test]
fn every_scene_is_as_its_golden_file_says() {
    let mut failures = Vec::new();
    let scenes = scenes();
    assert!(scenes.len() >= 20, "only {} scenes", scenes.len());
    for path in scenes {
        let text = std::fs::read_to_string(&path).unwrap();
        let scene: Fixture = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = scene.play();
        let golden = path.with_extension("golden");
        if std::env::var_os("A2A_REWRITE").is_some() {
            std::fs::write(&golden, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if found != expected {
            failures.push(format!(
                "{}\nexpected\n{expected}\nfound\n{found}",
                golden.display()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A client of the framework keeps every word that is written, and so do we.
#[test]
fn no_scene_loses_a_word() {
    for path in scenes() {
        let text = std::fs::read_to_string(&path).unwrap();
        let scene: Fixture = serde_saphyr::from_str(&text).unwrap();
        for (who, kept) in scene.kept() {
            for word in &scene.words {
                let times = kept.matches(word.as_str()).count();
                assert_eq!(
                    times,
                    1,
                    "{}: {who} has {word:?} {times} times in {kept}",
                    path.display()
                );
            }
        }
    }
}

/// Clients of the framework read no line of more than 640 KiB.
#[test]
fn long_text_is_split_into_readable_lines() {
    // Each character takes six bytes in JSON; the last ones do not end where a piece does.
    let text = format!(
        "{}{}",
        "\u{1}".repeat(300 << 10),
        "\u{20AC}".repeat(100 << 10)
    );
    let status = |state: TaskState, message: Option<Message>| {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: Some("c".into()),
            status: TaskStatus {
                message: message.map(Box::new),
                ..state.into()
            },
            metadata: None,
        })
    };
    let artifact = Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: Some("c".into()),
        artifact: Artifact {
            artifact_id: "a".into(),
            parts: vec![Part::text("Begin:"), Part::text(&*text)],
            ..Artifact::default()
        },
        append: false,
        last_chunk: true,
        metadata: None,
    });
    let mut writer = StreamWriter::new(StreamStart::Message("m".into()), true);
    let mut events = writer.write(artifact);
    events.extend(writer.write(status(TaskState::Completed, Some(Message::agent(&*text)))));
    assert!(events.len() > 10, "{}", events.len());
    let mut reader = Reader::default();
    let mut responses = LlmResponses::default();
    for event in events {
        let line = serde_json::to_string(&v0_2::write_event(event.clone())).unwrap();
        assert!(line.len() < 640 << 10, "{}", line.len());
        reader
            .read(event)
            .iter()
            .for_each(|event| responses.add_event(event));
    }
    let said: Vec<_> = responses
        .iter()
        .map(|response| response.text.len())
        .collect();
    assert_eq!(said, ["Begin:".len() + text.len(), text.len()]);
}

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/trpc/data");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|it| it == "yaml"))
        .collect();
    files.sort();
    files
}
