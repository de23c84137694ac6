//! Output of events as they happen.

use a2a_client::terminal::escape_line;
use a2a_types::extension::question::AnswerForm;
use a2a_types::{
    Artifact, ArtifactId, Event, Message, TaskArtifactUpdateEvent, TaskId, TaskStatus,
};

use super::{Screen, bold, dim, parts, state};
use crate::exit::Failure;

/// Prints events; text that comes in chunks, chunk by chunk.
#[derive(Default)]
pub(crate) struct Events {
    /// Artifact of the current line, which has no line break yet.
    open: Option<ArtifactId>,
    /// The task shown last.
    task: Option<TaskId>,
}

impl Events {
    pub(crate) fn show(&mut self, event: &Event, screen: &Screen) -> Result<(), Failure> {
        if screen.json {
            return screen.value(event);
        }
        match event {
            Event::Message(message) => {
                self.close(screen)?;
                screen.line(&parts(&message.parts))
            }
            Event::Task(task) => {
                self.close(screen)?;
                if self.task.as_ref() == Some(&task.id) {
                    // The same task again: only its status is new.
                    return self.status(&task.status, screen);
                }
                self.task = Some(task.id.clone());
                let id = dim(&escape_line(task.id.as_str()));
                let context = task.context_id.as_ref();
                let context =
                    context.map(|id| format!("  context {}", dim(&escape_line(id.as_str()))));
                screen.line(&format!("task {id}{}", context.unwrap_or_default()))?;
                self.status(&task.status, screen)?;
                let mut artifacts = task.artifacts.iter();
                artifacts.try_for_each(|artifact| self.artifact(artifact, screen))?;
                self.close(screen)?;
                if !task.artifacts.is_empty() || task.status.message.is_some() {
                    return Ok(());
                }
                // Some agents answer in the history alone.
                let mut messages = task.answer_messages();
                messages.try_for_each(|message| screen.line(&parts(&message.parts)))
            }
            Event::StatusUpdate(update) => {
                self.close(screen)?;
                self.status(&update.status, screen)
            }
            Event::ArtifactUpdate(update) => self.chunk(update, screen),
        }
    }

    /// Ends the current line.
    pub(crate) fn close(&mut self, screen: &Screen) -> Result<(), Failure> {
        match self.open.take() {
            Some(_) => screen.line(""),
            None => Ok(()),
        }
    }

    fn status(&mut self, status: &TaskStatus, screen: &Screen) -> Result<(), Failure> {
        let says = status.message.as_ref();
        let says = says.map(|message| parts(&message.parts) + &choices(message));
        let says = says.map_or(String::new(), |says| format!(": {says}"));
        screen.line(&format!("● {}{says}", state(status.state)))
    }

    fn chunk(&mut self, update: &TaskArtifactUpdateEvent, screen: &Screen) -> Result<(), Failure> {
        let goes_on = update.append && self.open.as_ref() == Some(&update.artifact.artifact_id);
        if !goes_on {
            self.close(screen)?;
            return match update.append {
                // The artifact began before this output.
                true => self.begin(&update.artifact, "… ", screen),
                false => self.begin(&update.artifact, "", screen),
            };
        }
        screen.write(&parts(&update.artifact.parts))
    }

    fn artifact(&mut self, artifact: &Artifact, screen: &Screen) -> Result<(), Failure> {
        self.close(screen)?;
        self.begin(artifact, "", screen)
    }

    fn begin(&mut self, artifact: &Artifact, before: &str, screen: &Screen) -> Result<(), Failure> {
        let name = artifact
            .name
            .as_deref()
            .unwrap_or(artifact.artifact_id.as_str());
        let name = bold(&escape_line(name));
        let content = parts(&artifact.parts);
        let gap = if content.contains('\n') { "\n" } else { " " };
        self.open = Some(artifact.artifact_id.clone());
        screen.write(&format!("◆ {name}{gap}{before}{content}"))
    }
}

/// Returns the answers that the agent offers to a question, in brackets.
fn choices(question: &Message) -> String {
    match AnswerForm::of(question) {
        Some(AnswerForm::Choices(choices)) => {
            let choices: Vec<_> = choices.iter().map(|it| escape_line(it)).collect();
            dim(&format!(" [{}]", choices.join(" | ")))
        }
        _ => String::new(),
    }
}
