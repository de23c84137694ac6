//! Circles of imports between the files of a crate.

use std::collections::{BTreeMap, VecDeque};

use crate::modules::{Arrows, Modules};
use crate::sources::{self, Source};

/// No file of a crate imports, directly or not, from a file that imports from it. Tests and programs in `src/bin` are
/// not looked at.
#[test]
fn imports_of_every_crate_have_no_circle() {
    let sources = sources::read(".rs");
    let roots = sources::roots();
    let found = roots.iter().flat_map(|root| circles(&sources, root));
    let found: Vec<_> = found
        .map(|(arrow, back)| format!("{arrow}\n    back: {back}"))
        .collect();
    assert!(
        found.is_empty(),
        "{} imports are part of a circle:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Returns every import that is part of a circle, with the way back.
fn circles(sources: &[Source], root: &str) -> Vec<(String, String)> {
    let arrows = Modules::read(sources, root).arrows();
    let closing = arrows.iter().filter_map(|((from, to), names)| {
        let back = way(&arrows, to, from)?.join(" → ");
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let back = back.replace(root, "");
        Some((
            format!("{from} imports {to}"),
            format!("{back}; imported: {}", names.join(", ")),
        ))
    });
    closing.collect()
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

mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let found = circles(&sources::sample(files), "p/src/");
        let lines: Vec<_> = found.iter().map(|(arrow, _)| arrow.as_str()).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_circle_is_found_through_reexports() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;"),
            ("a.rs", "use crate::b::B;\npub struct A(B);"),
            ("b.rs", "pub struct B;\nfn of(a: &crate::A) {}"),
        ];
        let found = [
            "p/src/a.rs imports p/src/b.rs",
            "p/src/b.rs imports p/src/a.rs",
        ];
        check(&files, &found);
        check(&files[..2], &[]);
    }

    #[test]
    fn a_module_that_hands_names_on_is_not_part_of_a_circle() {
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
        let found = [
            "p/src/a/c.rs imports p/src/a/mod.rs",
            "p/src/a/mod.rs imports p/src/a/c.rs",
        ];
        check(&files, &found);
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
