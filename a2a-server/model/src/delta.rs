//! Pieces of a model's response, the same for every API.

use a2a_types::Object;
use a2a_types::extension::usage::TokenUsage;
use serde_json::Value;

use crate::error::ModelError;

/// A piece of a response.
pub(crate) enum Delta {
    /// Identifier of the response.
    Id(String),
    Text(String),
    /// Reasoning, and the member of the API that has it.
    Reasoning(&'static str, String),
    Call(CallDelta),
    /// An item to be sent back, unchanged, with the results of tools.
    Opaque(Value),
    /// Tokens of this response so far.
    Usage(TokenUsage),
    /// The answer is whole; usage may follow.
    Finished,
    /// The service has ended the answer early, for this reason.
    Incomplete(String),
    /// Nothing follows.
    End,
}

/// A piece of a tool call.
#[derive(Default)]
pub(crate) struct CallDelta {
    /// Index of the call in the response, if the service counts calls.
    pub(crate) index: Option<u64>,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// `true` if the arguments are whole, and replace earlier pieces.
    pub(crate) is_whole: bool,
    /// A member of the service's own, to be sent back unchanged.
    pub(crate) extra: Option<Value>,
}

/// A tool call of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments as the model wrote them.
    pub(crate) arguments: String,
    /// A member of the service's own, to be sent back unchanged.
    pub(crate) extra: Option<Value>,
}

impl Call {
    /// Returns the arguments. Errors: they are not a JSON object.
    pub(crate) fn object(&self) -> Result<Object, serde_json::Error> {
        match self.arguments.trim().is_empty() {
            true => Ok(Object::new()),
            false => serde_json::from_str(&self.arguments),
        }
    }

    /// Returns whether a piece with the same index belongs to this call.
    fn goes_on_with(&self, delta: &CallDelta) -> bool {
        if !delta.id.is_empty() {
            return self.id == delta.id;
        }
        if delta.name.is_empty() || self.name.is_empty() {
            return true;
        }
        // Some services give each call the index 0, or none, and some of them no id: such a call comes whole.
        let is_whole = !self.arguments.is_empty() && self.object().is_ok();
        self.name == delta.name && (delta.arguments.is_empty() || !is_whole)
    }

    fn bytes(&self) -> usize {
        self.id.len() + self.name.len() + self.arguments.len()
    }

    /// Returns the arguments to send back: services fail on arguments that are not a JSON object.
    pub(crate) fn replayed_arguments(&self) -> &str {
        match self.arguments.trim().is_empty() || self.object().is_err() {
            true => "{}",
            false => &self.arguments,
        }
    }
}

/// Tool calls that are being put together.
#[derive(Default)]
pub(crate) struct CallBuffer {
    calls: Vec<(Option<u64>, Call)>,
    bytes: usize,
}

impl CallBuffer {
    /// Adds a piece, and returns the number of bytes by which the calls grow. Errors: the calls are too many or too long.
    pub(crate) fn add(&mut self, delta: CallDelta) -> Result<usize, ModelError> {
        let place = self
            .calls
            .iter()
            .rposition(|(index, call)| *index == delta.index && call.goes_on_with(&delta));
        let place = match place {
            Some(place) => place,
            None if self.calls.len() >= MAX_CALLS => {
                let problem = format!("it has more than {MAX_CALLS} tool calls");
                return Err(ModelError::NotUnderstood(problem));
            }
            None => {
                self.calls.push((delta.index, Call::default()));
                self.calls.len() - 1
            }
        };
        let (_, call) = &mut self.calls[place];
        let before = call.bytes();
        let extra = delta.extra.filter(|_| call.extra.is_none());
        let extra_bytes = extra.as_ref().map_or(0, |it| it.to_string().len());
        call.extra = call.extra.take().or(extra);
        if call.id.is_empty() {
            call.id = delta.id;
        }
        if call.name.is_empty() {
            call.name = delta.name;
        }
        match delta.is_whole {
            true => call.arguments = delta.arguments,
            false => call.arguments.push_str(&delta.arguments),
        }
        let added = call.bytes().saturating_sub(before) + extra_bytes;
        self.bytes += added;
        match self.bytes > MAX_ARGUMENTS {
            true => Err(ModelError::TooLong {
                what: "list of tool calls",
                limit: MAX_ARGUMENTS,
            }),
            false => Ok(added),
        }
    }

    /// Returns the calls, each with an id of its own.
    pub(crate) fn finish(self, round: usize) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        for (_, mut call) in self.calls {
            if call.id.is_empty() || calls.iter().any(|other| other.id == call.id) {
                call.id = format!("call_{round}_{}", calls.len());
            }
            calls.push(call);
        }
        calls
    }
}

/// Returns the start of a text: the whole characters within its first bytes.
pub(crate) fn prefix(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Maximum number of tool calls of a response.
const MAX_CALLS: usize = 64;
/// Maximum bytes of the tool calls of a response.
const MAX_ARGUMENTS: usize = 256 << 10;
