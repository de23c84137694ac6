//! The checks, as the data of their cases has them: of agents and of clients alike.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use a2a_types::Dialect;
use rust_embed::RustEmbed;
use serde_json::{Map, Value};

use crate::requirement::{Level, Requirement, Role, requirements};

/// A check: what is said to a peer, and what has to come of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Names it for ever, like `send.ended-task-refused`.
    pub id: String,
    /// What it checks, in a line.
    pub title: String,
    /// What it counts as.
    pub level: Option<Level>,
    /// Who is tested.
    pub role: Role,
    /// The rest of the case: what is sent and expected.
    pub case: Map<String, Value>,
}

/// Every check that has a case, in order of the files.
pub fn checks() -> &'static [Check] {
    static ALL: LazyLock<Vec<Check>> = LazyLock::new(|| {
        let is_data = |name: &Cow<'_, str>| name.ends_with(".yaml");
        let mut names: Vec<_> = Cases::iter().filter(is_data).collect();
        names.sort();
        // A test reads all of them: what is built in can be read.
        let read = |name| read(name).unwrap_or_default();
        names.iter().flat_map(|name| read(name)).collect()
    });
    &ALL
}

/// The check of that id.
pub fn check(id: &str) -> Option<&'static Check> {
    checks().iter().find(|check| check.id == id)
}

/// The ids of all checks, those that have no case yet included.
pub fn check_ids() -> BTreeSet<&'static str> {
    let named = all_requirements().flat_map(|requirement| &requirement.checks);
    let written = checks().iter().map(|check| &check.id);
    named.chain(written).map(String::as_str).collect()
}

/// Who is tested by a check of that id.
pub fn role_of(id: &str) -> Role {
    match id.split_once('.') {
        Some(("client" | "webhook", _)) => Role::Client,
        _ => Role::Agent,
    }
}

/// What a check of that id covers.
pub fn covered_by(id: &str) -> impl Iterator<Item = &'static Requirement> {
    all_requirements().filter(move |requirement| requirement.checks.iter().any(|check| check == id))
}

fn all_requirements() -> impl Iterator<Item = &'static Requirement> {
    let of = |dialect: &Dialect| requirements(*dialect);
    Dialect::ALL.iter().rev().flat_map(of)
}

#[derive(RustEmbed)]
#[folder = "cases/"]
struct Cases;

fn read(name: &str) -> Result<Vec<Check>, String> {
    let file = Cases::get(name).ok_or("it is not there")?;
    let text = String::from_utf8_lossy(&file.data);
    let cases: Vec<Map<String, Value>> =
        serde_saphyr::from_str(&text).map_err(|error| error.to_string())?;
    cases.into_iter().map(understand).collect()
}

fn understand(mut case: Map<String, Value>) -> Result<Check, String> {
    let mut text = |member: &str| match case.remove(member) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("a case without `{member}`")),
    };
    let (id, title) = (text("id")?, text("title")?);
    let level = case.remove("level");
    Ok(Check {
        level: level.and_then(|level| serde_json::from_value(level).ok()),
        role: role_of(&id),
        id,
        title,
        case,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_case_can_be_read() {
        let mut ids = BTreeSet::new();
        for name in Cases::iter().filter(|name| name.ends_with(".yaml")) {
            let read = read(&name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            for check in read {
                assert!(ids.insert(check.id.clone()), "{} is there twice", check.id);
            }
        }
        assert_eq!(ids.len(), checks().len());
    }

    #[test]
    fn a_case_is_understood_whatever_else_is_in_it() {
        let case = json!({"id": "webhook.idempotent", "title": "Twice is once", "level": "should", "steps": [1]});
        let check = understand(serde_json::from_value(case).unwrap()).unwrap();
        assert_eq!(check.role, Role::Client);
        assert_eq!(check.level, Some(Level::Should));
        assert_eq!(Value::Object(check.case), json!({"steps": [1]}));
        let nameless = serde_json::from_value(json!({"id": "a.b"})).unwrap();
        assert_eq!(understand(nameless), Err("a case without `title`".into()));
    }

    #[test]
    fn checks_know_what_they_cover() {
        let mut covered = covered_by("send.session").map(|requirement| requirement.id.as_str());
        assert_eq!(covered.next(), Some("A2A01-L-M1"));
        assert_eq!(covered.next(), None);
        assert!(check_ids().contains("send.session"));
        assert_eq!(role_of("send.session"), Role::Agent);
    }
}
