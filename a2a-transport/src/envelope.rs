//! How to answer the way one was asked.

use a2a_jsonrpc::Id;
use a2a_types::{Dialect, Operation, TaskId};

/// What an answer has to repeat of its question.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The generation of the question.
    pub dialect: Dialect,
    /// What was asked.
    pub operation: Operation,
    /// The JSON-RPC id; none if the caller wants no answer.
    pub id: Option<Id>,
    /// The task that was asked about.
    pub task: Option<TaskId>,
    /// Whether other generations spell this question in the same way.
    pub ambiguous: bool,
}

impl Envelope {
    /// Answers a question that several generations spell alike in the one that the task was
    /// created in.
    pub fn settle(&mut self, created_in: Option<Dialect>) {
        let alike = |dialect: &Dialect| {
            dialect.method(self.operation) == self.dialect.method(self.operation)
        };
        if self.ambiguous
            && let Some(dialect) = created_in.filter(alike)
        {
            self.dialect = dialect;
        }
    }
}
