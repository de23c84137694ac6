//! Level of a check, given by the requirements that it covers and not by its author.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_transport::Binding;
use a2a_types::Dialect;

use crate::requirement::{Level, Requirement, requirements};

/// Returns the level of a check in a protocol version and binding: that of the strictest requirement that
/// names it there; `own`, which is the level in its case, if none of that version does.
///
/// Requirements of a section about the other binding count only where nothing else names the check.
pub fn level_in(dialect: Dialect, binding: Option<Binding>, check: &str, own: Level) -> Level {
    static NAMED: LazyLock<BTreeMap<(Dialect, &str), Vec<CheckReference>>> = LazyLock::new(named);
    let named = NAMED.get(&(dialect, check)).map_or(&[][..], Vec::as_slice);
    let is_there = |named: &&CheckReference| match (named.binding, binding) {
        (Some(only), Some(binding)) => only == binding,
        _ => true,
    };
    let strictest =
        |named: &mut dyn Iterator<Item = &CheckReference>| named.map(|one| one.level).min();
    strictest(&mut named.iter().filter(is_there))
        .or_else(|| strictest(&mut named.iter()))
        .unwrap_or(own)
}

/// Reference of a requirement to a check.
struct CheckReference {
    level: Level,
    /// The binding that its section is about.
    binding: Option<Binding>,
}

fn named() -> BTreeMap<(Dialect, &'static str), Vec<CheckReference>> {
    let mut named: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for requirement in requirements(*dialect) {
            for check in &requirement.checks {
                let of_check = named.entry((*dialect, check.as_str())).or_default();
                of_check.push(CheckReference {
                    level: requirement.level,
                    binding: binding_of(*dialect, requirement),
                });
            }
        }
    }
    named
}

/// The binding that a section is about; none if it is about both.
fn binding_of(dialect: Dialect, requirement: &Requirement) -> Option<Binding> {
    let (json_rpc, http_json) = match dialect {
        Dialect::V1_0 => ("9", "11"),
        Dialect::V0_3 => ("3.2.1", "3.2.3"),
        _ => return None,
    };
    let section = requirement.section.as_str();
    let is_in = |chapter: &str| {
        let rest = section.strip_prefix(chapter);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    match (is_in(json_rpc), is_in(http_json)) {
        (true, _) => Some(Binding::JsonRpc),
        (_, true) => Some(Binding::HttpJson),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{checks, covered_by};

    #[track_caller]
    fn check(id: &str, binding: Binding, expected: [Level; 4]) {
        let own = Level::May;
        let found = [Dialect::V0_1, Dialect::V0_2, Dialect::V0_3, Dialect::V1_0]
            .map(|dialect| level_in(dialect, Some(binding), id, own));
        assert_eq!(found, expected, "{id} by {binding}");
    }

    #[test]
    fn levels_are_those_of_the_version_and_the_binding() {
        use Level::{May, Must, Should};
        let rpc = Binding::JsonRpc;
        check("send.waits", rpc, [May, Should, Should, Must]);
        check("webhook.checks-task", rpc, [Should, Should, Should, Must]);
        check("send.task-or-message", rpc, [Must; 4]);
        check("error.info", rpc, [May, May, May, Should]);
        check("error.info", Binding::HttpJson, [May, May, May, Must]);
        for id in ["push.body", "push.content-type", "push.bad-url-refused"] {
            check(id, rpc, [Should; 4]);
        }
        for id in [
            "client.stream-cut",
            "client.stream-ends-early",
            "client.nothing-after-end",
        ] {
            check(id, rpc, [Should; 4]);
        }
        check("client.stream-ends", rpc, [Should, Should, Should, May]);
        check("client.matches-id", rpc, [Should; 4]);
        check("client.stream-matches-id", rpc, [Should; 4]);
        check("there.is-none", rpc, [May; 4]);
    }

    #[test]
    fn level_is_that_of_the_strictest_requirement() {
        for check in checks() {
            for dialect in Dialect::ALL.iter().filter(|one| check.applies(**one)) {
                let covered = covered_by(&check.id).filter(|(of, _)| of == dialect);
                let levels: Vec<_> = covered.map(|(_, one)| one.level).collect();
                let own: Vec<_> = check.parts.iter().map(|part| part.level).collect();
                let Some(strictest) = levels.iter().min() else {
                    assert!(check.source().is_some(), "{} in {dialect}", check.id);
                    assert_eq!(check.level_in(*dialect), own.iter().min().copied());
                    continue;
                };
                assert_eq!(check.level_in(*dialect), Some(*strictest), "{}", check.id);
                for binding in [Binding::JsonRpc, Binding::HttpJson] {
                    let level = level_in(*dialect, Some(binding), &check.id, Level::May);
                    assert!(levels.contains(&level), "{} in {dialect}", check.id);
                }
            }
        }
    }
}
