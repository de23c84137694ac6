//! All cases, built in.

use std::sync::LazyLock;

use rust_embed::RustEmbed;

use crate::case::Case;
use crate::yaml;

#[derive(RustEmbed)]
#[folder = "cases/agent/"]
struct AgentCaseFiles;

/// The cases against an agent, in order of their files.
///
/// Errors: which file cannot be read, and why. A test reads all of them.
pub fn agent_cases() -> Result<&'static [Case], String> {
    static ALL: LazyLock<Result<Vec<Case>, String>> = LazyLock::new(read);
    ALL.as_deref().map_err(Clone::clone)
}

fn read() -> Result<Vec<Case>, String> {
    let mut names: Vec<_> = AgentCaseFiles::iter()
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    let mut all = Vec::new();
    for name in names {
        let file = AgentCaseFiles::get(&name).ok_or_else(|| format!("{name} is not there"))?;
        let text = String::from_utf8_lossy(&file.data).into_owned();
        let cases: Vec<Case> = yaml::read(&text).map_err(|error| format!("{name}: {error}"))?;
        all.extend(cases);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn cases_make_sense() {
        let cases = agent_cases().unwrap();
        assert!(!cases.is_empty());
        let mut ids = BTreeSet::new();
        for case in cases {
            assert_eq!(case.problems(), [""; 0], "{}", case.id);
            assert!(ids.insert(&case.id), "{} is there twice", case.id);
            let rules = case
                .steps
                .iter()
                .filter_map(|step| step.expect.rule.as_deref());
            for rule in rules {
                assert!(
                    crate::agent::is_rule(rule),
                    "{}: `{rule}` is no rule",
                    case.id
                );
            }
        }
    }
}
