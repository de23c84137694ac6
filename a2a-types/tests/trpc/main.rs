//! The profile of trpc-agent-go: golden files of what is written and what is read, and what a
//! client of the framework keeps of it.
//!
//! `data/*.yaml` are the scenes, `data/*.golden` what comes of them; `A2A_REWRITE=1` writes the
//! latter anew.

mod framework;
mod scene;
mod version;

use std::path::{Path, PathBuf};

use crate::scene::Scene;

#[test]
fn every_scene_is_as_its_golden_file_says() {
    let mut failures = Vec::new();
    let scenes = scenes();
    assert!(scenes.len() >= 20, "only {} scenes", scenes.len());
    for path in scenes {
        let text = std::fs::read_to_string(&path).unwrap();
        let scene: Scene = serde_saphyr::from_str(&text)
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

/// Whatever is written, a client of the framework keeps every word of it, and so do we.
#[test]
fn no_scene_loses_a_word() {
    for path in scenes() {
        let text = std::fs::read_to_string(&path).unwrap();
        let scene: Scene = serde_saphyr::from_str(&text).unwrap();
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

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trpc/data");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|it| it == "yaml"))
        .collect();
    files.sort();
    files
}
