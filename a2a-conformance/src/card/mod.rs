//! Strict validation of agent cards: by the schema of each of their protocol versions, and by rules
//! that no schema can express.
//!
//! ```
//! use a2a_conformance::card::inspect;
//!
//! let card = r#"{"name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
//!     "defaultInputModes": [], "defaultOutputModes": [],
//!     "supportedInterfaces": [{"url": "a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#;
//! let found = inspect(card).unwrap();
//! assert_eq!(found.protocol_versions, ["1.0"]);
//! assert_eq!(found.problems[0].path, "$.supportedInterfaces[0].url");
//! assert_eq!(found.problems[0].requirement, "A2A10-4.4.6-M1");
//! ```

mod catalog;
mod problem;
mod rules;
pub(crate) mod security;
#[cfg(test)]
mod tests;

use a2a_jsonrpc::Limits;
use a2a_types::ProtocolVersion;
use a2a_types::reading::Mode;
use serde::Serialize;
use serde_json::Value;

use crate::lint::{LintSubject, SubjectKind, violations, without_nulls};
use crate::requirement::Level;

pub use self::catalog::{CatalogInspection, inspect_catalog};
pub use self::problem::Problem;
use self::problem::{Problems, of};

/// Result of the validation of a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The protocol versions of the card, the newest first.
    pub protocol_versions: Vec<&'static str>,
    /// The violations found.
    pub problems: Vec<Problem>,
    /// The card.
    #[serde(skip)]
    pub card: Value,
}

impl Inspection {
    /// Returns whether the card satisfies every MUST.
    pub fn is_legal(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.level != Level::Must)
    }
}

/// Validates a card of any protocol version.
///
/// Errors: the text is not a JSON object within the limits.
pub fn inspect(text: &str) -> Result<Inspection, String> {
    let text = text.trim_start_matches('\u{feff}');
    a2a_jsonrpc::check(text.as_bytes(), &Limits::default()).map_err(|fault| fault.to_string())?;
    let card: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if !card.is_object() {
        return Err("expected an object".to_owned());
    }
    let protocol_versions = protocol_versions(&card);
    let mut found = Problems::default();
    for protocol_version in &protocol_versions {
        check_version(&mut found, &card, text, *protocol_version);
    }
    Ok(Inspection {
        protocol_versions: protocol_versions
            .iter()
            .map(|protocol_version| protocol_version.version())
            .collect(),
        problems: found.0,
        card,
    })
}

/// Returns the problems of a card as one of `protocol_version`, regardless of its other protocol versions.
pub(crate) fn problems(card: &Value, protocol_version: ProtocolVersion) -> Vec<Problem> {
    let mut found = Problems::default();
    check_version(&mut found, card, &card.to_string(), protocol_version);
    found.0
}

/// Returns the protocol versions whose members a card has: one document may have several.
pub(crate) fn protocol_versions(card: &Value) -> Vec<ProtocolVersion> {
    let mut protocol_versions = Vec::new();
    let has = |member: &str| card.get(member).is_some();
    // In a card with interfaces of 1.0, `url` says nothing: a card of 1.0 may have members of its own.
    let version = card["protocolVersion"].as_str();
    let version = version.and_then(ProtocolVersion::from_version);
    let says_older = has("preferredTransport")
        || has("additionalInterfaces")
        || has("protocolVersion") && version != Some(ProtocolVersion::V1_0);
    let is_older = says_older || has("url") && !has("supportedInterfaces");
    if has("supportedInterfaces") || !is_older {
        protocol_versions.push(ProtocolVersion::V1_0);
    }
    if is_older {
        let by_members = || match has("description") && has("defaultInputModes") {
            true if has("signatures") => ProtocolVersion::V0_3,
            true => ProtocolVersion::V0_2,
            false => ProtocolVersion::V0_1,
        };
        let known = version.filter(|protocol_version| *protocol_version < ProtocolVersion::V1_0);
        protocol_versions.push(known.unwrap_or_else(by_members));
    }
    protocol_versions
}

/// Checks a card as one of a protocol version.
fn check_version(
    found: &mut Problems,
    card: &Value,
    text: &str,
    protocol_version: ProtocolVersion,
) {
    check_schema(found, card, text, protocol_version);
    rules::apply(card, protocol_version, found);
    security::apply(card, protocol_version, found);
}

/// Validates by the schema; if that accepts the card, by the types.
fn check_schema(found: &mut Problems, card: &Value, text: &str, protocol_version: ProtocolVersion) {
    let members = of(
        protocol_version,
        [
            "A2A01-5.5-M1",
            "A2A02-5.5-M1",
            "A2A03-5.5-M1",
            "A2A10-4.4.1-M1",
        ],
    );
    let readable = match protocol_version {
        // 0.1 has every optional member as one that may be null.
        ProtocolVersion::V0_1 => &without_nulls(card),
        _ => card,
    };
    let mut against = violations(protocol_version, "AgentCard", readable).unwrap_or_default();
    // The first releases of 0.2 did not have the member.
    let is_version = |problem: &str| problem.contains("\"protocolVersion\" is a required");
    against.retain(|one| protocol_version != ProtocolVersion::V0_2 || !is_version(&one.problem));
    if against.is_empty() {
        let read = LintSubject::new(SubjectKind::Card, protocol_version).read(text, Mode::Strict);
        against.extend(read.err());
    }
    for violation in against {
        let older = (protocol_version == ProtocolVersion::V1_0)
            .then(|| older_scheme(card, &violation.path))
            .flatten();
        found.add(violation.path, older.unwrap_or(violation.problem), members);
    }
}

/// Returns what is wrong at a path of a card of 1.0, if a security scheme stands there in the form of earlier versions.
pub(crate) fn older_scheme(card: &Value, path: &str) -> Option<String> {
    let name = path.strip_prefix("$.securitySchemes.")?;
    let scheme = card["securitySchemes"].get(name)?;
    let is_of_1_0 = scheme
        .as_object()?
        .keys()
        .any(|name| name.ends_with("SecurityScheme"));
    scheme["type"].as_str().filter(|_| !is_of_1_0)?;
    Some("the form of 0.3: expected one of apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme".to_owned())
}
