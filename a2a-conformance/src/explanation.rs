//! Explanation of a check in a few sentences, generated from its case and its requirements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use a2a_types::ProtocolVersion;

use crate::catalogue::agent_cases;
use crate::record::{Run, Verdict};
use crate::requirement::{Requirement, requirement, requirements};
use crate::{agent, case, client};

/// Returns what the check of that id does, and why; `None` if there is no such check.
pub fn explanation(id: &str) -> Option<String> {
    static DONE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let cases = agent_cases().unwrap_or_default().iter();
        let of_agents = cases.map(|case| (case.id.clone(), case::describe(case)));
        let cases = client::cases().unwrap_or_default().iter();
        let of_clients = cases.map(|case| (case.id.clone(), client::describe(case)));
        of_agents.chain(of_clients).collect()
    });
    let always = agent::invariants().any(|(known, ..)| known == id);
    let always = always.then_some("It is looked at in every exchange of the run.");
    let done = DONE.get(id).map(String::as_str);
    let sentences: Vec<_> = done.into_iter().chain(always).collect();
    let text = sentences.join(" ");
    match text {
        text if text.is_empty() => None,
        // The case says itself where it stands.
        text if text.contains('§') => Some(text),
        text => Some(format!("{text} {}", sections_of(id)).trim_end().to_owned()),
    }
}

/// Adds to a run the requirements that its checks cover, and the explanations of checks that are not met.
pub fn cite(run: &mut Run) {
    for check in &mut run.checks {
        let is_explained = !check.explanation.is_empty();
        if !is_explained && !check.verdict.is_met() && check.verdict != Verdict::NotApplicable {
            check.explanation = explanation(&check.id).unwrap_or_default();
        }
    }
    let covered = run.checks.iter().flat_map(|check| &check.requirements);
    for id in covered.collect::<BTreeSet<_>>() {
        let known = run.requirements.iter().any(|known| known.id == *id);
        let cited = requirement(id).filter(|_| !known);
        run.requirements.extend(cited.cloned());
    }
}

/// Returns the sections that require it, the newest protocol version first.
fn sections_of(id: &str) -> String {
    let covers = |requirement: &&Requirement| requirement.checks.iter().any(|check| check == id);
    let text = ProtocolVersion::ALL
        .iter()
        .rev()
        .filter_map(|protocol_version| {
            let covered = requirements(*protocol_version).iter().filter(covers);
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
            (!named.is_empty())
                .then(|| format!("A2A {protocol_version} {}{more}", named.join(", ")))
        });
    match text.collect::<Vec<_>>() {
        text if text.is_empty() => String::new(),
        text => format!("It is required by {}.", text.join("; ")),
    }
}

/// Number of sections that are named of a protocol version.
const NAMED: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::checks;

    #[test]
    fn every_check_is_explained() {
        let invariants = agent::invariants().map(|(id, ..)| id);
        for id in checks().iter().map(|check| &*check.id).chain(invariants) {
            let text = explanation(id).unwrap_or_default();
            assert!(text.ends_with('.') && text.contains(' '), "{id}: {text:?}");
            assert!(!text.contains("{{") && !text.contains("  "), "{id}: {text}");
        }
        assert_eq!(explanation("send.nothing-of-the-kind"), None);
    }

    #[test]
    fn explanation_describes_the_steps_of_the_case() {
        #[track_caller]
        fn check(id: &str, begin: &str, end: &str) {
            let text = explanation(id).unwrap_or_default();
            assert!(
                text.starts_with(begin) && text.ends_with(end),
                "{id}: {text}"
            );
        }
        check(
            "send.waits",
            "The suite calls SendMessage (“chunks 3 50”). Only agents that keep the behaviour contract are asked. ",
            "It is required by A2A 1.0 §3.2.2; A2A 0.3 §7.1.1; A2A 0.2 §7.1.1.",
        );
        check(
            "client.redirect-drops-credentials",
            "The client is instructed to send a message. The suite, as the agent, ",
            "Why: 0.1 to 0.3 §10.2; 1.0 §13.4; RFC 9110 §15.4.",
        );
        check("rpc.id-echoed", "The suite sends a POST", "");
    }
}
