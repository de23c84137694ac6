//! What a check does, and why it is made, in a few sentences: made of its case and of what it covers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_types::Dialect;

use crate::catalogue::agent_cases;
use crate::requirement::{Level, requirements};
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

/// Which sections require it, the newest generation first.
fn why(id: &str) -> String {
    let mut sections: Vec<(Dialect, Level, Vec<&str>)> = Vec::new();
    let newest_first = Dialect::ALL.iter().rev();
    let all = newest_first.flat_map(|dialect| {
        let of = requirements(*dialect).iter();
        of.map(move |requirement| (*dialect, requirement))
    });
    for (dialect, requirement) in all.filter(|(_, one)| one.checks.iter().any(|check| check == id))
    {
        let (level, section) = (requirement.level, requirement.section.as_str());
        let same =
            |(of, with, _): &&mut (Dialect, Level, Vec<&str>)| (*of, *with) == (dialect, level);
        match sections.iter_mut().find(same) {
            Some((_, _, known)) if known.contains(&section) => {}
            Some((_, _, known)) => known.push(section),
            None => sections.push((dialect, level, vec![section])),
        }
    }
    let told = sections.iter().map(|(dialect, level, sections)| {
        let keyword = level.keyword();
        format!("A2A {dialect} §{} ({keyword})", sections.join(", §"))
    });
    match told.collect::<Vec<_>>() {
        told if told.is_empty() => String::new(),
        told => format!("It stands in {}.", told.join("; ")),
    }
}

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
