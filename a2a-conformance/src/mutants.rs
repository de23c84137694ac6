//! The mutants that prove the checks, as data: implementations with one deliberate bug each, and the checks that must catch
//! them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::check::check;
use crate::interface_kind::InterfaceKind;
use crate::requirement::Role;
use crate::yaml;

/// An implementation with a deliberate bug.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Mutant {
    /// Permanent name, like `S07`.
    #[serde(skip)]
    pub name: String,
    /// Party that has the bug.
    #[serde(skip, default = "agent")]
    pub role: Role,
    /// Description of what it does wrong.
    pub says: String,
    /// Interfaces on which the bug of an agent shows. The whole suite runs on the first of them.
    #[serde(default)]
    pub interfaces: Vec<InterfaceKind>,
    /// The checks that must fail wherever the bug shows.
    pub caught_by: Vec<String>,
    /// The checks that may fail, too.
    #[serde(default)]
    pub may_fail: Vec<String>,
    /// Runs one check at a time, since the bug is about concurrency.
    #[serde(default)]
    pub alone: bool,
}

fn agent() -> Role {
    Role::Agent
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    agents: BTreeMap<String, Mutant>,
    clients: BTreeMap<String, Mutant>,
}

/// Returns every mutant: agents, then clients, in the order of their names.
pub fn mutants() -> &'static [Mutant] {
    static ALL: LazyLock<Vec<Mutant>> = LazyLock::new(|| {
        // A test reads it: what is built in can be read.
        let Ok(table) = yaml::read::<Table>(TABLE) else {
            return Vec::new();
        };
        let with = |role| {
            move |(name, mutant)| Mutant {
                name,
                role,
                ..mutant
            }
        };
        let agents = table.agents.into_iter().map(with(Role::Agent));
        let clients = table.clients.into_iter().map(with(Role::Client));
        agents.chain(clients).collect()
    });
    &ALL
}

/// Returns the mutant of that name.
pub fn mutant(name: &str) -> Option<&'static Mutant> {
    mutants().iter().find(|mutant| mutant.name == name)
}

/// Returns the mutants that a check must catch.
pub fn caught_by(check: &str) -> impl Iterator<Item = &'static Mutant> {
    let is_caught = move |mutant: &&Mutant| mutant.caught_by.iter().any(|id| id == check);
    mutants().iter().filter(is_caught)
}

/// The table of all mutants.
const TABLE: &str = include_str!("../mutants.yaml");

/// Checks the table. Errors: the first row that is wrong, and what is wrong with it.
pub fn check_table() -> Result<(), String> {
    yaml::read::<Table>(TABLE).map_err(|error| format!("mutants.yaml: {error}"))?;
    for mutant in mutants() {
        let problem = |problem: String| Err(format!("mutants.yaml, {}: {problem}", mutant.name));
        if mutant.caught_by.is_empty() {
            return problem("it is caught by no check".to_owned());
        }
        if mutant.interfaces.is_empty() != (mutant.role == Role::Client) {
            return problem("an agent has interfaces, a client has none".to_owned());
        }
        for id in mutant.caught_by.iter().chain(&mutant.may_fail) {
            if check(id).is_none_or(|check| check.role != mutant.role) {
                let all = "`a2a-conformance list` lists all checks";
                return problem(format!("there is no check `{id}` of its role: {all}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_name_checks_that_there_are() {
        assert_eq!(check_table(), Ok(()));
    }

    #[test]
    fn checks_know_their_mutants() {
        let first = |check: &'static str| caught_by(check).next().map(|mutant| &*mutant.name);
        assert_eq!(first("send.at-once"), Some("S38"));
        assert_eq!(first("client.matches-id"), Some("C03"));
    }
}
