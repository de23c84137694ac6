//! Output of events as they happen.

use std::collections::HashMap;

use a2a_types::{
    Artifact, ArtifactId, Content, Event, Part, Task, TaskArtifactUpdateEvent, TaskId,
};

use super::task::{artifact, ids, status};
use super::{INDENT, Screen, indented, message, task};
use crate::failure::Failure;

/// Prints events. Text that comes in pieces is one block, which grows with each.
#[derive(Default)]
pub(crate) struct Events {
    /// Artifact whose block is not closed yet.
    open: Option<ArtifactId>,
    /// Names of the artifacts that were printed.
    names: HashMap<ArtifactId, String>,
    /// Task that was printed last.
    task: Option<TaskId>,
    /// Set if the last event had the state of the task.
    told_state: bool,
}

impl Events {
    pub(crate) fn show(&mut self, event: &Event, screen: &Screen) -> Result<(), Failure> {
        if screen.json {
            return screen.value(event);
        }
        if let Event::ArtifactUpdate(update) = event {
            return self.chunk(update, screen);
        }
        self.close(screen)?;
        self.told_state = true;
        match event {
            Event::Message(answer) => message(screen, answer),
            Event::Task(snapshot) if self.task.as_ref() == Some(&snapshot.id) => {
                // The same task again: its status is new, and perhaps artifacts are.
                ids(screen, Some(&snapshot.id), snapshot.context_id.as_ref())?;
                status(screen, &snapshot.status)?;
                for new in &snapshot.artifacts {
                    if !self.names.contains_key(&new.artifact_id) {
                        self.learn(new);
                        artifact(screen, new)?;
                    }
                }
                Ok(())
            }
            Event::Task(snapshot) => {
                self.task = Some(snapshot.id.clone());
                snapshot
                    .artifacts
                    .iter()
                    .for_each(|known| self.learn(known));
                task(screen, snapshot, screen.verbose)
            }
            Event::StatusUpdate(update) => {
                ids(screen, Some(&update.task_id), update.context_id.as_ref())?;
                status(screen, &update.status)
            }
            Event::ArtifactUpdate(_) => Ok(()),
        }
    }

    /// Ends the output: closes the last block, and prints the state unless the last event had it.
    pub(crate) fn end(&mut self, last: Option<&Task>, screen: &Screen) -> Result<(), Failure> {
        self.close(screen)?;
        match last {
            Some(last) if !self.told_state && !screen.json => {
                ids(screen, Some(&last.id), last.context_id.as_ref())?;
                status(screen, &last.status)
            }
            _ => Ok(()),
        }
    }

    /// Closes the block.
    fn close(&mut self, screen: &Screen) -> Result<(), Failure> {
        match self.open.take() {
            Some(_) => screen.write("\n\n"),
            None => Ok(()),
        }
    }

    fn chunk(&mut self, update: &TaskArtifactUpdateEvent, screen: &Screen) -> Result<(), Failure> {
        let artifact = &update.artifact;
        self.told_state = false;
        self.learn(artifact);
        let is_text = |part: &Part| matches!(part.content, Content::Text(_));
        let is_text = !screen.verbose && artifact.parts.iter().all(is_text);
        let goes_on = update.append && self.open.as_ref() == Some(&artifact.artifact_id);
        if !goes_on || !is_text {
            self.close(screen)?;
            let name = self.names.get(&artifact.artifact_id);
            let name = name.map_or(artifact.artifact_id.as_str(), String::as_str);
            screen.field("Artifact", name)?;
        }
        if !is_text {
            return screen.parts(&artifact.parts);
        }
        if self.open.is_none() {
            screen.write(&format!("Text:\n{INDENT}"))?;
            self.open = Some(artifact.artifact_id.clone());
        }
        let texts = artifact.parts.iter().filter_map(Part::as_text);
        screen.write(&indented(&texts.collect::<String>()))
    }

    /// Keeps the name of an artifact: later chunks often lack it.
    fn learn(&mut self, artifact: &Artifact) {
        let id = &artifact.artifact_id;
        if self.names.len() < MAX_NAMES && !self.names.contains_key(id) {
            let name = artifact.name.as_deref().unwrap_or(id.as_str());
            self.names.insert(id.clone(), name.to_owned());
        }
    }
}

/// Artifacts whose names are kept.
const MAX_NAMES: usize = 10_000;
