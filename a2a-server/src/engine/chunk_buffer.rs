//! Buffer for text of an agent while an earlier append is being written.

use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::steps::is_reasoning;
use a2a_types::{Content, Part, TaskArtifactUpdateEvent};

/// Text appended to an artifact, buffered while an earlier append of the same task is being written, since
/// models stream small pieces. The chunks that accumulate meanwhile become one event. There is no timer.
#[derive(Default)]
pub(crate) struct ChunkBuffer(Mutex<BufferedChunks>);

#[derive(Default)]
struct BufferedChunks {
    update: Option<Box<TaskArtifactUpdateEvent>>,
    bytes: usize,
    /// `true` if a writer will take the buffered text.
    is_scheduled: bool,
}

/// The fate of a chunk.
pub(crate) enum PushOutcome {
    /// It is buffered, and a writer will take it.
    Kept,
    /// It is buffered, and the caller has to start a writer.
    First,
    /// It cannot be merged into the buffered text, or the buffer is full: the buffer has to be written
    /// first.
    Refused(Box<TaskArtifactUpdateEvent>),
}

impl ChunkBuffer {
    /// Keeps text; text for another artifact, or beyond the bound, is handed back.
    pub(crate) fn push(&self, chunk: Box<TaskArtifactUpdateEvent>) -> PushOutcome {
        let mut buffered = self.lock();
        let buffered = &mut *buffered;
        let bytes = text_len(&chunk);
        match &mut buffered.update {
            Some(kept) => {
                let same = kept.artifact.artifact_id == chunk.artifact.artifact_id;
                let is_full = kept.artifact.parts.len() >= MAX_PARTS || buffered.bytes >= MAX_BYTES;
                if !same || is_full {
                    return PushOutcome::Refused(chunk);
                }
                kept.artifact.parts.extend(chunk.artifact.parts);
                buffered.bytes += bytes;
            }
            None => {
                buffered.update = Some(chunk);
                buffered.bytes = bytes;
            }
        }
        match std::mem::replace(&mut buffered.is_scheduled, true) {
            true => PushOutcome::Kept,
            false => PushOutcome::First,
        }
    }

    /// Takes the buffered text.
    pub(crate) fn take(&self) -> Option<Box<TaskArtifactUpdateEvent>> {
        let mut buffered = self.lock();
        buffered.bytes = 0;
        buffered.update.take()
    }

    /// Returns whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().update.is_none()
    }

    /// Returns whether the writer is done because nothing is kept: the next chunk starts another one.
    pub(crate) fn finish(&self) -> bool {
        let mut buffered = self.lock();
        buffered.is_scheduled = buffered.update.is_some();
        !buffered.is_scheduled
    }

    /// Leaves the buffered text to the next writer.
    pub(crate) fn give_up(&self) {
        self.lock().is_scheduled = false;
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, BufferedChunks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of kept text, and number of its parts, from which on further chunks are refused.
const MAX_BYTES: usize = 4096;
const MAX_PARTS: usize = 512;

/// Returns whether an update only adds text to an artifact, so that it can become one event with the next.
pub(crate) fn is_mere_text(event: &TaskArtifactUpdateEvent) -> bool {
    let plain = |part: &Part| {
        let is_text = matches!(part.content, Content::Text(_));
        let bare = part.metadata.is_none() || is_reasoning(part);
        is_text && bare && part.media_type.is_none() && part.filename.is_none()
    };
    let artifact = &event.artifact;
    event.append
        && !event.last_chunk
        && event.metadata.is_none()
        && artifact.metadata.is_none()
        && artifact.description.is_none()
        && artifact.parts.len() == 1
        && artifact.parts.iter().all(plain)
}

fn text_len(update: &TaskArtifactUpdateEvent) -> usize {
    let texts = update.artifact.parts.iter().filter_map(Part::as_text);
    texts.map(str::len).sum()
}
