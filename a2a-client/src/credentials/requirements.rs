//! Description of the credentials that a card asks for.

use a2a_types::{AgentCard, SecurityRequirement, SecurityScheme};

use super::sanitize::printable;

/// Lists the alternatives of a card, like ``bearer `corp`; API key in header `X-Key` and mutual TLS``.
pub(super) fn describe(card: &AgentCard) -> String {
    let alternatives = &card.security_requirements;
    let mut texts: Vec<_> = alternatives
        .iter()
        .take(MAX_LISTED)
        .map(|requirement| all(card, requirement))
        .collect();
    if alternatives.len() > MAX_LISTED {
        texts.push("…".to_owned());
    }
    match texts.len() {
        1 => texts.concat(),
        _ => format!("one of: {}", texts.join("; ")),
    }
}

fn all(card: &AgentCard, requirement: &SecurityRequirement) -> String {
    let names = requirement.schemes.keys().take(MAX_LISTED);
    let texts: Vec<_> = names
        .map(|name| one(name, card.security_schemes.get(name)))
        .collect();
    texts.join(" and ")
}

fn one(name: &str, scheme: Option<&SecurityScheme>) -> String {
    let name = printable(name);
    let kind = match scheme {
        None => "unknown scheme".to_owned(),
        Some(SecurityScheme::ApiKeySecurityScheme(key)) => {
            let (location, parameter) = (printable(&key.location), printable(&key.name));
            return format!("API key in {location} `{parameter}`");
        }
        Some(SecurityScheme::MtlsSecurityScheme(_)) => return "mutual TLS".to_owned(),
        Some(SecurityScheme::HttpAuthSecurityScheme(http)) => {
            printable(&http.scheme).to_ascii_lowercase()
        }
        Some(SecurityScheme::OAuth2SecurityScheme(_)) => "OAuth 2.0".to_owned(),
        Some(SecurityScheme::OpenIdConnectSecurityScheme(_)) => "OpenID Connect".to_owned(),
        Some(_) => "scheme of another version".to_owned(),
    };
    format!("{kind} `{name}`")
}

/// Number of alternatives, and of schemes in each, that are listed.
const MAX_LISTED: usize = 8;
