//! Results of tools, from the answers of agents.

use a2a_types::{Base64, Content, Message, Object, Part, Task, TaskState};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents};
use serde_json::{Value, json};

use crate::question::Question;

/// Limit on the bytes of files in a result, in Base64; of others it says their size.
const MAX_FILE_BYTES: usize = 4 << 20;

/// Returns the result of a call that the agent answered with a message.
pub(crate) fn of_message(message: &Message) -> CallToolResult {
    let mut parts = Parts::default();
    message.parts.iter().for_each(|part| parts.add(part));
    let context = message.context_id.as_ref().map(ToString::to_string);
    parts.into_result(context, None, None)
}

/// Returns the result of a call whose task has ended, or waits for something that `notice` says.
pub(crate) fn of_task(task: &Task, notice: Option<&str>) -> CallToolResult {
    let mut parts = Parts::default();
    for artifact in &task.artifacts {
        parts.add_artifact(&artifact.parts);
    }
    let state = task.status.state;
    let status = task
        .status
        .message
        .iter()
        .flat_map(|message| &message.parts);
    match state {
        // The artifacts are the answer. Without any, it is the message of the status, below.
        TaskState::Completed if !parts.blocks.is_empty() => {}
        TaskState::Completed => {
            status.for_each(|part| parts.add(part));
            let answers = task.answer_messages().flat_map(|message| &message.parts);
            if parts.blocks.is_empty() {
                answers.for_each(|part| parts.add(part));
            }
        }
        _ => status.for_each(|part| parts.add(part)),
    }
    if state != TaskState::Completed {
        let name = state.as_str().trim_start_matches("TASK_STATE_");
        let name = name.replace('_', " ").to_lowercase();
        parts.text(format!("State of the task: {name}."));
    }
    if let Some(notice) = notice {
        parts.text(notice.to_owned());
    }
    let context = task.context_id.as_ref().map(ToString::to_string);
    let mut result = parts.into_result(context, Some(task.id.to_string()), Some(state));
    if state.is_terminal() && state != TaskState::Completed {
        result.is_error = Some(true);
    }
    result
}

/// Returns the result of a call whose task waits for the answer to a question, for a client that does not show it.
pub(crate) fn of_question(task: &Task, question: &Question) -> CallToolResult {
    let mut result = of_task(task, Some(&question.notice()));
    if question.is_for_credentials() {
        result.is_error = Some(true);
    }
    result
}

/// Returns the result of a call whose question was declined.
pub(crate) fn of_declined(task: &Task) -> CallToolResult {
    let notice = "The question was declined. The agent still waits for its answer: call the tool again with it and this task_id.";
    let mut result = of_task(task, Some(notice));
    result.is_error = Some(true);
    result
}

/// Returns the result of a call that failed, with a sentence for the caller.
pub(crate) fn of_failure(problem: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(problem.into())])
}

/// Parts of an answer, as content of a result.
#[derive(Default)]
struct Parts {
    blocks: Vec<ContentBlock>,
    data: Vec<Value>,
    file_bytes: usize,
}

impl Parts {
    fn text(&mut self, text: String) {
        self.blocks.push(ContentBlock::text(text));
    }

    /// Adds the parts of an artifact. Texts that follow each other are chunks of one.
    fn add_artifact(&mut self, parts: &[Part]) {
        for chunk in parts.chunk_by(|one, next| one.as_text().is_some() && next.as_text().is_some())
        {
            match chunk {
                [part] => self.add(part),
                texts => self.text(texts.iter().filter_map(Part::as_text).collect()),
            }
        }
    }

    fn add(&mut self, part: &Part) {
        let media_type = part.media_type.as_deref();
        let name = part.filename.as_deref();
        match &part.content {
            Content::Text(text) => self.text(text.clone()),
            Content::Data(data) => {
                self.text(data.to_string());
                self.data.push(data.clone());
            }
            Content::Url(url) => {
                let mut link = Resource::new(url, name.unwrap_or(url));
                link.mime_type = media_type.map(str::to_owned);
                self.blocks.push(ContentBlock::resource_link(link));
            }
            Content::Raw(bytes) => {
                let text = text_file(media_type, bytes);
                let bytes = bytes.as_text();
                let name = name.unwrap_or("file");
                let media_type = media_type.unwrap_or("application/octet-stream");
                if self.file_bytes + bytes.len() > MAX_FILE_BYTES {
                    let size = bytes.trim_end_matches('=').len() * 3 / 4;
                    return self.text(format!(
                        "[file {name}, {media_type}, {size} bytes: larger than this result can be; `a2a task download` saves it]"
                    ));
                }
                self.file_bytes += bytes.len();
                self.blocks.push(match media_type.split('/').next() {
                    Some("image") => ContentBlock::image(bytes, media_type),
                    Some("audio") => ContentBlock::audio(bytes, media_type),
                    _ => {
                        let uri = format!("a2a:{}/{}", self.blocks.len(), uri_word(name));
                        let contents = match text {
                            Some(text) => ResourceContents::text(text, uri),
                            None => ResourceContents::blob(bytes, uri),
                        };
                        ContentBlock::resource(contents.with_mime_type(media_type))
                    }
                });
            }
        }
    }

    /// Returns the result, which says by which ids the conversation goes on.
    fn into_result(
        mut self,
        context: Option<String>,
        task: Option<String>,
        state: Option<TaskState>,
    ) -> CallToolResult {
        let waits = state.is_some_and(|state| !state.is_terminal());
        let mut ids = Object::new();
        if let Some(context) = context {
            ids.insert("context_id".to_owned(), json!(context));
        }
        if let Some(task) = task {
            ids.insert("task_id".to_owned(), json!(task));
        }
        let ended = |name: &str| name == "task_id" && !waits;
        let told = ids.iter().filter(|(name, _)| !ended(name));
        let told: Vec<_> = told
            .map(|(name, id)| format!("{name}: {}", text_of(id)))
            .collect();
        if !told.is_empty() {
            self.text(told.join("\n"));
        }
        if let Some(state) = state {
            ids.insert("state".to_owned(), json!(state.as_str()));
        }
        let mut result = CallToolResult::success(self.blocks);
        result.structured_content = match self.data.len() {
            0 => None,
            1 => self.data.pop().map(|data| match data {
                Value::Object(_) => data,
                other => json!({"data": other}),
            }),
            _ => Some(json!({"data": self.data})),
        };
        let mut meta = MetaObject::default();
        meta.insert(META.to_owned(), Value::Object(ids));
        result.with_meta(Some(meta))
    }
}

/// Member of a result's metadata that has the ids and the state of the task.
const META: &str = "github.com/a2a-rust/a2a";

/// Returns the text of a file, if it is a text.
fn text_file(media_type: Option<&str>, bytes: &Base64) -> Option<String> {
    let is_text = |it: &&str| it.starts_with("text/") || it.starts_with("application/json");
    media_type.filter(is_text)?;
    String::from_utf8(bytes.decode().ok()?).ok()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a name without the characters that a URI must not have.
fn uri_word(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    let letters = name.chars();
    letters
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use a2a_types::Artifact;

    use super::*;

    fn task(parts: Vec<Part>) -> Task {
        let mut task = Task::submitted("t".into(), "c".into());
        task.status.state = TaskState::Completed;
        task.artifacts.push(Artifact {
            parts,
            ..Artifact::default()
        });
        task
    }

    #[test]
    fn each_kind_of_part_has_its_content() {
        let mut image = Part::bytes([0, 1], "image/png");
        image.filename = Some("a.png".to_owned());
        let parts = vec![
            Part::text("hello"),
            Part::data(json!({"a": 1})),
            Part::url("https://example.com/b"),
            image,
            Part::bytes([0, 1], "application/pdf"),
        ];
        let result = serde_json::to_value(of_task(&task(parts), None)).unwrap();
        let types: Vec<_> = result["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            types,
            ["text", "text", "resource_link", "image", "resource", "text"]
        );
        assert_eq!(result["structuredContent"], json!({"a": 1}));
        assert_eq!(result["content"][5]["text"], "context_id: c");
        assert_eq!(result["isError"], false);
        assert_eq!(result["_meta"][META]["task_id"], "t");
    }

    #[test]
    fn a_file_over_the_limit_is_told() {
        let large = vec![0; MAX_FILE_BYTES];
        let result = of_task(&task(vec![Part::bytes(large, "image/png")]), None);
        let text = result.content[0].as_text().unwrap();
        assert!(text.text.contains("4194304 bytes"), "{}", text.text);
    }
}
