//! Coverage gaps: requirements without a check, and checks that no requirement names.

use std::fmt;

use a2a_types::Dialect;

use crate::check::{Check, checks};
use crate::requirement::{Requirement, requirements};

/// A gap between requirements and checks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CoverageGap {
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

impl fmt::Display for CoverageGap {
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

/// Returns every coverage gap.
pub fn coverage_gaps() -> Vec<CoverageGap> {
    let of = |dialect: &Dialect| coverage_gaps_in(*dialect, requirements(*dialect), checks());
    Dialect::ALL.iter().flat_map(of).collect()
}

fn coverage_gaps_in(
    dialect: Dialect,
    requirements: &'static [Requirement],
    checks: &'static [Check],
) -> Vec<CoverageGap> {
    let mut coverage_gaps = Vec::new();
    for Requirement {
        id, checks: named, ..
    } in requirements
    {
        for name in named {
            match checks.iter().find(|check| check.id == *name) {
                None => coverage_gaps.push(CoverageGap::NoCheck {
                    requirement: id,
                    check: name,
                }),
                Some(check) if !check.applies(dialect) => {
                    coverage_gaps.push(CoverageGap::OtherVersion {
                        requirement: id,
                        check: name,
                    })
                }
                Some(_) => {}
            }
        }
    }
    for check in checks.iter().filter(|check| check.applies(dialect)) {
        let named = requirements
            .iter()
            .any(|requirement| requirement.checks.contains(&check.id));
        if !named && check.source().is_none() {
            coverage_gaps.push(CoverageGap::NoRequirement {
                check: &check.id,
                dialect,
            });
        }
    }
    coverage_gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CheckPart;
    use crate::requirement::{Basis, Level, Role};

    #[test]
    fn requirements_and_checks_meet() {
        let coverage_gaps: Vec<_> = coverage_gaps().iter().map(ToString::to_string).collect();
        assert!(coverage_gaps.is_empty(), "{}", coverage_gaps.join("\n"));
    }

    fn check(id: &str, dialect: Dialect, source: Option<&str>) -> Check {
        Check {
            id: id.to_owned(),
            title: String::new(),
            role: Role::Agent,
            parts: vec![CheckPart {
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
            binding: None,
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
        let found = coverage_gaps_in(Dialect::V1_0, requirements, checks);
        let expected = [
            CoverageGap::NoCheck {
                requirement: "R",
                check: "a.not-there",
            },
            CoverageGap::OtherVersion {
                requirement: "R",
                check: "a.other",
            },
            CoverageGap::NoRequirement {
                check: "a.unasked",
                dialect: Dialect::V1_0,
            },
        ];
        assert_eq!(found, expected);
    }
}
