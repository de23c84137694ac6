//! `cargo xtask tidy`: what has to hold and no compiler checks.

mod confined;
mod dependencies;
mod imports;
mod links;
mod manifests;
mod metadata;
mod names;
mod prose;
mod sources;
mod words;

use std::fmt;

use self::metadata::Metadata;
use self::sources::Source;
use crate::{Failure, console};

/// Makes every check and prints every violation.
pub(crate) fn tidy() -> Result<(), Failure> {
    let workspace = Workspace::read()?;
    let mut count = 0;
    for check in CHECKS {
        let violations = (check.run)(&workspace);
        if violations.is_empty() {
            continue;
        }
        console::heading(check.rule);
        for violation in &violations {
            println!("{violation}");
        }
        count += violations.len();
    }
    match count {
        0 => Ok(()),
        count => Err(format!("{count} violations")),
    }
}

/// One rule, and how it is checked.
struct Check {
    rule: &'static str,
    run: fn(&Workspace) -> Vec<Violation>,
}

#[rustfmt::skip]
const CHECKS: &[Check] = &[
    Check { rule: "crates depend only downwards", run: dependencies::arrows },
    Check { rule: "what nobody asks for is not built", run: dependencies::unasked },
    Check { rule: "JSON is read the same in every build", run: dependencies::features },
    Check { rule: "every package builds with the oldest Rust that we promise", run: dependencies::rust_versions },
    Check { rule: "manifests say nothing twice", run: manifests::inherited },
    Check { rule: "imports between the files of a crate run one way", run: imports::circles },
    Check { rule: "links between documents lead somewhere", run: links::relative },
    Check { rule: "what one place knows is not known elsewhere", run: confined::words },
    Check { rule: "old spellings live in one place", run: words::old_spellings },
    Check { rule: "headers and doc comments name what they are about", run: prose::openings },
    Check { rule: "limits are named MAX_, MIN_ or DEFAULT_", run: names::limits },
    Check { rule: "tests are named without ordinals", run: names::test_names },
    Check { rule: "no type name is defined in more than two files of a package", run: names::shared },
    Check { rule: "retired terms name no type and no file", run: names::retired },
    Check { rule: "no value is named by a retired participle", run: names::values },
];

/// Input of the checks.
struct Workspace {
    metadata: Metadata,
    /// Metadata without the optional feature `ASKED_FOR`.
    without: Metadata,
    sources: Vec<Source>,
}

impl Workspace {
    fn read() -> Result<Self, Failure> {
        let metadata = Metadata::read()?;
        Ok(Self {
            without: metadata.read_without(dependencies::ASKED_FOR)?,
            metadata,
            sources: sources::read()?,
        })
    }
}

/// A place where a rule is broken, and how.
#[derive(Debug, Eq, PartialEq)]
struct Violation {
    /// `file:line`, a file, or a package.
    place: String,
    problem: String,
}

impl Violation {
    fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static WORKSPACE: LazyLock<Workspace> =
        LazyLock::new(|| Workspace::read().expect("the workspace can be read"));

    #[track_caller]
    fn holds(run: fn(&Workspace) -> Vec<Violation>) {
        let lines: Vec<_> = run(&WORKSPACE).iter().map(Violation::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }

    #[test]
    fn crates_depend_only_downwards() {
        holds(dependencies::arrows);
    }

    #[test]
    fn what_nobody_asks_for_is_not_built() {
        holds(dependencies::unasked);
    }

    #[test]
    fn json_is_read_the_same_in_every_build() {
        holds(dependencies::features);
    }

    #[test]
    fn every_package_builds_with_the_oldest_rust() {
        holds(dependencies::rust_versions);
    }

    #[test]
    fn manifests_say_nothing_twice() {
        holds(manifests::inherited);
    }

    #[test]
    fn imports_run_one_way() {
        holds(imports::circles);
    }

    #[test]
    fn old_spellings_live_in_one_place() {
        holds(words::old_spellings);
    }

    #[test]
    fn limits_are_named_as_such() {
        holds(names::limits);
    }

    #[test]
    fn tests_are_named_without_ordinals() {
        holds(names::test_names);
    }

    #[test]
    fn a_type_name_is_defined_in_few_files() {
        holds(names::shared);
    }

    #[test]
    fn retired_terms_name_nothing() {
        holds(names::retired);
    }

    #[test]
    fn retired_participles_name_no_value() {
        holds(names::values);
    }
}
