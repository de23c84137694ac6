//! Explanation of a check in a few sentences, made of its case and of what it covers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_types::Dialect;

use crate::catalogue::agent_cases;
use crate::requirement::{Requirement, requirements};
use crate::{agent, case, client};

/// Returns what the check of that id does, and why; `None` if there is no such check.
pub fn explanation(id: &str) -> Option<String> {
    static DONE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let cases = agent_cases().unwrap_or_default().iter();
        let of_agents = cases.map(|case| (case.id.clone(), case::told(case)));
        let cases = client::cases().unwrap_or_default().iter();
        let of_clients = cases.map(|case| (case.id.clone(), client::told(case)));
        of_agents.chain(of_clients).collect()
    });
    let always = agent::invariants().any(|(known, ..)| known == id);
    let always = always.then_some("It is looked at in every exchange of the run.");
    let done = DONE.get(id).map(String::as_str);
    let sentences: Vec<_> = done.into_iter().chain(always).collect();
    let told = sentences.join(" ");
    match told {
        told if told.is_empty() => None,
        // The case says itself where it stands.
        told if told.contains('§') => Some(told),
        told => Some(format!("{told} {}", why(id)).trim_end().to_owned()),
    }
}

/// Returns the sections that require it, the newest protocol version first.
fn why(id: &str) -> String {
    let covers = |requirement: &&Requirement| requirement.checks.iter().any(|check| check == id);
    let told = Dialect::ALL.iter().rev().filter_map(|dialect| {
        let covered = requirements(*dialect).iter().filter(covers);
        let mut sections: Vec<&str> = covered.map(|one| one.section.as_str()).collect();
        sections.dedup();
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

/// Number of sections that are named of a protocol version.
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
        #[track_caller]
        fn check(id: &str, begin: &str, end: &str) {
            let told = explanation(id).unwrap_or_default();
            assert!(
                told.starts_with(begin) && told.ends_with(end),
                "{id}: {told}"
            );
        }
        check(
            "send.waits",
            "The suite calls SendMessage (“chunks 3 50”). Only agents that keep the behaviour contract are asked. ",
            "It stands in A2A 1.0 §3.2.2; A2A 0.3 §7.1.1; A2A 0.2 §7.1.1.",
        );
        check(
            "client.redirect-drops-credentials",
            "The client is told to send a message. The suite, as the agent, ",
            "Why: 0.1 to 0.3 §10.2; 1.0 §13.4; RFC 9110 §15.4.",
        );
        check("rpc.id-echoed", "The suite sends a POST", "");
        let times = one_after_another(["a", "b", "b", "c", "c", "c"].map(str::to_owned));
        assert_eq!(times, "a, then b twice, then c 3 times");
    }
}
