//! AI Catalogs: documents that list agent cards.

use serde_json::Value;

use crate::failure::Failure;

/// Place of a card that a catalog lists.
pub(crate) enum Listed {
    /// The card itself.
    Card(String),
    /// The URL of the card.
    Url(String),
}

/// Returns the catalog in a document, or `None` if the document is something else.
pub(crate) fn read(text: &str) -> Option<Value> {
    let document: Value = serde_json::from_str(text).ok()?;
    let is_catalog = document["entries"].is_array() && document.get("name").is_none();
    is_catalog.then_some(document)
}

/// Returns the agent card of this identifier, or the only one.
pub(crate) fn find(catalog: &Value, identifier: Option<&str>) -> Result<Listed, Failure> {
    let is_card = |entry: &&Value| {
        let media_type = entry["type"].as_str().unwrap_or_default();
        media_type.split(';').next().map(str::trim) == Some(CARD_TYPE)
    };
    let entries = catalog["entries"].as_array().into_iter().flatten();
    let cards: Vec<_> = entries.filter(is_card).collect();
    let name = |entry: &Value| entry["identifier"].as_str().unwrap_or_default().to_owned();
    let names = || {
        cards
            .iter()
            .map(|card| name(card))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let found = match identifier {
        Some(identifier) => cards.iter().find(|card| card["identifier"] == identifier),
        None if cards.len() > 1 => {
            return Err(Failure::usage(format!(
                "the catalog lists several agents: expected REF#IDENTIFIER, with one of {}",
                names()
            )));
        }
        None => cards.first(),
    };
    let Some(entry) = found else {
        return Err(Failure::NoCard(match identifier {
            Some(identifier) => format!(
                "the catalog lists no agent `{identifier}`: it lists {}",
                names()
            ),
            None => format!("the catalog lists no agent card ({CARD_TYPE})"),
        }));
    };
    match (&entry["data"], entry["url"].as_str()) {
        (Value::Object(card), _) => Ok(Listed::Card(Value::from(card.clone()).to_string())),
        (_, Some(url)) => Ok(Listed::Url(url.to_owned())),
        _ => Err(Failure::InvalidCard(format!(
            "the catalog's entry `{}` has neither `data` nor `url`",
            name(entry)
        ))),
    }
}

/// Media type of an agent card.
const CARD_TYPE: &str = "application/a2a-agent-card+json";
