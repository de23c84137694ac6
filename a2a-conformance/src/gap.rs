//! Gaps between requirements and checks: what is required and not checked, and what is checked though nothing
//! requires it.

use std::fmt;

use a2a_types::Dialect;

use crate::check::{Check, checks};
use crate::requirement::{Requirement, requirements};

/// A place where requirements and checks do not meet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Gap {
    /// A requirement names a check that does not exist.
    NoCheck {
        /// The requirement.
        requirement: &'static str,
        /// The check that it names.
        check: &'static str,
    },
    /// A requirement names a check that is not made in its version.
    OtherVersion {
        /// The requirement.
        requirement: &'static str,
        /// The check that it names.
        check: &'static str,
    },
    /// A check is made in a version of which no requirement names it, and names no other source.
    NoRequirement {
        /// The check.
        check: &'static str,
        /// The version.
        dialect: Dialect,
    },
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCheck { requirement, check } => {
                write!(f, "{requirement} names {check}, which is no check")
            }
            Self::OtherVersion { requirement, check } => {
                write!(
                    f,
                    "{requirement} names {check}, which is not made in its version"
                )
            }
            Self::NoRequirement { check, dialect } => {
                write!(
                    f,
                    "no requirement of {dialect} names {check}, which is made there"
                )
            }
        }
    }
}

/// Every place where requirements and checks do not meet.
pub fn gaps() -> Vec<Gap> {
    let of = |dialect: &Dialect| gaps_in(*dialect, requirements(*dialect), checks());
    Dialect::ALL.iter().flat_map(of).collect()
}

fn gaps_in(
    dialect: Dialect,
    requirements: &'static [Requirement],
    checks: &'static [Check],
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for Requirement {
        id, checks: named, ..
    } in requirements
    {
        for name in named {
            match checks.iter().find(|check| check.id == *name) {
                None => gaps.push(Gap::NoCheck {
                    requirement: id,
                    check: name,
                }),
                Some(check) if !check.applies(dialect) => gaps.push(Gap::OtherVersion {
                    requirement: id,
                    check: name,
                }),
                Some(_) => {}
            }
        }
    }
    for check in checks.iter().filter(|check| check.applies(dialect)) {
        let named = requirements
            .iter()
            .any(|requirement| requirement.checks.contains(&check.id));
        if !named && check.source().is_none() {
            gaps.push(Gap::NoRequirement {
                check: &check.id,
                dialect,
            });
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Part;
    use crate::requirement::{Basis, Level, Role};

    #[test]
    fn requirements_and_checks_meet() {
        let gaps: Vec<_> = gaps().iter().map(ToString::to_string).collect();
        assert!(gaps.is_empty(), "{}", gaps.join("\n"));
    }

    fn check(id: &str, dialect: Dialect, source: Option<&str>) -> Check {
        Check {
            id: id.to_owned(),
            title: String::new(),
            role: Role::Agent,
            parts: vec![Part {
                level: Level::Must,
                dialects: vec![dialect],
                bindings: Vec::new(),
                source: source.map(str::to_owned),
                case: None,
            }],
        }
    }

    #[test]
    fn every_kind_of_gap_is_found() {
        let names = ["a.there", "a.not-there", "a.other"].map(str::to_owned);
        let requirement = Requirement {
            id: "R".to_owned(),
            says: "So it is.".to_owned(),
            level: Level::Must,
            section: "1".to_owned(),
            source: String::new(),
            basis: Basis::Keyword,
            reading: String::new(),
            binds: vec![Role::Agent],
            checks: names.to_vec(),
            excluded: None,
        };
        let checks = vec![
            check("a.there", Dialect::V1_0, None),
            check("a.other", Dialect::V0_1, None),
            check("a.unasked", Dialect::V1_0, None),
            check("a.of-another-text", Dialect::V1_0, Some("RFC 1")),
        ];
        let (requirements, checks) = (vec![requirement].leak(), checks.leak());
        let found = gaps_in(Dialect::V1_0, requirements, checks);
        let expected = [
            Gap::NoCheck {
                requirement: "R",
                check: "a.not-there",
            },
            Gap::OtherVersion {
                requirement: "R",
                check: "a.other",
            },
            Gap::NoRequirement {
                check: "a.unasked",
                dialect: Dialect::V1_0,
            },
        ];
        assert_eq!(found, expected);
    }
}
