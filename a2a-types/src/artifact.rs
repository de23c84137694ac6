//! What a task produces.

use serde::{Deserialize, Serialize};

use crate::proto::or_default;
use crate::{ArtifactId, Object, Part};

/// A result of a task. Specification 1.0 §4.1.7.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within the task.
    #[serde(alias = "artifact_id")]
    pub artifact_id: ArtifactId,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The content.
    #[serde(default, deserialize_with = "or_default")]
    pub parts: Vec<Part>,
    /// Whatever the two sides agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// URIs of the extensions that contributed to this artifact.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub extensions: Vec<String>,
}

impl Artifact {
    /// Takes in a chunk sent with `append: true`: parts are added, metadata is merged member by
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
