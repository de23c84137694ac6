//! Coverage of the specification by checks: the matrix of sections and levels.

use std::collections::{BTreeMap, BTreeSet};

use a2a_types::Dialect;
use serde::Serialize;

use crate::requirement::{Level, Requirement, Role, requirements};

/// Coverage of a protocol version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Its version.
    pub dialect: &'static str,
    /// Its sections, in order.
    pub sections: Vec<Section>,
    /// All of them together.
    pub total: Cells,
}

/// A section of the specification, and its subsections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// Its number, like `3.1`.
    pub section: String,
    /// Coverage of its requirements.
    #[serde(flatten)]
    pub cells: Cells,
}

/// By party and level: a requirement that binds both counts for both.
pub type Cells = BTreeMap<Role, BTreeMap<Level, Cell>>;

/// Counts of requirements by how they are checked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Cell {
    /// Every check that they name is made in their version.
    pub checked: usize,
    /// They say why no check can cover them.
    pub excluded: usize,
    /// A check that they name is not made there, or they name none for this party.
    pub missing: usize,
}

impl Cell {
    /// Returns the number of all requirements.
    pub fn total(self) -> usize {
        self.checked + self.excluded + self.missing
    }

    fn count(&mut self, requirement: &Requirement, role: Role, checks: &BTreeSet<&str>) {
        let named = &requirement.checks;
        let is_made = |check: &&String| checks.contains(check.as_str());
        // A requirement that binds several is checked for each by the checks of each; what binds one may show by
        // what the other takes.
        let is_alone = requirement.binds.len() == 1;
        let is_own = |check: &&String| is_alone || Role::of_check(check) == role;
        let own = named.iter().filter(is_own);
        let is_checked = own.clone().next().is_some() && own.clone().all(|check| is_made(&check));
        match (&requirement.excluded, is_checked) {
            (Some(_), _) => self.excluded += 1,
            (None, true) => self.checked += 1,
            (None, false) => self.missing += 1,
        }
    }
}

/// Returns the coverage of a protocol version, if these checks are made.
pub fn coverage(dialect: Dialect, checks: &BTreeSet<&str>) -> Coverage {
    let mut coverage = Coverage {
        dialect: dialect.version(),
        sections: Vec::new(),
        total: Cells::new(),
    };
    for requirement in requirements(dialect) {
        let name = chapter(&requirement.section);
        let known = coverage.sections.iter().position(|one| one.section == name);
        let place = known.unwrap_or_else(|| {
            coverage.sections.push(Section {
                section: name.to_owned(),
                cells: Cells::new(),
            });
            coverage.sections.len() - 1
        });
        let section = coverage.sections.get_mut(place).map(|one| &mut one.cells);
        for cells in [section, Some(&mut coverage.total)].into_iter().flatten() {
            for role in &requirement.binds {
                let levels = cells.entry(*role).or_default();
                let cell = levels.entry(requirement.level).or_default();
                cell.count(requirement, *role, checks);
            }
        }
    }
    coverage
}

/// A section without its subsections: `3.1` of `3.1.4`.
fn chapter(section: &str) -> &str {
    let mut dots = section.match_indices('.');
    let second = dots.nth(1).map_or(section.len(), |(position, _)| position);
    section.get(..second).unwrap_or(section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::ids_in;

    fn sum(coverage: &Coverage, role: Role) -> Cell {
        let levels = coverage.total.get(&role).into_iter().flatten();
        levels.fold(Cell::default(), |sum, (_, cell)| Cell {
            checked: sum.checked + cell.checked,
            excluded: sum.excluded + cell.excluded,
            missing: sum.missing + cell.missing,
        })
    }

    #[test]
    fn sections_add_up() {
        for dialect in Dialect::ALL {
            let coverage = coverage(*dialect, &ids_in(*dialect));
            for role in [Role::Agent, Role::Client, Role::Operator] {
                let binds = requirements(*dialect)
                    .iter()
                    .filter(|requirement| requirement.binds.contains(&role));
                let expected = binds.count();
                let in_sections = coverage
                    .sections
                    .iter()
                    .flat_map(|one| one.cells.get(&role));
                let in_sections = in_sections.flat_map(BTreeMap::values);
                assert_eq!(sum(&coverage, role).total(), expected, "{dialect} {role:?}");
                assert_eq!(
                    in_sections.map(|cell| cell.total()).sum::<usize>(),
                    expected
                );
            }
        }
    }

    #[test]
    fn requirement_without_check_is_missing() {
        let all = ids_in(Dialect::V0_1);
        let before = sum(&coverage(Dialect::V0_1, &all), Role::Agent);
        let without: BTreeSet<&str> = all.into_iter().filter(|id| *id != "send.session").collect();
        let found = coverage(Dialect::V0_1, &without);
        assert_eq!(sum(&found, Role::Agent).missing, before.missing + 1);
        let launch = found
            .sections
            .iter()
            .find(|one| one.section == "L")
            .unwrap();
        assert_eq!(launch.cells[&Role::Agent][&Level::Should].missing, 1);
        let nothing = coverage(Dialect::V0_1, &BTreeSet::new());
        assert_eq!(sum(&nothing, Role::Agent).checked, 0);
    }

    #[test]
    fn chapter_is_at_most_two_numbers_of_a_section() {
        for (section, expected) in [
            ("3.1.4", "3.1"),
            ("3.1", "3.1"),
            ("7", "7"),
            ("5.5.2.1", "5.5"),
        ] {
            assert_eq!(chapter(section), expected);
        }
    }
}
