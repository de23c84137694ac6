//! Normalization of the events of a peer that declared the profile.

use std::collections::BTreeMap;

use super::artifact_content::ArtifactContent;
use super::{ObjectType, ResponseMetadata, Step};
use crate::{ArtifactId, Event, Part, TaskArtifactUpdateEvent};

/// Reads the events of one stream of such a peer.
///
/// Chunks of an artifact are appended, although they do not say so. The whole response after its
/// chunks replaces them. The response of a tool may lack an artifact id, and is then appended to the
/// artifact before; an event with neither id nor content is dropped. The end closes the open artifact.
#[derive(Debug, Default)]
pub struct Reader {
    contents: BTreeMap<ArtifactId, ArtifactContent>,
    last: Option<ArtifactId>,
}

impl Reader {
    /// Returns the meaning of an event, or `None` if it adds nothing.
    pub fn read(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::ArtifactUpdate(update) => self.artifact(update).map(Event::ArtifactUpdate),
            Event::Task(task) => {
                self.contents.clear();
                for artifact in &task.artifacts {
                    let content = self
                        .contents
                        .entry(artifact.artifact_id.clone())
                        .or_default();
                    content.add(&artifact.parts);
                    self.last = Some(artifact.artifact_id.clone());
                }
                Some(Event::Task(task))
            }
            other => Some(other),
        }
    }

    fn artifact(&mut self, mut update: TaskArtifactUpdateEvent) -> Option<TaskArtifactUpdateEvent> {
        let about = ResponseMetadata::of(update.metadata.as_ref());
        let artifact = &mut update.artifact;
        let nameless = artifact.artifact_id.is_empty();
        if nameless {
            let named = about.llm_response_id.as_deref().map(ArtifactId::from);
            artifact.artifact_id = named.or_else(|| self.last.clone()).unwrap_or_default();
        }
        if artifact.parts.is_empty() {
            let tells = match update.last_chunk {
                true => self.contents.contains_key(&artifact.artifact_id),
                false => !nameless,
            };
            update.append |= self.contents.contains_key(&artifact.artifact_id);
            return tells.then_some(update);
        }
        let known = self.contents.contains_key(&artifact.artifact_id);
        let content = self
            .contents
            .entry(artifact.artifact_id.clone())
            .or_default();
        self.last = Some(artifact.artifact_id.clone());
        let whole = is_whole(&about, &artifact.parts);
        let repeats = known && !update.append && (update.last_chunk || whole);
        let rest = repeats.then(|| content.rest(&artifact.parts)).flatten();
        update.append |= known;
        match rest {
            Some(rest) if rest.is_empty() && !update.last_chunk => return None,
            Some(rest) => artifact.parts = rest,
            // The content before was only a draft.
            None if repeats && whole => {
                artifact.parts = content.replace(std::mem::take(&mut artifact.parts));
                update.append = false;
                return Some(update);
            }
            None => {}
        }
        content.add(&artifact.parts);
        Some(update)
    }
}

/// Returns whether parts are a whole response of the model: only whole responses are repeated. A step comes once.
fn is_whole(about: &ResponseMetadata, parts: &[Part]) -> bool {
    let text = |part: &Part| {
        part.as_text().is_some() || matches!(Step::of(part), Some(Step::Reasoning(_)))
    };
    about.object_type == Some(ObjectType::ChatCompletion) && parts.iter().any(text)
}
