//! Version 0.3: what it adds to 0.2.

mod card;
mod client;
mod operations;

use serde_json::Value;

use crate::rules::scripted_agent::ServedAgent;
use crate::rules::wire::HttpAnswer;

impl ServedAgent {
    /// Asks by HTTP+JSON in 0.3.
    async fn rest(&self, verb: &str, path: &str, body: Option<&Value>) -> HttpAnswer {
        self.http(verb, path, &[], body).await
    }
}
