//! Tokens that models used for a task.
//!
//! The status event that ends a turn has the sum of the task so far in its metadata, under [`URI`], and so has the task
//! itself; an answer without a task has it in the message's metadata.
//!
//! ```json
//! {"inputTokens": 812, "outputTokens": 64}
//! ```

use std::ops::AddAssign;

use serde_json::{Value, json};

use crate::Object;

/// Identifier of the extension.
pub const URI: &str = "https://github.com/a2a-rust/a2a/extensions/usage/v1";

/// Number of tokens that models have read and written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
}

impl TokenUsage {
    /// Creates the usage of one or more calls of a model.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
        }
    }

    /// Returns the usage in the metadata of a task, of a status event or of a message, or `None`.
    pub fn of(metadata: Option<&Object>) -> Option<Self> {
        let usage = metadata?.get(URI)?;
        Some(Self {
            input_tokens: count(usage.get("inputTokens"))?,
            output_tokens: count(usage.get("outputTokens"))?,
        })
    }

    /// Sets the usage in metadata.
    pub fn put_into(self, metadata: &mut Object) {
        let usage = json!({"inputTokens": self.input_tokens, "outputTokens": self.output_tokens});
        metadata.insert(URI.to_owned(), usage);
    }
}

/// Reads a count. Numbers that have been protobuf are `812.0`.
fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    let whole = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole))
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_read_as_whole_numbers_only() {
        let read = |usage: Value| {
            let metadata = Object::from_iter([(URI.to_owned(), usage)]);
            TokenUsage::of(Some(&metadata))
        };
        let usage = Some(TokenUsage::new(12, 3));
        assert_eq!(read(json!({"inputTokens": 12, "outputTokens": 3.0})), usage);
        for nonsense in [json!(-1), json!(1.5), json!("12"), json!(null)] {
            let both = json!({"inputTokens": nonsense, "outputTokens": 3});
            assert_eq!(read(both), None, "{nonsense}");
        }
    }
}
