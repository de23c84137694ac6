//! The APIs of models.

use serde_json::Value;

use crate::delta::Delta;
use crate::error::ModelError;
use crate::history::History;
use crate::tools::Tool;
use crate::{chat_completions, responses};

/// An API of models.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Api {
    /// Chat completions: `POST {base}/chat/completions`. Nearly every service has it.
    #[default]
    ChatCompletions,
    /// Responses, or Open Responses: `POST {base}/responses`, without state at the service.
    Responses,
}

impl Api {
    /// Path below the base URL.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat/completions",
            Self::Responses => "responses",
        }
    }

    /// Returns a request, without its model.
    pub(crate) fn request(self, system: Option<&str>, history: &History, tools: &[Tool]) -> Value {
        match self {
            Self::ChatCompletions => chat_completions::request(system, history, tools),
            Self::Responses => responses::request(system, history, tools),
        }
    }

    /// Reads an event of the stream.
    pub(crate) fn read(self, data: &[u8]) -> Result<Vec<Delta>, ModelError> {
        match self {
            Self::ChatCompletions => chat_completions::read(data),
            Self::Responses => responses::read(data),
        }
    }
}
