//! AI Catalogs: documents that list agents.

use a2a_transport::Error;
use serde_json::Value;

/// The agents that an AI Catalog lists (<https://github.com/Agent-Card/ai-catalog>, version 1.0).
///
/// [`Client::connect`](crate::Client::connect) and [`Cards`](crate::Cards) take the URL of a catalog in place of a
/// card's; `#` and an identifier behind it name one of several agents.
///
/// ```
/// use a2a_client::{Catalog, ListedCard};
///
/// let catalog = r#"{"specVersion": "1.0", "entries": [{"identifier": "urn:air:agents.example:agent:joker",
///     "type": "application/a2a-agent-card+json", "url": "https://agents.example/joker/card.json"}]}"#;
/// let catalog = Catalog::read(catalog).unwrap();
/// let card = catalog.find(Some("urn:air:agents.example:agent:joker"))?;
/// assert_eq!(card, &ListedCard::Url("https://agents.example/joker/card.json".to_owned()));
/// # Ok::<_, a2a_client::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Catalog(Vec<(String, ListedCard)>);

/// Place of a card that a catalog lists.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ListedCard {
    /// The card itself, as JSON.
    Document(String),
    /// The URL of the card.
    Url(String),
}

impl Catalog {
    /// Reads a catalog; `None` if the document is something else. Entries of other kinds than agent cards, and those
    /// with neither a card nor its URL, are left out.
    pub fn read(json: &str) -> Option<Self> {
        let document: Value = serde_json::from_str(json.trim_start_matches('\u{feff}')).ok()?;
        let entries = document["entries"].as_array()?;
        // A card may have any member of its own.
        if document.get("name").is_some() {
            return None;
        }
        Some(Self(entries.iter().filter_map(entry).collect()))
    }

    /// Returns the identifiers of the agents.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(identifier, _)| identifier.as_str())
    }

    /// Returns the card of an agent: of this identifier, or of the only one.
    ///
    /// Errors: [`Error::Address`] if the agent is not listed, [`Error::Ambiguous`] if several are and none is named.
    pub fn find(&self, identifier: Option<&str>) -> Result<&ListedCard, Error> {
        let found = match (identifier, &self.0[..]) {
            (Some(wanted), agents) => agents.iter().find(|(identifier, _)| identifier == wanted),
            (None, [] | [_]) => self.0.first(),
            (None, _) => {
                return Err(Error::Ambiguous(format!(
                    "the catalog lists several agents: expected URL#IDENTIFIER, with one of {}",
                    self.names()
                )));
            }
        };
        let found = found.map(|(_, card)| card);
        found.ok_or_else(|| Error::Address {
            url: format!("#{}", identifier.unwrap_or_default()),
            problem: match self.0.is_empty() {
                true => format!("the catalog lists no agent card ({CARD_TYPE})"),
                false => format!("the catalog lists other agents: {}", self.names()),
            },
        })
    }

    fn names(&self) -> String {
        self.identifiers().collect::<Vec<_>>().join(", ")
    }
}

fn entry(entry: &Value) -> Option<(String, ListedCard)> {
    let media_type = entry["type"].as_str()?;
    if media_type.split(';').next().map(str::trim) != Some(CARD_TYPE) {
        return None;
    }
    let identifier = entry["identifier"].as_str().unwrap_or_default().to_owned();
    let card = match (&entry["data"], entry["url"].as_str()) {
        (card @ Value::Object(_), _) => ListedCard::Document(card.to_string()),
        (_, Some(url)) => ListedCard::Url(url.to_owned()),
        _ => return None,
    };
    Some((identifier, card))
}

/// Media type of an agent card.
const CARD_TYPE: &str = "application/a2a-agent-card+json";
