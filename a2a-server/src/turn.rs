//! One turn of a conversation, as the agent sees it.

use std::sync::Arc;

use a2a_transport::{BoxFuture, Principal, TraceContext};
use a2a_types::extension::question::AnswerForm;
use a2a_types::extension::usage::TokenUsage;
use a2a_types::{
    Artifact, ContextId, Message, Object, Part, Role, SendMessageRequest, Task, TaskId, TaskState,
};
use serde::de::DeserializeOwned;

use crate::engine::pending_message::{PendingMessage, Resumed};
use crate::engine::task_writer::TaskWriter;
use crate::engine::update::{ArtifactUpdate, UpdateError};

/// One turn of a conversation: the message for the agent, and the ways to answer it.
///
/// Until the first update there is no task, and [`Turn::reply`] answers with a message alone. Every
/// update is in the task's log when its future resolves, except that text which is only added to an
/// artifact may be collected for a moment.
#[derive(Clone, Debug)]
pub struct Turn {
    writer: Arc<TaskWriter>,
    pending: Arc<PendingMessage>,
}

impl Turn {
    pub(crate) fn new(writer: Arc<TaskWriter>, pending: Arc<PendingMessage>) -> Self {
        Self { writer, pending }
    }

    /// The message to answer.
    pub fn message(&self) -> &Message {
        &self.pending.request.message
    }

    /// The text of the message to answer.
    pub fn text(&self) -> String {
        self.message().text()
    }

    /// Returns the whole request: the message, its metadata, and how the caller wants to be answered.
    pub fn request(&self) -> &SendMessageRequest {
        &self.pending.request
    }

    /// The caller.
    pub fn principal(&self) -> &Principal {
        &self.pending.context.principal
    }

    /// Returns the URIs of the extensions that the caller wants active, as the header `A2A-Extensions` has them. An
    /// extension is active if the card offers it.
    pub fn extensions(&self) -> &[String] {
        &self.pending.context.extensions
    }

    /// The user that the caller claims to act for. Nothing proves it: the caller is the
    /// [`principal`](Self::principal).
    pub fn claimed_user_id(&self) -> Option<&str> {
        let header = self.pending.context.claims.user_id.as_deref();
        header.or_else(|| self.metadata_text("user_id"))
    }

    /// The id of this call in the caller's own records, if the caller sends one.
    pub fn invocation_id(&self) -> Option<&str> {
        self.metadata_text("invocation_id")
    }

    fn metadata_text(&self, name: &str) -> Option<&str> {
        let metadata = self.message().metadata.as_ref()?;
        metadata.get(name)?.as_str()
    }

    /// Returns the tenant that the caller named, one of the tenants that the card offers.
    pub fn tenant(&self) -> Option<&str> {
        self.pending.context.tenant.as_deref()
    }

    /// The trace that the turn belongs to: other agents that are called on the way go on with it, by
    /// `trace` of a client's `SendMessageBuilder`.
    pub fn trace(&self) -> Option<&TraceContext> {
        self.pending.context.trace.as_ref()
    }

    /// The task that is being worked on, or would be.
    pub fn task_id(&self) -> &TaskId {
        self.writer.task_id()
    }

    /// The conversation.
    pub fn context_id(&self) -> &ContextId {
        self.writer.context_id()
    }

    /// The task as it stands, with its whole history, earlier turns included.
    pub async fn task(&self) -> Result<Task, UpdateError> {
        Ok(Arc::unwrap_or_clone(self.writer.task_for_agent().await?))
    }

    /// Returns the question that the message answers, if the turn before it ended with one: by [`ask`](Self::ask), or by
    /// another status that waits for the caller and has a message.
    ///
    /// ```
    /// # use a2a_server::{Failure, Turn};
    /// async fn count(turn: Turn) -> Result<(), Failure> {
    ///     match (turn.question().await?, turn.text().parse::<u32>()) {
    ///         (Some(_), Ok(number)) => turn.reply(format!("counted to {number}")).await?,
    ///         _ => turn.ask("How many?").await?,
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub async fn question(&self) -> Result<Option<Message>, UpdateError> {
        let mut history = self.task().await?.history;
        let answer = self.message();
        let is_answer = |message: &Message| {
            message.message_id == answer.message_id && message.parts == answer.parts
        };
        let Some(place) = history.iter().rposition(is_answer) else {
            return Ok(None);
        };
        history.truncate(place);
        Ok(history.pop().filter(|message| message.role == Role::Agent))
    }

    /// Returns the conversation so far, the oldest message first: what the caller and the agent said in earlier tasks
    /// of this context and in this task, each task's artifacts as messages of the agent, and as the last the
    /// [message](Self::message) to answer. It is what a model needs.
    ///
    /// It has the caller's latest 100 tasks, or fewer if they are large. Answers without a task are not stored.
    pub async fn conversation(&self) -> Result<Vec<Message>, UpdateError> {
        let mut messages = Vec::new();
        for task in self.writer.earlier_tasks().await? {
            messages.extend(messages_of(task));
        }
        messages.extend(messages_of(self.task().await?));
        let question = self.message();
        let is_question = |message: &Message| {
            message.message_id == question.message_id && message.parts == question.parts
        };
        if let Some(place) = messages.iter().rposition(is_question) {
            messages.remove(place);
        }
        messages.push(question.clone());
        Ok(messages)
    }

    /// Sets the task working, with a message.
    pub async fn working(&self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        self.status(TaskState::Working, Some(Message::agent(text)))
            .await
    }

    /// Asks the caller something. Return then: the answer begins the next turn.
    pub async fn ask(&self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        self.status(TaskState::InputRequired, Some(Message::agent(text)))
            .await
    }

    /// Asks the caller to choose. Return then: the text of the next turn is the choice, or what else the caller wrote.
    /// Callers that know the [extension](a2a_types::extension::question) show buttons, others the text alone.
    pub async fn ask_choice(
        &self,
        text: impl Into<String> + Send,
        choices: impl IntoIterator<Item = impl Into<String>> + Send,
    ) -> Result<(), UpdateError> {
        let choices = choices.into_iter().map(Into::into).collect();
        self.ask_for(text, AnswerForm::Choices(choices)).await
    }

    /// Asks the caller to fill in a form, which a JSON Schema describes. Return then: [`answer`](Self::answer) reads
    /// the form in the next turn. Callers that do not know the
    /// [extension](a2a_types::extension::question) may answer in words.
    pub async fn ask_form(
        &self,
        text: impl Into<String> + Send,
        schema: Object,
    ) -> Result<(), UpdateError> {
        self.ask_for(text, AnswerForm::Schema(schema)).await
    }

    async fn ask_for(
        &self,
        text: impl Into<String> + Send,
        form: AnswerForm,
    ) -> Result<(), UpdateError> {
        let question = form.put_into(Message::agent(text));
        self.status(TaskState::InputRequired, Some(question)).await
    }

    /// Reads the message's first data part, such as the answer to a [form](Self::ask_form); without one, its text as
    /// JSON.
    ///
    /// Errors: the value is not a `T`, or there is none.
    pub fn answer<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let data = self.message().parts.iter().find_map(Part::as_data);
        match data {
            Some(data) => T::deserialize(data),
            None => serde_json::from_str(&self.text()),
        }
    }

    /// Adds tokens that a model used for the task. The status that ends the turn has the sum of all turns, and so has
    /// the [task](a2a_types::Task::usage); [`reply`](Self::reply) puts it into the message.
    ///
    /// ```
    /// # use a2a_server::{Failure, Turn};
    /// use a2a_types::extension::usage::TokenUsage;
    ///
    /// async fn answer(turn: Turn) -> Result<(), Failure> {
    ///     turn.usage(TokenUsage::new(812, 64));
    ///     turn.artifact("answer").text("…").complete_task().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn usage(&self, usage: TokenUsage) {
        self.writer.add_usage(usage);
    }

    /// Completes the task.
    pub async fn complete(&self) -> Result<(), UpdateError> {
        self.status(TaskState::Completed, None).await
    }

    /// Declines the task.
    pub async fn reject(&self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        self.status(TaskState::Rejected, Some(Message::agent(text)))
            .await
    }

    /// Fails the task, with a reason for the caller. The reason of an error that [`Agent::run`](crate::Agent::run) returns
    /// goes to the log alone.
    pub async fn fail(&self, text: impl Into<String> + Send) -> Result<(), UpdateError> {
        self.status(TaskState::Failed, Some(Message::agent(text)))
            .await
    }

    /// Gives the task a status.
    pub fn status(
        &self,
        state: TaskState,
        message: Option<Message>,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        boxed(self.writer.status(state, message, None))
    }

    /// Gives the task a status, with metadata of the event.
    pub fn status_with(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Object,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        boxed(self.writer.status(state, message, Some(metadata)))
    }

    /// Begins an artifact. Its id follows from the task, the message and the name: in a turn that is
    /// [resumed](Self::resumed), it replaces what the interrupted turn wrote under the same name;
    /// [`resume_artifact`](Self::resume_artifact) goes on with that.
    pub fn artifact(&self, name: impl Into<String>) -> ArtifactBuilder<'_> {
        let name = name.into();
        ArtifactBuilder {
            turn: self,
            artifact: Box::new(Artifact {
                artifact_id: self.writer.artifact_id(self.pending.number, &name),
                name: Some(name),
                ..Artifact::default()
            }),
            begun: false,
        }
    }

    /// Goes on with the artifact of this name that the turn had begun before it was interrupted, and returns the text of
    /// it that is stored. In a turn that is not [resumed](Self::resumed) it begins the artifact, with no text.
    ///
    /// ```
    /// # use a2a_server::{Failure, Turn};
    /// async fn count(turn: Turn) -> Result<(), Failure> {
    ///     let (mut numbers, written) = turn.resume_artifact("numbers").await?;
    ///     for number in written.lines().count() + 1..=100 {
    ///         numbers = numbers.text(format!("{number}\n")).send().await?;
    ///     }
    ///     numbers.complete_task().await?;
    ///     Ok(())
    /// }
    /// ```
    pub async fn resume_artifact(
        &self,
        name: impl Into<String> + Send,
    ) -> Result<(ArtifactBuilder<'_>, String), UpdateError> {
        let mut builder = self.artifact(name);
        if self.resumed().is_none() {
            return Ok((builder, String::new()));
        }
        let id = &builder.artifact.artifact_id;
        let task = self.task().await?;
        let stored = task
            .artifacts
            .iter()
            .find(|stored| stored.artifact_id == *id);
        let text = stored.map(Artifact::text);
        builder.begun = text.is_some();
        Ok((builder, text.unwrap_or_default()))
    }

    pub(crate) async fn step(&self, step: Message) -> Result<(), UpdateError> {
        self.writer.step(step).await
    }

    pub(crate) fn keeps_steps(&self) -> bool {
        self.writer.keeps_steps()
    }

    /// Gives the task an artifact or a chunk of one; [`Turn::artifact`] is more convenient.
    pub fn publish(
        &self,
        update: ArtifactUpdate,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        boxed(self.writer.artifact(update))
    }

    /// Answers with a message, or with a text.
    ///
    /// Before any update the message is the whole answer and there will be no task; callers whose protocol
    /// version must have a task, or that were not to wait so long, get one completed with the message.
    pub async fn reply(&self, message: impl Into<Message> + Send) -> Result<(), UpdateError> {
        let role = Role::Agent;
        boxed(self.writer.reply(Message {
            role,
            ..message.into()
        }))
        .await
    }

    /// Returns the current task to waiting callers, because the turn will take long. Callers of 1.0
    /// continue to wait: their specification (§3.2.2) promises them an ended or interrupted task.
    pub async fn respond_early(&self) -> Result<(), UpdateError> {
        self.writer.respond_early().await
    }

    /// Resolves when the caller wants the task canceled. Return soon then; after a while the turn
    /// is dropped wherever it stands.
    pub async fn canceled(&self) {
        self.writer.stopped().await;
    }

    /// Stores what the agent needs to go on after a crash, in place of the checkpoint before:
    /// [`Turn::resumed`] returns it.
    pub async fn checkpoint(&self, checkpoint: Object) -> Result<(), UpdateError> {
        self.writer.checkpoint(checkpoint).await
    }

    /// The agent's checkpoint, if the message was being answered before, by a process that ended in the
    /// middle. The task has everything that it had sent.
    pub fn resumed(&self) -> Option<&Resumed> {
        self.pending.resumed.as_deref()
    }

    /// Returns the tasks that the message refers to and that its sender may see, each once: the first 100.
    pub async fn references(&self) -> Result<Vec<Task>, UpdateError> {
        let mut tasks: Vec<Task> = Vec::new();
        for id in &self.message().reference_task_ids {
            if tasks.len() < MAX_REFERENCES && !tasks.iter().any(|task| task.id == *id) {
                tasks.extend(self.writer.other(id).await?);
            }
        }
        Ok(tasks)
    }

    /// Returns whether the caller wants the task canceled.
    pub fn is_canceled(&self) -> bool {
        self.writer.is_stopped()
    }
}

/// Returns the messages of a task, and then its artifacts as messages of the agent.
fn messages_of(task: Task) -> impl Iterator<Item = Message> {
    let status = task.status.message.map(|message| *message);
    let artifacts = task.artifacts.into_iter().map(|artifact| Message {
        role: Role::Agent,
        message_id: artifact.artifact_id.as_str().into(),
        parts: artifact.parts,
        ..Message::default()
    });
    task.history.into_iter().chain(status).chain(artifacts)
}

/// Boxed, so that a turn holds the memory for writing only while it writes: there are as many turns
/// as streams, and they mostly wait for other things. The update is in the box from the beginning,
/// because an `async fn` would hold it, too.
fn boxed<'t>(
    writing: impl Future<Output = Result<(), UpdateError>> + Send + 't,
) -> BoxFuture<'t, Result<(), UpdateError>> {
    Box::pin(writing)
}

/// An artifact that is being put together: nothing of it is sent before [`ArtifactBuilder::send`],
/// [`ArtifactBuilder::finish`] or [`ArtifactBuilder::complete_task`].
#[derive(Debug)]
#[must_use = "an artifact is sent by `send`, `finish` or `complete_task`"]
pub struct ArtifactBuilder<'t> {
    turn: &'t Turn,
    artifact: Box<Artifact>,
    begun: bool,
}

impl<'t> ArtifactBuilder<'t> {
    /// Adds text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::text(text))
    }

    /// Adds structured data.
    pub fn data(self, data: impl Into<serde_json::Value>) -> Self {
        self.part(Part::data(data))
    }

    /// Adds a part.
    pub fn part(mut self, part: Part) -> Self {
        if self.artifact.parts.is_empty() {
            // Most artifacts have one part, and are kept for long.
            self.artifact.parts.reserve_exact(1);
        }
        self.artifact.parts.push(part);
        self
    }

    /// Describes it.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.artifact.description = Some(description.into());
        self
    }

    /// Sends what was added since the last time, and goes on.
    pub fn send(mut self) -> impl Future<Output = Result<Self, UpdateError>> + Send {
        let chunk = self.chunk(false);
        let sent = boxed(self.turn.writer.artifact(chunk));
        async move {
            sent.await?;
            Ok(self)
        }
    }

    /// Sends what was added since the last time; the artifact is complete. If nothing was added, nothing is
    /// sent: no protocol version allows a chunk without parts.
    pub fn finish(mut self) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let rest = self.rest();
        let rest = rest.map(|rest| boxed(self.turn.writer.artifact(rest)));
        async move {
            match rest {
                Some(rest) => rest.await,
                None => Ok(()),
            }
        }
    }

    /// Sends what was added since the last time, and completes the task with it: in one append, which is
    /// quicker than two, and after which there is either all of that or nothing.
    pub fn complete_task(mut self) -> impl Future<Output = Result<(), UpdateError>> + Send {
        match self.rest() {
            Some(rest) => boxed(self.turn.writer.complete_with(rest)),
            None => boxed(self.turn.writer.status(TaskState::Completed, None, None)),
        }
    }

    fn rest(&mut self) -> Option<ArtifactUpdate> {
        let is_sent = self.begun && self.artifact.parts.is_empty();
        (!is_sent).then(|| self.chunk(true))
    }

    fn chunk(&mut self, last_chunk: bool) -> ArtifactUpdate {
        let rest = Artifact {
            artifact_id: self.artifact.artifact_id.clone(),
            ..Artifact::default()
        };
        ArtifactUpdate {
            artifact: std::mem::replace(&mut *self.artifact, rest),
            append: std::mem::replace(&mut self.begun, true),
            last_chunk,
            metadata: None,
        }
    }
}

/// Maximum number of referenced tasks that are read: each may be large.
const MAX_REFERENCES: usize = 100;
