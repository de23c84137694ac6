//! Reads agent cards strictly: by the schema of each generation that they are of, and by the rules
//! that no schema can say.
//!
//! ```
//! use a2a_conformance::card::inspect;
//!
//! let card = r#"{"name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
//!     "defaultInputModes": [], "defaultOutputModes": [],
//!     "supportedInterfaces": [{"url": "a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#;
//! let found = inspect(card).unwrap();
//! assert_eq!(found.dialects, ["1.0"]);
//! assert_eq!(found.problems[0].path, "$.supportedInterfaces[0].url");
//! assert_eq!(found.problems[0].requirement, "A2A10-4.4.6-M1");
//! ```

mod rules;
mod security;
#[cfg(test)]
mod tests;

use a2a_jsonrpc::Limits;
use a2a_types::Dialect;
use a2a_types::reading::Mode;
use serde::Serialize;
use serde_json::Value;

use crate::lint::{Kind, Subject, violations};
use crate::requirement::{Level, requirement};

/// What is said of a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspected {
    /// The generations that it is of, the newest first.
    pub dialects: Vec<&'static str>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The card.
    #[serde(skip)]
    pub card: Value,
}

impl Inspected {
    /// Whether it is as every MUST requires.
    pub fn is_legal(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.level != Level::Must)
    }
}

/// Something that is not as required.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// The JSON path.
    pub path: String,
    /// What was found there and what was expected.
    pub problem: String,
    /// What requires it.
    pub requirement: &'static str,
    /// How much.
    pub level: Level,
}

/// Reads a card of any generation.
///
/// Errors: why it is no JSON object within the limits.
pub fn inspect(text: &str) -> Result<Inspected, String> {
    let text = text.trim_start_matches('\u{feff}');
    a2a_jsonrpc::check(text.as_bytes(), &Limits::default()).map_err(|fault| fault.to_string())?;
    let card: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if !card.is_object() {
        return Err("expected an object".to_owned());
    }
    let dialects = dialects(&card);
    let mut found = Found::default();
    for dialect in &dialects {
        found.look(&card, text, *dialect);
    }
    Ok(Inspected {
        dialects: dialects.iter().map(|dialect| dialect.version()).collect(),
        problems: found.0,
        card,
    })
}

/// What is wrong with a card as one of that generation, whatever others it is of.
pub(crate) fn problems(card: &Value, dialect: Dialect) -> Vec<Problem> {
    let mut found = Found::default();
    found.look(card, &card.to_string(), dialect);
    found.0
}

/// The generations whose members a card has: one document may be of several.
pub(crate) fn dialects(card: &Value) -> Vec<Dialect> {
    let mut dialects = Vec::new();
    let has = |member: &str| card.get(member).is_some();
    let is_older = has("url") || has("preferredTransport") || has("additionalInterfaces");
    if has("supportedInterfaces") || !is_older {
        dialects.push(Dialect::V1_0);
    }
    if is_older {
        let version = card["protocolVersion"].as_str();
        let known = version.and_then(Dialect::from_version);
        let by_members = || match has("description") && has("defaultInputModes") {
            true if has("signatures") => Dialect::V0_3,
            true => Dialect::V0_2,
            false => Dialect::V0_1,
        };
        let known = known.filter(|dialect| *dialect < Dialect::V1_0);
        dialects.push(known.unwrap_or_else(by_members));
    }
    dialects
}

/// What was found.
#[derive(Default)]
struct Found(Vec<Problem>);

impl Found {
    fn look(&mut self, card: &Value, text: &str, dialect: Dialect) {
        self.strictly(card, text, dialect);
        rules::apply(card, dialect, self);
        security::apply(card, dialect, self);
    }

    /// By the schema; if that lets it pass, by the types.
    fn strictly(&mut self, card: &Value, text: &str, dialect: Dialect) {
        let members = of(
            dialect,
            [
                "A2A01-5.5-M1",
                "A2A02-5.5-M1",
                "A2A03-5.5-M1",
                "A2A10-4.4.1-M1",
            ],
        );
        let mut against = violations(dialect, "AgentCard", card).unwrap_or_default();
        if against.is_empty() {
            let read = Subject::new(Kind::Card, dialect).read(text, Mode::Strict);
            against.extend(read.err());
        }
        for violation in against {
            self.add(violation.path, violation.problem, members);
        }
    }

    /// Adds a problem, unless the same is said of another generation of the same card.
    fn add(&mut self, path: impl Into<String>, problem: impl Into<String>, id: &'static str) {
        let level = requirement(id).map_or(Level::Must, |required| required.level);
        self.add_as(level, path.into(), problem.into(), id);
    }

    /// Adds what may be a problem: whether the rule applies no card tells.
    fn advise(&mut self, path: impl Into<String>, problem: impl Into<String>, id: &'static str) {
        self.add_as(Level::Should, path.into(), problem.into(), id);
    }

    fn add_as(&mut self, level: Level, path: String, problem: String, id: &'static str) {
        let known = |one: &Problem| one.path == path && one.problem == problem;
        if !self.0.iter().any(known) {
            self.0.push(Problem {
                path,
                problem,
                requirement: id,
                level,
            });
        }
    }
}

/// What is of a generation, of four.
fn of<T: Copy>(dialect: Dialect, [v0_1, v0_2, v0_3, v1_0]: [T; 4]) -> T {
    match dialect {
        Dialect::V0_1 => v0_1,
        Dialect::V0_2 => v0_2,
        Dialect::V0_3 => v0_3,
        _ => v1_0,
    }
}
