//! Imports between the files of a crate.

mod modules;
mod tokens;

use std::collections::{BTreeMap, VecDeque};

use self::modules::{Arrows, Modules};
use super::sources::Source;
use super::{Violation, Workspace};

/// An import that closes a circle and has not been removed yet.
struct Known {
    package: &'static str,
    from: &'static str,
    to: &'static str,
}

/// Imports run one way: no file of a crate imports, directly or not, from one that imports from it. Tests
/// are left out; so are programs in `src/bin`.
pub(super) fn circles(workspace: &Workspace) -> Vec<Violation> {
    let judged = PACKAGES.iter().flat_map(|package| {
        let known = KNOWN.iter().filter(|known| known.package == *package);
        judge(&workspace.sources, package, known)
    });
    judged.collect()
}

fn judge<'a>(
    sources: &[Source],
    package: &str,
    known: impl Iterator<Item = &'a Known>,
) -> Vec<Violation> {
    let root = format!("{package}/src/");
    let is_program = |source: &Source| source.path[root.len()..].starts_with("bin/");
    let of_package = sources
        .iter()
        .filter(|source| source.is_rust() && source.path.starts_with(&root) && !is_program(source));
    let mut arrows = Modules::read(of_package, &root).arrows();
    let mut violations = Vec::new();
    let mut excepted = Vec::new();
    for Known { from, to, .. } in known {
        let arrow = (format!("{root}{from}"), format!("{root}{to}"));
        if !arrows.contains_key(&arrow) || way(&arrows, &arrow.1, &arrow.0).is_none() {
            let problem = format!("closes no circle with {to} any more, yet it is excepted");
            violations.push(Violation::new(&arrow.0, problem));
        }
        excepted.push(arrow);
    }
    for arrow in excepted {
        arrows.remove(&arrow);
    }
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

/// The imports that close circles: none is added, and one that is gone leaves this list.
#[rustfmt::skip]
const KNOWN: &[Known] = &[
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], known: &[Known], expected: &[&str]) {
        let source = |(path, text): &(&str, &str)| Source::new(format!("p/src/{path}"), *text);
        let sources: Vec<_> = files.iter().map(source).collect();
        let violations = judge(&sources, "p", known.iter());
        let lines: Vec<_> = violations.iter().map(Violation::to_string).collect();
        assert_eq!(lines, expected);
    }

    const FROM_B: Known = Known {
        package: "p",
        from: "b.rs",
        to: "a.rs",
    };

    const CIRCLE: &[(&str, &str)] = &[
        ("lib.rs", "mod a;\nmod b;\npub use a::A;"),
        ("a.rs", "use crate::b::B;\npub struct A(B);"),
        ("b.rs", "pub struct B;\nfn of(a: &crate::A) {}"),
    ];

    #[test]
    fn a_circle_is_found_through_reexports() {
        let found = "p/src/a.rs: imports B from b.rs → a.rs: a circle";
        check(CIRCLE, &[], &[found]);
    }

    #[test]
    fn a_known_circle_is_excepted_until_it_is_gone() {
        check(CIRCLE, &[FROM_B], &[]);
        let gone = "p/src/b.rs: closes no circle with a.rs any more, yet it is excepted";
        check(&CIRCLE[..2], &[FROM_B], &[gone]);
    }

    #[test]
    fn a_module_that_hands_names_on_is_no_part_of_a_circle() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nmod c;\npub use self::c::C;"),
            ("a/b.rs", "use super::C;\npub(super) fn make() -> C { C }"),
            ("a/c.rs", "pub struct C;"),
        ];
        check(&files, &[], &[]);
    }

    #[test]
    fn a_module_that_uses_the_names_it_hands_on_is_part_of_a_circle() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod c;\npub use self::c::C;\npub struct A(C);"),
            ("a/c.rs", "use super as above;\npub struct C(above::A);"),
        ];
        let found = "p/src/a/c.rs: imports A from a/mod.rs → a/c.rs: a circle";
        check(&files, &[], &[found]);
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
        check(&files, &[], &[]);
    }
}
