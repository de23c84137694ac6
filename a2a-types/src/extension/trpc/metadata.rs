//! What the metadata of a message, an artifact or its event says about a response of the model.

use serde_json::{Value, json};

use crate::Object;

/// The member `name` of metadata: under the name that the framework doubles it by, else its own.
pub(super) fn doubled<'m>(metadata: Option<&'m Object>, name: &str) -> Option<&'m Value> {
    let metadata = metadata?;
    let doubled = metadata.get(&format!("adk_{name}"));
    doubled
        .filter(|value| !value.is_null())
        .or_else(|| metadata.get(name))
}

/// What kind of thing happened, which response of the model it belongs to, and a note on it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResponseMetadata {
    /// What kind of thing happened.
    pub object_type: Option<ObjectType>,
    /// What else it is; empty if nothing special.
    pub tag: Option<String>,
    /// The response of the model: what has the same one belongs together.
    pub llm_response_id: Option<String>,
}

/// What kind of thing happened.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ObjectType {
    /// A whole response, or tool calls.
    ChatCompletion,
    /// A piece of a response.
    ChatCompletionChunk,
    /// What a tool answered.
    ToolResponse,
    /// Code, or what came of it.
    CodeExecution,
    /// Another, by its name.
    Other(String),
}

/// What code steps are tagged with. Several tags are joined by semicolons.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tag {
    /// Code that is to be executed.
    Code,
    /// What came of it.
    CodeResult,
}

impl ObjectType {
    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::ChatCompletion => "chat.completion",
            Self::ChatCompletionChunk => "chat.completion.chunk",
            Self::ToolResponse => "tool.response",
            Self::CodeExecution => "postprocessing.code_execution",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for ObjectType {
    fn from(name: &str) -> Self {
        let known = [
            Self::ChatCompletion,
            Self::ChatCompletionChunk,
            Self::ToolResponse,
            Self::CodeExecution,
        ];
        let known = known.into_iter().find(|known| known.as_str() == name);
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl Tag {
    /// The tag on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code_execution_code",
            Self::CodeResult => "code_execution_result",
        }
    }
}

impl ResponseMetadata {
    /// Of a response of the model.
    pub fn new(object_type: ObjectType, tag: Option<Tag>, llm_response_id: &str) -> Self {
        Self {
            object_type: Some(object_type),
            tag: Some(tag.map_or("", Tag::as_str).to_owned()),
            llm_response_id: Some(llm_response_id.to_owned()),
        }
    }

    /// Reads it from metadata, in either spelling. An empty id is none.
    pub fn of(metadata: Option<&Object>) -> Self {
        let text = |name: &str| doubled(metadata, name).and_then(Value::as_str);
        Self {
            object_type: text(OBJECT_TYPE).map(ObjectType::from),
            tag: text(TAG).map(str::to_owned),
            llm_response_id: text(LLM_RESPONSE_ID)
                .filter(|id| !id.is_empty())
                .map(str::to_owned),
        }
    }

    /// Whether a tag is among those that it has.
    pub fn has_tag(&self, tag: Tag) -> bool {
        let tags = self.tag.as_deref().unwrap_or_default();
        tags.split(';').any(|one| one.trim() == tag.as_str())
    }

    /// Adds to metadata what it does not say yet.
    pub fn add_to(self, metadata: &mut Option<Object>) {
        let metadata = metadata.get_or_insert_default();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value
                && !metadata.contains_key(name)
            {
                metadata.insert(name.to_owned(), json!(value));
            }
        };
        let object_type = self.object_type.map(|kind| kind.as_str().to_owned());
        add(OBJECT_TYPE, object_type);
        add(TAG, self.tag);
        add(LLM_RESPONSE_ID, self.llm_response_id);
    }
}

const OBJECT_TYPE: &str = "object_type";
const TAG: &str = "tag";
const LLM_RESPONSE_ID: &str = "llm_response_id";
