//! An update of a task by its agent, and the reasons to refuse one.

use a2a_types::{Artifact, IllegalEvent, Object};

use crate::store::StoreError;

/// An artifact, or a chunk of one, on its way to the task's log.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ArtifactUpdate {
    /// The artifact, with the parts that are new.
    pub artifact: Artifact,
    /// `true` if the parts are added to the artifact of that id, instead of replacing it.
    pub append: bool,
    /// `true` if the artifact is complete.
    pub last_chunk: bool,
    /// Metadata of this event alone.
    pub metadata: Option<Object>,
}

impl ArtifactUpdate {
    /// Creates an update that replaces the artifact of the same id; further chunks may follow.
    pub fn new(artifact: Artifact) -> Self {
        Self {
            artifact,
            append: false,
            last_chunk: false,
            metadata: None,
        }
    }
}

/// Refusal of an update, of which nothing was stored or sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The update is not legal in the current state of the task; after a cancellation none is.
    #[error(transparent)]
    Illegal(#[from] IllegalEvent),
    /// The turn was answered by a message, so there is no task.
    #[error("the turn was answered with a message: there is no task to update")]
    Answered,
    /// It could not be stored.
    #[error("the update could not be stored")]
    Store(#[source] StoreError),
}

impl From<StoreError> for UpdateError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::InvalidTransition(illegal) => Self::Illegal(illegal),
            other => Self::Store(other),
        }
    }
}
