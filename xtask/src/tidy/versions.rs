//! Limits on the code of one protocol version, and of the promises of a store.

use super::sources::Source;
use super::{Violation, Workspace};

/// A folder, and the most lines that it has without tests.
struct Limit {
    folder: &'static str,
    max_lines: usize,
}

/// The versions before 1.0, which is the canonical model itself. The code that versions share is not a
/// version's own: it is written once, in `a2a-types/src/pre_1_0/`. Version 0.3 has two forms of JSON.
/// Most promises of a store are checked by a model, not by a case of their own.
#[rustfmt::skip]
const LIMITS: &[Limit] = &[
    Limit { folder: "a2a-types/src/v0_1/", max_lines: 1_270 },
    Limit { folder: "a2a-types/src/v0_2/", max_lines: 1_320 },
    Limit { folder: "a2a-types/src/v0_3/", max_lines: 1_490 },
    Limit { folder: "a2a-server/src/store/suite/", max_lines: 2_560 },
];

/// No folder has more lines than its limit.
pub(super) fn lengths(workspace: &Workspace) -> Vec<Violation> {
    judge(&workspace.sources, LIMITS)
}

fn judge(sources: &[Source], limits: &[Limit]) -> Vec<Violation> {
    let too_long = limits.iter().filter_map(|limit| {
        let of_version =
            |source: &&Source| source.is_rust() && source.path.starts_with(limit.folder);
        let lines = sources.iter().filter(of_version).map(without_tests).sum();
        let problem = match lines {
            0 => "no such folder, yet it has a limit".to_owned(),
            lines if lines > limit.max_lines => format!(
                "{lines} lines without tests, more than {}: share what repeats",
                limit.max_lines
            ),
            _ => return None,
        };
        Some(Violation::new(limit.folder, problem))
    });
    too_long.collect()
}

/// Returns the number of lines before the tests.
fn without_tests(source: &Source) -> usize {
    let tests = source.tests_from();
    source.lines().filter(|(number, _)| *number < tests).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_too_long_is_found_and_tests_do_not_count() {
        let limit = |folder, max_lines| Limit { folder, max_lines };
        let sources = [
            Source::new("v1/a.rs", "one\ntwo\n#[cfg(test)]\nmod tests {\nfive"),
            Source::new("v1/b/c.rs", "one\n\n// three"),
            Source::new("v1/b/tests.rs", "one"),
            Source::new("v1/b.md", "one"),
            Source::new("v11/a.rs", "one"),
        ];
        let check = |limit, expected: &[&str]| {
            let found = judge(&sources, &[limit]);
            let found: Vec<_> = found.iter().map(Violation::to_string).collect();
            assert_eq!(found, expected);
        };
        check(limit("v1/", 5), &[]);
        let long = "v1/: 5 lines without tests, more than 4: share what repeats";
        check(limit("v1/", 4), &[long]);
        check(
            limit("v2/", 4),
            &["v2/: no such folder, yet it has a limit"],
        );
    }
}
