//! AI Catalog: the document that lists the agents of an origin.
//!
//! <https://github.com/Agent-Card/ai-catalog>, version 1.0.

use http::header::{HeaderValue, VARY};
use http::request::Parts;
use http::{Response, StatusCode, Uri};
use serde_json::{Value, json};

use super::settings::Settings;
use crate::http::message::answer::typed;
use crate::http::message::body::Body;

/// Returns the catalog of the agents, as far as they have public cards.
pub(super) fn of<'s>(agents: impl Iterator<Item = &'s Settings>, head: &Parts) -> Response<Body> {
    let entries: Vec<_> = agents.filter_map(|agent| entry(agent, head)).collect();
    let catalog = json!({"specVersion": "1.0", "entries": entries});
    let body = Body::full(catalog.to_string());
    let mut response = typed(StatusCode::OK, "application/ai-catalog+json", body);
    let varies = HeaderValue::from_static("Host");
    response.headers_mut().insert(VARY, varies);
    response
}

fn entry(agent: &Settings, head: &Parts) -> Option<Value> {
    let card = agent.listed_card(head)?;
    let url: Uri = card["supportedInterfaces"][0]["url"]
        .as_str()?
        .parse()
        .ok()?;
    let name = match agent.path.trim_matches('/') {
        "" => card["name"].as_str().unwrap_or_default(),
        path => path,
    };
    let identifier = format!("urn:air:{}:agent:{}", url.host()?, segment(name));
    Some(json!({
        "identifier": identifier,
        "type": "application/a2a-agent-card+json",
        "data": card,
    }))
}

/// Returns a name as a segment of a URN.
fn segment(name: &str) -> String {
    let letters = name
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter.to_ascii_lowercase(),
            false => '-',
        });
    letters.collect()
}
