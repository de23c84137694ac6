//! Imports between the files of a crate.

mod modules;
mod tokens;

use std::collections::{BTreeMap, VecDeque};

use self::modules::{Arrows, Modules};
use super::sources::Source;
use super::{Violation, Workspace};

/// Imports run one way: no file of a crate imports, directly or not, from one that imports from it. Tests
/// are left out; so are programs in `src/bin`.
pub(super) fn circles(workspace: &Workspace) -> Vec<Violation> {
    let judged = PACKAGES.iter();
    judged
        .flat_map(|package| judge(&workspace.sources, package))
        .collect()
}

fn judge(sources: &[Source], package: &str) -> Vec<Violation> {
    let root = format!("{package}/src/");
    let is_program = |source: &Source| source.path[root.len()..].starts_with("bin/");
    let of_package = sources
        .iter()
        .filter(|source| source.is_rust() && source.path.starts_with(&root) && !is_program(source));
    let mut arrows = Modules::read(of_package, &root).arrows();
    let mut violations = Vec::new();
    while let Some((from, back)) = first_circle(&arrows) {
        let circle: Vec<_> = back.iter().map(|file| &file[root.len()..]).collect();
        let names = arrows.remove(&(from.clone(), back[0].clone()));
        let names: Vec<_> = names.into_iter().flatten().collect();
        let problem = format!(
            "imports {} from {}: a circle",
            names.join(", "),
            circle.join(" → ")
        );
        violations.push(Violation::new(from, problem));
    }
    violations
}

/// Returns a file, and the way from a file that it imports back to it; the shortest such circle.
fn first_circle(arrows: &Arrows) -> Option<(String, Vec<String>)> {
    let circles = arrows
        .keys()
        .filter_map(|(from, to)| Some((from.clone(), way(arrows, to, from)?)));
    circles.min_by_key(|(_, back)| back.len())
}

/// Returns the shortest way along arrows, both ends included.
fn way(arrows: &Arrows, from: &str, to: &str) -> Option<Vec<String>> {
    let mut before = BTreeMap::from([(from, None)]);
    let mut queue = VecDeque::from([from]);
    while let Some(file) = queue.pop_front() {
        if file == to {
            let steps = std::iter::successors(Some(file), |file| before[file]);
            let mut way: Vec<_> = steps.map(str::to_owned).collect();
            way.reverse();
            return Some(way);
        }
        let imported = arrows.keys().filter(|(importer, _)| importer == file);
        for (_, next) in imported {
            if !before.contains_key(next.as_str()) {
                before.insert(next, Some(file));
                queue.push_back(next);
            }
        }
    }
    None
}

/// The packages of which this holds.
const PACKAGES: &[&str] = &[
    "a2a-client",
    "a2a-jsonrpc",
    "a2a-server",
    "a2a-transport",
    "a2a-types",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let source = |(path, text): &(&str, &str)| Source::new(format!("p/src/{path}"), *text);
        let sources: Vec<_> = files.iter().map(source).collect();
        let violations = judge(&sources, "p");
        let lines: Vec<_> = violations.iter().map(Violation::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_circle_is_found_through_reexports() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;"),
            ("a.rs", "use crate::b::B;\npub struct A(B);"),
            ("b.rs", "pub struct B;\nfn of(a: &crate::A) {}"),
        ];
        let found = "p/src/a.rs: imports B from b.rs → a.rs: a circle";
        check(&files, &[found]);
        check(&files[..2], &[]);
    }

    #[test]
    fn a_module_that_hands_names_on_is_no_part_of_a_circle() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nmod c;\npub use self::c::C;"),
            ("a/b.rs", "use super::C;\npub(super) fn make() -> C { C }"),
            ("a/c.rs", "pub struct C;"),
        ];
        check(&files, &[]);
    }

    #[test]
    fn a_module_that_uses_the_names_it_hands_on_is_part_of_a_circle() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod c;\npub use self::c::C;\npub struct A(C);"),
            ("a/c.rs", "use super as above;\npub struct C(above::A);"),
        ];
        let found = "p/src/a/c.rs: imports A from a/mod.rs → a/c.rs: a circle";
        check(&files, &[found]);
    }

    #[test]
    fn tests_close_no_circles() {
        let files = [
            ("lib.rs", "mod a;\nmod b;"),
            (
                "a.rs",
                "use crate::b::B;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use crate::b; }",
            ),
            ("a/tests.rs", "use super::*;\nuse crate::b::Test;"),
            ("b.rs", "#[cfg(test)]\nuse crate::a::A;\npub struct B;"),
        ];
        check(&files, &[]);
    }
}
