//! Validation of AI Catalogs: <https://github.com/Agent-Card/ai-catalog>, version 1.0.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::{Inspection, inspect};

/// Result of the validation of an AI Catalog.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CatalogInspection {
    /// The problems, each with its path.
    pub problems: Vec<String>,
    /// The agent cards that are part of the catalog, each with its identifier.
    pub cards: Vec<(String, Inspection)>,
}

impl CatalogInspection {
    /// Returns whether the catalog and all cards in it are as they must be.
    pub fn is_legal(&self) -> bool {
        self.problems.is_empty() && self.cards.iter().all(|(_, card)| card.is_legal())
    }
}

/// Validates an AI Catalog and the agent cards in it; `None` if the text is something else.
///
/// ```
/// let found = a2a_conformance::card::inspect_catalog(r#"{"specVersion": "1.0", "entries": [{"identifier": "a"}]}"#);
/// assert_eq!(
///     found.unwrap().problems,
///     ["$.entries[0].type: expected text", "$.entries[0]: expected either `url` or `data`"]
/// );
/// ```
pub fn inspect_catalog(text: &str) -> Option<CatalogInspection> {
    let catalog: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let entries = catalog["entries"].as_array()?;
    if catalog.get("name").is_some() {
        return None;
    }
    let mut problems = Vec::new();
    let version = catalog["specVersion"].as_str().unwrap_or_default();
    let numbers = version.split_once('.');
    if !numbers.is_some_and(|(major, minor)| [major, minor].iter().all(|it| is_number(it))) {
        problems.push("$.specVersion: expected a version like `1.0`".to_owned());
    }
    let (mut cards, mut seen) = (Vec::new(), BTreeSet::new());
    for (index, entry) in entries.iter().enumerate() {
        let path = format!("$.entries[{index}]");
        for name in ["identifier", "type"] {
            if entry[name].as_str().is_none_or(str::is_empty) {
                problems.push(format!("{path}.{name}: expected text"));
            }
        }
        let identifier = entry["identifier"].as_str().unwrap_or_default();
        if !seen.insert((identifier, entry["version"].as_str())) {
            problems.push(format!(
                "{path}: expected no other entry `{identifier}` of this version"
            ));
        }
        match (entry.get("url"), entry.get("data")) {
            (Some(url), None) if url.as_str().is_some_and(|url| url.contains("://")) => {}
            (Some(_), None) => problems.push(format!("{path}.url: expected an absolute URL")),
            (None, Some(card)) if entry["type"] == "application/a2a-agent-card+json" => {
                match inspect(&card.to_string()) {
                    Ok(card) => cards.push((identifier.to_owned(), card)),
                    Err(problem) => problems.push(format!("{path}.data: {problem}")),
                }
            }
            (None, Some(_)) => {}
            _ => problems.push(format!("{path}: expected either `url` or `data`")),
        }
    }
    Some(CatalogInspection { problems, cards })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_faults_of_a_catalog_and_of_its_cards_are_found() {
        let kind = "application/a2a-agent-card+json";
        let catalog = json!({"specVersion": "1", "entries": [
            {"identifier": "a", "type": kind, "url": "/card"},
            {"identifier": "a", "type": kind, "url": "https://a.example", "data": {}},
            {"identifier": "b", "type": "other", "data": 1},
            {"identifier": "c", "type": kind, "data": {"name": "c"}},
        ]});
        let found = inspect_catalog(&catalog.to_string()).unwrap();
        assert_eq!(
            found.problems,
            [
                "$.specVersion: expected a version like `1.0`",
                "$.entries[0].url: expected an absolute URL",
                "$.entries[1]: expected no other entry `a` of this version",
                "$.entries[1]: expected either `url` or `data`",
            ]
        );
        assert_eq!(found.cards.len(), 1);
        assert!(!found.is_legal() && !found.cards[0].1.is_legal());
        assert_eq!(inspect_catalog(r#"{"name": "n", "entries": []}"#), None);
    }
}
