//! Questions that say how they can be answered: by one of several choices, or by a form.
//!
//! The question is the message of a status *input required*. Its text is for people; the metadata under [`URI`] has the
//! form of the answer, for callers that show buttons or fields:
//!
//! ```json
//! {"choices": ["chickens", "computers"]}
//! {"schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
//! ```
//!
//! A choice is answered by its text, a form by a data part. Callers that do not know the extension answer in words.

use serde_json::{Value, json};

use crate::{Message, Object};

/// Identifier of the extension.
pub const URI: &str = "https://github.com/a2a-rust/a2a/extensions/question/v1";

/// Form of the answer to a question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerForm {
    /// One of these texts.
    Choices(Vec<String>),
    /// A data part that this JSON Schema describes.
    Schema(Object),
}

impl AnswerForm {
    /// Adds the form to a message that asks a question.
    ///
    /// ```
    /// use a2a_types::Message;
    /// use a2a_types::extension::question::AnswerForm;
    ///
    /// let form = AnswerForm::Choices(vec!["red".to_owned(), "blue".to_owned()]);
    /// let question = form.clone().put_into(Message::agent("Which color?"));
    /// assert_eq!(AnswerForm::of(&question), Some(form));
    /// ```
    pub fn put_into(self, mut question: Message) -> Message {
        let form = match self {
            Self::Choices(choices) => json!({"choices": choices}),
            Self::Schema(schema) => json!({"schema": schema}),
        };
        let metadata = question.metadata.get_or_insert_default();
        metadata.insert(URI.to_owned(), form);
        question.extensions.push(URI.to_owned());
        question
    }

    /// Returns the form of the answer to a question, or `None` if the message does not say it.
    pub fn of(question: &Message) -> Option<Self> {
        let form = question.metadata.as_ref()?.get(URI)?;
        if let Some(Value::Object(schema)) = form.get("schema") {
            return Some(Self::Schema(schema.clone()));
        }
        let choices = form.get("choices")?.as_array()?.iter();
        let choices: Vec<_> = choices
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        (!choices.is_empty()).then_some(Self::Choices(choices))
    }
}
