//! Level of a check, given by the requirements that it covers and not by its author.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;

use crate::requirement::{Level, Requirement, requirements};

/// Returns the level of a check in a protocol version and binding: that of the strictest requirement that
/// names it there; `own`, which is the level in its case, if none does. Requirements of a section about the other
/// binding do not count.
pub fn level_in(
    protocol_version: ProtocolVersion,
    binding: Option<Binding>,
    check: &str,
    own: Level,
) -> Level {
    static NAMED: LazyLock<BTreeMap<(ProtocolVersion, &str), Vec<CheckReference>>> =
        LazyLock::new(named);
    let named = NAMED
        .get(&(protocol_version, check))
        .map_or(&[][..], Vec::as_slice);
    let is_there = |named: &&CheckReference| match (named.binding, binding) {
        (Some(only), Some(binding)) => only == binding,
        _ => true,
    };
    let levels = named.iter().filter(is_there).map(|one| one.level);
    levels.min().unwrap_or(own)
}

/// Reference of a requirement to a check.
struct CheckReference {
    level: Level,
    /// The binding that its section is about.
    binding: Option<Binding>,
}

fn named() -> BTreeMap<(ProtocolVersion, &'static str), Vec<CheckReference>> {
    let mut named: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for protocol_version in ProtocolVersion::ALL {
        for requirement in requirements(*protocol_version) {
            for check in &requirement.checks {
                let of_check = named
                    .entry((*protocol_version, check.as_str()))
                    .or_default();
                of_check.push(CheckReference {
                    level: requirement.level,
                    binding: binding_of(*protocol_version, requirement),
                });
            }
        }
    }
    named
}

/// The binding that a requirement is about; none if it is about all.
fn binding_of(protocol_version: ProtocolVersion, requirement: &Requirement) -> Option<Binding> {
    let all = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];
    if let Some(name) = &requirement.binding {
        return all.into_iter().find(|binding| binding.as_str() == name);
    }
    let chapters = match protocol_version {
        ProtocolVersion::V1_0 => ["9", "11", "10"],
        ProtocolVersion::V0_3 => ["3.2.1", "3.2.3", "3.2.2"],
        _ => return None,
    };
    let section = requirement.section.as_str();
    let is_in = |chapter: &str| {
        let rest = section.strip_prefix(chapter);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let place = chapters.into_iter().position(is_in)?;
    Some(all[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Check, CheckPart, checks, covered_by, has_one};

    #[track_caller]
    fn check(id: &str, binding: Binding, expected: [Level; 4]) {
        let own = Level::May;
        let found = [
            ProtocolVersion::V0_1,
            ProtocolVersion::V0_2,
            ProtocolVersion::V0_3,
            ProtocolVersion::V1_0,
        ]
        .map(|protocol_version| level_in(protocol_version, Some(binding), id, own));
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
        for id in ["client.stream-cut", "client.stream-ends-early"] {
            check(id, rpc, [Should; 4]);
        }
        check(
            "client.nothing-after-end",
            rpc,
            [Should, Should, Should, May],
        );
        check("client.stream-ends", rpc, [Should, Should, Should, May]);
        check("client.matches-id", rpc, [Should; 4]);
        check("client.stream-matches-id", rpc, [Should; 4]);
        check("client.stream-error", rpc, [Must, Must, Must, Should]);
        check("client.stream-error", Binding::HttpJson, [May; 4]);
        check("there.is-none", rpc, [May; 4]);
    }

    #[test]
    fn level_is_that_of_the_strictest_requirement() {
        for check in checks() {
            for protocol_version in ProtocolVersion::ALL
                .iter()
                .filter(|one| check.applies(**one))
            {
                let covered = covered_by(&check.id).filter(|(of, _)| of == protocol_version);
                let levels: Vec<_> = covered.map(|(_, one)| one.level).collect();
                let own: Vec<_> = check.parts.iter().map(|part| part.level).collect();
                let Some(strictest) = levels.iter().min() else {
                    assert!(
                        check.source().is_some(),
                        "{} in {protocol_version}",
                        check.id
                    );
                    assert_eq!(check.level_in(*protocol_version), own.iter().min().copied());
                    continue;
                };
                assert_eq!(
                    check.level_in(*protocol_version),
                    Some(*strictest),
                    "{}",
                    check.id
                );
            }
        }
    }

    /// A check at MUST rests on a sentence at MUST of its version that binds the party under test, and is not about the
    /// other binding only.
    #[test]
    fn a_check_at_must_has_a_sentence_at_must_in_its_version_and_binding() {
        let mut stricter = Vec::new();
        for check in checks() {
            for part in &check.parts {
                for (protocol_version, binding) in places(check, part) {
                    let level = level_in(protocol_version, Some(binding), &check.id, part.level);
                    let covers = |one: &Requirement| {
                        let of_binding =
                            binding_of(protocol_version, one).is_none_or(|own| own == binding);
                        let binds = one.binds.contains(&check.role);
                        one.level == Level::Must && of_binding && binds
                    };
                    let mut covered =
                        covered_by(&check.id).filter(|(of, _)| *of == protocol_version);
                    let is_required = covered.any(|(_, one)| covers(one));
                    if level == Level::Must && !is_required && check.source().is_none() {
                        stricter.push(format!("{} in {protocol_version} by {binding}", check.id));
                    }
                }
            }
        }
        assert!(stricter.is_empty(), "no such sentence: {stricter:#?}");
    }

    /// Returns the versions and bindings in which a part of a check is made.
    fn places(check: &Check, part: &CheckPart) -> Vec<(ProtocolVersion, Binding)> {
        let pairs = part.protocol_versions.iter().flat_map(|protocol_version| {
            let bindings = part.bindings.iter();
            bindings.map(|binding| (*protocol_version, *binding))
        });
        let is_made =
            |(protocol_version, binding): &_| has_one(*protocol_version, check.role, &[*binding]);
        pairs.filter(is_made).collect()
    }
}
