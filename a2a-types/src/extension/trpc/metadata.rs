//! Metadata that links a message, an artifact or its event to a response of the model.

use serde_json::{Value, json};

use crate::Object;

/// Returns the member `name` of metadata: that of the framework's doubled name first, else its own.
pub(super) fn doubled<'m>(metadata: Option<&'m Object>, name: &str) -> Option<&'m Value> {
    let metadata = metadata?;
    let doubled = metadata.get(&format!("adk_{name}"));
    doubled
        .filter(|value| !value.is_null())
        .or_else(|| metadata.get(name))
}

/// Kind of event, the response of the model that it belongs to, and a tag.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResponseMetadata {
    /// Kind of event.
    pub object_type: Option<ObjectType>,
    /// Tag for special content; empty if there is none.
    pub tag: Option<String>,
    /// Identifier of the response of the model: objects with the same one belong together.
    pub llm_response_id: Option<String>,
}

/// Kind of event.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ObjectType {
    /// A whole response, or tool calls.
    ChatCompletion,
    /// A piece of a response.
    ChatCompletionChunk,
    /// The response of a tool.
    ToolResponse,
    /// Code, or its result.
    CodeExecution,
    /// Another, by its name.
    Other(String),
}

/// Tag of a code step. Several tags are joined by semicolons.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tag {
    /// Code that is to be executed.
    Code,
    /// The result of code.
    CodeResult,
}

impl ObjectType {
    /// Returns the name on the wire.
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
    /// Returns the tag on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code_execution_code",
            Self::CodeResult => "code_execution_result",
        }
    }
}

impl ResponseMetadata {
    /// Returns the metadata of a response of the model.
    pub fn new(object_type: ObjectType, tag: Option<Tag>, llm_response_id: &str) -> Self {
        Self {
            object_type: Some(object_type),
            tag: Some(tag.map_or("", Tag::as_str).to_owned()),
            llm_response_id: Some(llm_response_id.to_owned()),
        }
    }

    /// Reads the metadata, in either spelling. An empty id counts as absent.
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

    /// Returns whether the metadata has the tag.
    pub fn has_tag(&self, tag: Tag) -> bool {
        let tags = self.tag.as_deref().unwrap_or_default();
        tags.split(';').any(|one| one.trim() == tag.as_str())
    }

    /// Adds the members that `metadata` does not have yet.
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
