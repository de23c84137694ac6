//! Questions of tasks that wait for their caller, as elicitations, and the answers as messages.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use a2a_types::extension::question::AnswerForm;
use a2a_types::{Content, Message, Object, Part, Role, Task, TaskState};
use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tool;

/// Elicitations that a client can show.
#[derive(Clone, Copy)]
pub(crate) struct Modes {
    forms: bool,
    pages: bool,
}

impl Modes {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let elicitation = context.client_capabilities().and_then(|it| it.elicitation);
        match elicitation {
            // Before modes had names, there were forms only.
            Some(modes) => Self {
                forms: modes.form.is_some() || modes.url.is_none(),
                pages: modes.url.is_some(),
            },
            None => Self {
                forms: false,
                pages: false,
            },
        }
    }
}

/// Question of a task that waits for its caller.
pub(crate) struct Question {
    /// Names the question among all of the task.
    pub(crate) key: String,
    /// For people.
    pub(crate) text: String,
    form: Form,
    kind: AnswerKind,
}

/// Form in which the question is asked.
enum Form {
    Fields(Box<ElicitationSchema>),
    Page(String),
    /// Credentials are missing, and the agent does not name a page where to give them.
    Unknown,
}

/// Kind of an answer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerKind {
    /// The text in the field [`ANSWER`].
    Text,
    /// All fields, as data.
    Data,
    /// None: the agent goes on when it has its credentials.
    Visit,
}

/// Answer to a question.
pub(crate) enum Answer {
    Message(Message),
    Visited,
    Declined,
    Canceled,
}

/// Field of an answer in words.
const ANSWER: &str = "answer";

impl Question {
    /// Returns the question of a task, or `None` if it does not wait for its caller.
    pub(crate) fn of(task: &Task) -> Option<Self> {
        let message = task.status.message.as_deref();
        let text = message.map(Message::text).unwrap_or_default();
        // Not the id of the message: in 0.1 a message has none, and each reading of the task makes up another.
        let time = task.status.timestamp.map(|time| time.to_string());
        let key = tool::hash(&format!("{} {text}", time.unwrap_or_default()));
        match task.status.state {
            TaskState::InputRequired => {
                let form = message.and_then(AnswerForm::of);
                let (schema, kind) = fields(form);
                let text = match text.is_empty() {
                    true => "The agent asks for input.".to_owned(),
                    false => text,
                };
                Some(Self {
                    key,
                    text,
                    form: Form::Fields(Box::new(schema)),
                    kind,
                })
            }
            TaskState::AuthRequired => {
                let page = message.and_then(|message| page(message, &text));
                let form = page.map_or(Form::Unknown, Form::Page);
                let text = match text.is_empty() {
                    true => "The agent asks for credentials.".to_owned(),
                    false => text,
                };
                Some(Self {
                    key,
                    text,
                    form,
                    kind: AnswerKind::Visit,
                })
            }
            _ => None,
        }
    }

    /// Returns the parameters of an elicitation, if a client with these modes can answer it.
    pub(crate) fn elicitation(&self, modes: Modes) -> Option<ElicitRequestParams> {
        let message = self.text.clone();
        match &self.form {
            Form::Fields(schema) if modes.forms => {
                Some(ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message,
                    requested_schema: (**schema).clone(),
                })
            }
            Form::Page(url) if modes.pages => Some(ElicitRequestParams::UrlElicitationParams {
                meta: None,
                message,
                url: url.clone(),
                elicitation_id: self.key.clone(),
            }),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> AnswerKind {
        self.kind
    }

    /// Returns whether the agent waits for credentials.
    pub(crate) fn is_for_credentials(&self) -> bool {
        self.kind == AnswerKind::Visit
    }

    /// Returns how to go on, for a client that does not show questions.
    pub(crate) fn notice(&self) -> String {
        match &self.form {
            Form::Fields(_) => "The agent waits for an answer to its question: call the tool again with the answer and this task_id.".to_owned(),
            Form::Page(url) => format!("The agent waits for credentials, which are given at {url}. Then call the tool again with this task_id."),
            Form::Unknown => "The agent waits for credentials that this bridge cannot give.".to_owned(),
        }
    }
}

/// Question that was answered. Its agent may take a while to go on, and until then the task still has the question.
#[derive(Clone, PartialEq)]
pub(crate) struct Answered {
    key: String,
    time: Instant,
}

impl Answered {
    pub(crate) fn new(key: String) -> Self {
        let time = Instant::now();
        Self { key, time }
    }
}

/// Returns whether the question that a task has is the one that was answered.
pub(crate) fn is_answered(task: &Task, answered: Option<&Answered>) -> bool {
    answered.is_some_and(|answered| {
        answered.time.elapsed() < MAX_DELAY
            && Question::of(task).is_some_and(|question| question.key == answered.key)
    })
}

/// Time after which a question that was answered is asked again.
const MAX_DELAY: Duration = Duration::from_secs(600);

/// Reads the response to an elicitation as the answer to a question of a task.
pub(crate) fn answer(task: &Task, kind: AnswerKind, response: Value) -> Result<Answer, String> {
    let response: ElicitResult = serde_json::from_value(response)
        .map_err(|error| format!("expected the response to an elicitation: {error}"))?;
    match response.action {
        ElicitationAction::Decline => return Ok(Answer::Declined),
        ElicitationAction::Cancel => return Ok(Answer::Canceled),
        _ if kind == AnswerKind::Visit => return Ok(Answer::Visited),
        _ => {}
    }
    let content = match response.content {
        Some(Value::Object(content)) => content,
        other => {
            return Err(format!(
                "expected an object with the answer, found {other:?}"
            ));
        }
    };
    let part = match (kind, content.get(ANSWER)) {
        (AnswerKind::Text, Some(Value::String(text))) => Part::text(text),
        (AnswerKind::Text, _) => return Err(format!("expected a text in the field `{ANSWER}`")),
        _ => Part::data(Value::Object(content)),
    };
    let mut message = Message::new(Role::User, vec![part]);
    message.task_id = Some(task.id.clone());
    message.context_id = task.context_id.clone();
    Ok(Answer::Message(message))
}

/// Returns the fields of an answer. A form that elicitations cannot have, like a nested one, is asked for in words.
fn fields(form: Option<AnswerForm>) -> (ElicitationSchema, AnswerKind) {
    let text = |field: Value| {
        let schema = json!({"type": "object", "properties": {ANSWER: field}, "required": [ANSWER]});
        serde_json::from_value(schema).unwrap_or_else(|_| ElicitationSchema::new(BTreeMap::new()))
    };
    match form {
        None => (
            text(json!({"type": "string", "title": "Answer"})),
            AnswerKind::Text,
        ),
        Some(AnswerForm::Choices(choices)) => (
            text(json!({"type": "string", "title": "Answer", "enum": choices})),
            AnswerKind::Text,
        ),
        Some(AnswerForm::Schema(schema)) => match flat(&schema) {
            Some(schema) => (schema, AnswerKind::Data),
            None => {
                let description = format!("An answer by this JSON Schema: {}", json!(schema));
                let field =
                    json!({"type": "string", "title": "Answer", "description": description});
                (text(field), AnswerKind::Text)
            }
        },
        Some(_) => (
            text(json!({"type": "string", "title": "Answer"})),
            AnswerKind::Text,
        ),
    }
}

fn flat(schema: &Object) -> Option<ElicitationSchema> {
    serde_json::from_value(Value::Object(schema.clone())).ok()
}

/// Returns the page that a message names: by a part that is a URL, or in its text.
fn page(message: &Message, text: &str) -> Option<String> {
    let is_page = |url: &&str| url.starts_with("https://") || url.starts_with("http://");
    let part = message.parts.iter().find_map(|part| match &part.content {
        Content::Url(url) => Some(&**url).filter(is_page),
        _ => None,
    });
    let mut words = text.split(|letter: char| letter.is_whitespace() || "<>\"'()".contains(letter));
    let url = part.or_else(|| words.find(is_page))?;
    Some(
        url.trim_end_matches(['.', ',', ';', ':', '!', '?'])
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: Modes = Modes {
        forms: true,
        pages: false,
    };
    const PAGES: Modes = Modes {
        forms: false,
        pages: true,
    };

    fn waiting(state: TaskState, message: Message) -> Task {
        let mut task = Task::submitted("t".into(), "c".into());
        task.status.state = state;
        task.status.message = Some(Box::new(message));
        task
    }

    #[track_caller]
    fn check(question: Message, content: Value, expected: Value) {
        let task = waiting(TaskState::InputRequired, question);
        let question = Question::of(&task).unwrap();
        assert!(question.elicitation(FORMS).is_some());
        let response = json!({"action": "accept", "content": content});
        match answer(&task, question.kind(), response) {
            Ok(Answer::Message(message)) => {
                assert_eq!(json!(message.parts), expected);
                assert_eq!(message.task_id, Some("t".into()));
            }
            _ => panic!("expected a message"),
        }
    }

    #[test]
    fn answers_become_messages() {
        let question = || Message::agent("Which?");
        check(
            question(),
            json!({"answer": "red"}),
            json!([{"text": "red"}]),
        );
        let choices = AnswerForm::Choices(vec!["red".to_owned()]).put_into(question());
        check(choices, json!({"answer": "red"}), json!([{"text": "red"}]));
        let schema = |schema: Value| match schema {
            Value::Object(schema) => AnswerForm::Schema(schema).put_into(question()),
            _ => panic!("expected an object"),
        };
        let flat = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        check(
            schema(flat),
            json!({"city": "Delft"}),
            json!([{"data": {"city": "Delft"}}]),
        );
        let nested = json!({"type": "object", "properties": {"a": {"type": "object"}}});
        check(
            schema(nested),
            json!({"answer": "{}"}),
            json!([{"text": "{}"}]),
        );
    }

    #[test]
    fn credentials_are_given_at_a_page() {
        let message = Message::agent("Log in at https://login.example/a?b=c.");
        let question = Question::of(&waiting(TaskState::AuthRequired, message)).unwrap();
        assert!(matches!(&question.form, Form::Page(url) if url == "https://login.example/a?b=c"));
        assert!(question.elicitation(FORMS).is_none());
        assert!(question.elicitation(PAGES).is_some());
    }
}
