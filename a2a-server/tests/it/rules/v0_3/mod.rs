//! Version 0.3: what it adds to 0.2.

mod card;
mod client;
mod operations;

use serde_json::Value;

use crate::rules::puppet::Served;
use crate::rules::wire::Got;

impl Served {
    /// Asks by HTTP+JSON in 0.3.
    async fn rest(&self, verb: &str, path: &str, body: Option<&Value>) -> Got {
        self.http(verb, path, &[], body).await
    }
}
