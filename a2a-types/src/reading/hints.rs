//! Context of a text that is read.

use crate::{ArtifactId, TaskId};

/// Context of a text that is read.
#[derive(Clone, Debug)]
pub struct Hints<'a> {
    /// The path of the text in its message, like `$.params`.
    pub root: &'a str,
    /// The task that the exchange is about.
    pub task: Option<&'a TaskId>,
    /// The artifact that the stream's previous event was about.
    pub artifact: Option<&'a ArtifactId>,
}

impl<'a> Hints<'a> {
    /// Returns hints with nothing but a path.
    pub fn at(root: &'a str) -> Self {
        Self {
            root,
            task: None,
            artifact: None,
        }
    }
}
