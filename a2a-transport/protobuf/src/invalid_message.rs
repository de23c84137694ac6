//! Reason for which a message cannot be converted.

/// Reason for which a message cannot be converted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct InvalidMessage {
    /// Place in the message, as in its JSON: `$.message.parts[0]`.
    pub path: String,
    /// Problem there, and what was expected.
    pub problem: String,
}

impl InvalidMessage {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            path: "$".to_owned(),
            problem: problem.into(),
        }
    }

    /// Returns the error as one of the message that has this member.
    pub(crate) fn within(mut self, member: &str) -> Self {
        self.path = format!("${member}{}", &self.path[1..]);
        self
    }
}
