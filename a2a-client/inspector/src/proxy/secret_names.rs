//! Headers and parameters in which the cards of an agent want API keys.

use serde_json::Value;

/// Names of headers and of parameters of a query, in lower case.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct SecretNames {
    pub(crate) headers: Vec<String>,
    pub(crate) parameters: Vec<String>,
}

/// Names of each kind.
const MAX_NAMES: usize = 64;

/// Bytes of a name.
const MAX_NAME_BYTES: usize = 256;

impl SecretNames {
    /// Adds the names in a card, or in an answer by JSON-RPC with a card. Returns whether there are new ones.
    pub(crate) fn learn(&mut self, document: &Value) -> bool {
        let card = document.get("result").unwrap_or(document);
        let schemes = card.get("securitySchemes").and_then(Value::as_object);
        let mut is_new = false;
        for scheme in schemes.into_iter().flat_map(|schemes| schemes.values()) {
            // 1.0 has the scheme in a member of its own.
            let key = scheme.get("apiKeySecurityScheme").unwrap_or(scheme);
            let member = |name| key.get(name).and_then(Value::as_str);
            let names = match member("location").or(member("in")) {
                Some(place) if place.eq_ignore_ascii_case("header") => &mut self.headers,
                Some(place) if place.eq_ignore_ascii_case("query") => &mut self.parameters,
                _ => continue,
            };
            let Some(name) = member("name").filter(|name| name.len() <= MAX_NAME_BYTES) else {
                continue;
            };
            let name = name.to_ascii_lowercase();
            if names.len() < MAX_NAMES && !names.contains(&name) {
                names.push(name);
                is_new = true;
            }
        }
        is_new
    }
}
