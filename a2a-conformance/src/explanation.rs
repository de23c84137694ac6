//! What a check does, and why it is made, in a few sentences: made of its case and of what it covers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use a2a_types::Dialect;

use crate::catalogue::agent_cases;
use crate::requirement::{Requirement, requirements};
use crate::{agent, case, client};

/// What the check of that id does, and why; none if there is no such check.
pub fn explanation(id: &str) -> Option<String> {
    static DONE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let cases = agent_cases().unwrap_or_default().into_iter();
        let of_agents = cases.map(|case| (case.id.clone(), case::told(&case)));
        let cases = client::cases().unwrap_or_default().iter();
        let of_clients = cases.map(|case| (case.id.clone(), client::told(case)));
        of_agents.chain(of_clients).collect()
    });
    let always = agent::invariants().any(|(known, ..)| known == id);
    let always = always.then_some("It is looked at in every exchange of the run.");
    let done = DONE.get(id).map(String::as_str);
    let sentences: Vec<_> = done.into_iter().chain(always).collect();
    match &*sentences {
        [] => None,
        _ => Some(
            format!("{} {}", sentences.join(" "), why(id))
                .trim()
                .to_owned(),
        ),
    }
}

/// Where it stands, the newest generation first.
fn why(id: &str) -> String {
    let covers = |requirement: &&Requirement| requirement.checks.iter().any(|check| check == id);
    let told = Dialect::ALL.iter().rev().filter_map(|dialect| {
        let covered = requirements(*dialect).iter().filter(covers);
        let sections: BTreeSet<_> = covered.map(|one| one.section.as_str()).collect();
        let named: Vec<_> = sections
            .iter()
            .take(NAMED)
            .map(|one| format!("§{one}"))
            .collect();
        let more = match sections.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!named.is_empty()).then(|| format!("A2A {dialect} {}{more}", named.join(", ")))
    });
    match told.collect::<Vec<_>>() {
        told if told.is_empty() => String::new(),
        told => format!("It stands in {}.", told.join("; ")),
    }
}

/// How many sections of a generation are named.
const NAMED: usize = 4;

/// `a`, `a, then b`, `a, then b, then c`; what is done again is counted.
pub(crate) fn one_after_another(acts: impl IntoIterator<Item = String>) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for act in acts {
        match counted.last_mut() {
            Some((last, times)) if *last == act => *times += 1,
            _ => counted.push((act, 1)),
        }
    }
    let told = counted.into_iter().map(|(act, times)| match times {
        1 => act,
        2 => format!("{act} twice"),
        _ => format!("{act} {times} times"),
    });
    told.collect::<Vec<_>>().join(", then ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::checks;

    #[track_caller]
    fn check(id: &str, expected: &str) {
        assert_eq!(explanation(id).as_deref(), Some(expected));
    }

    #[test]
    fn every_check_is_explained() {
        let invariants = agent::invariants().map(|(id, ..)| id);
        for id in checks().iter().map(|check| &*check.id).chain(invariants) {
            let told = explanation(id).unwrap_or_default();
            assert!(told.ends_with('.') && told.contains(' '), "{id}: {told:?}");
            assert!(!told.contains("{{") && !told.contains("  "), "{id}: {told}");
        }
        assert_eq!(explanation("send.nothing-of-the-kind"), None);
    }

    #[test]
    fn what_is_done_is_told_from_the_case() {
        check("send.session", "");
        check("client.message-is-answered", "");
        check("rpc.id-echoed", "");
    }
}
