//! Wire data of the scenes of `a2a-types`, and the expected results.

use std::path::{Path, PathBuf};

use a2a_types::extension::trpc::{LlmResponse, LlmResponses};
use serde_json::{Value, json};

pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) streams: bool,
    pub(crate) results: Vec<Value>,
    /// Line by line.
    pub(crate) responses: String,
}

impl Fixture {
    pub(crate) fn all() -> Vec<Self> {
        let mut names: Vec<_> = std::fs::read_dir(folder())
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "golden"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names.iter().map(|name| Self::named(name)).collect()
    }

    pub(crate) fn named(name: &str) -> Self {
        let golden = std::fs::read_to_string(folder().join(format!("{name}.golden"))).unwrap();
        let section = |title: &str| {
            let begin = format!("# {title}\n");
            let (_, rest) = golden.split_once(&begin)?;
            Some(rest.split("\n# ").next().unwrap().to_owned())
        };
        let results = match section("written") {
            Some(written) => written
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            None => sent(name),
        };
        Self {
            name: name.to_owned(),
            streams: !name.contains("answer"),
            results,
            responses: section("responses").unwrap().trim_end().to_owned(),
        }
    }
}

/// Reads the results that a peer sends from the scene.
fn sent(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.yaml"))).unwrap();
    let results = text.lines().filter_map(|line| {
        let item = line
            .strip_prefix("  - ")
            .or(line.strip_prefix("answered: "))?;
        Some(serde_json::from_str(item).unwrap())
    });
    results.collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../a2a-types/tests/it/trpc/data")
}

/// Responses as golden files write them.
pub(crate) fn shown(responses: &LlmResponses) -> String {
    let failure = responses
        .failure()
        .map(|reason| format!("failed {reason:?}"));
    let lines: Vec<_> = responses.iter().map(shown_one).chain(failure).collect();
    lines.join("\n")
}

fn shown_one(response: &LlmResponse) -> String {
    let mut line = format!("{}:", response.id);
    if !response.reasoning.is_empty() {
        line.push_str(&format!(" thought {:?}", response.reasoning));
    }
    if !response.text.is_empty() {
        line.push_str(&format!(" said {:?}", response.text));
    }
    for step in &response.steps {
        line.push_str(&format!(" {step:?}"));
    }
    for part in &response.others {
        line.push_str(&format!(" {}", json!(part)));
    }
    line
}
