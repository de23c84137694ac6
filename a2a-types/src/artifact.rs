//! Artifacts: the results of a task.

use std::collections::HashMap;

use crate::wire_types::wire_types;
use crate::{ArtifactId, Object, Part};

wire_types! {
    /// A result of a task. Specification 1.0 §4.1.7.
    pub struct Artifact: Debug, Default {
        /// Unique within the task.
        pub artifact_id: ArtifactId | "artifact_id",
        /// Human-readable name.
        pub name: Option<String> = optional,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// The content.
        pub parts: Vec<Part> = or_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
        /// URIs of the extensions that contributed to this artifact.
        pub extensions: Vec<String> = unless_default,
    }
}

impl Artifact {
    /// Returns the text parts, one directly after the other: an agent that streams sends a text in many of them.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// Appends a chunk sent with `append: true`: parts are added, metadata is merged member by
    /// member, and a name or description is replaced when the chunk brings one.
    pub(crate) fn append(&mut self, chunk: &Self) {
        self.parts.extend_from_slice(&chunk.parts);
        if chunk.name.is_some() {
            self.name.clone_from(&chunk.name);
        }
        if chunk.description.is_some() {
            self.description.clone_from(&chunk.description);
        }
        if let Some(metadata) = &chunk.metadata {
            let metadata = metadata.clone();
            self.metadata.get_or_insert_default().extend(metadata);
        }
        for uri in &chunk.extensions {
            if !self.extensions.contains(uri) {
                self.extensions.push(uri.clone());
            }
        }
    }
}

/// Index of a task's artifacts by id, for applying many events. It is built only once searching
/// the artifacts one by one has cost as much.
#[derive(Debug, Default)]
pub struct ArtifactIndex {
    /// Number of artifacts that were looked at one by one.
    pub(crate) visited: usize,
    places: HashMap<ArtifactId, usize>,
    /// Number of artifacts in the index.
    indexed: usize,
}

impl ArtifactIndex {
    /// Returns the place of the artifact of that id.
    pub(crate) fn find(&mut self, artifacts: &[Artifact], id: &ArtifactId) -> Option<usize> {
        // The last one is most often meant.
        if artifacts.last().is_some_and(|last| last.artifact_id == *id) {
            return Some(artifacts.len() - 1);
        }
        let is_cheap = self.indexed == 0 && self.visited <= FEW * artifacts.len();
        if is_cheap || artifacts.len() <= FEW {
            let place = artifacts.iter().rposition(|known| known.artifact_id == *id);
            self.visited += artifacts.len() - place.unwrap_or_default();
            return place;
        }
        for (place, artifact) in artifacts.iter().enumerate().skip(self.indexed) {
            self.places.insert(artifact.artifact_id.clone(), place);
        }
        self.indexed = artifacts.len();
        let is_there = |place: &usize| {
            let found = artifacts.get(*place);
            found.is_some_and(|found| found.artifact_id == *id)
        };
        self.places.get(id).copied().filter(is_there)
    }
}

/// Number of artifacts, and of searches through all of them, up to which no index is built.
const FEW: usize = 16;
