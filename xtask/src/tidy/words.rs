//! Old spellings of protocol versions, and where they may be written.

use super::sources::Source;
use super::{Violation, Workspace};

/// Spellings of protocol versions before 1.0 that 1.0 has changed.
const OLD_SPELLINGS: &[&str] = &[
    "\"message/send\"",
    "\"tasks/send\"",
    "\"tasks/sendSubscribe\"",
    "sessionId",
    "\"kind\"",
    "\"blocking\"",
    "\"final\"",
];

/// Places of old spellings; tests may write them anywhere.
const OLD_PLACES: &[&str] = &[
    "a2a-types/src/v0_1/",
    "a2a-types/src/v0_2/",
    "a2a-types/src/v0_3/",
    "a2a-types/src/pre_1_0/",
    "a2a-types/src/method.rs",
    "a2a-types/src/reading/salvage.rs",
    "a2a-types/src/schema",
    "a2a-conformance/",
    // The API of the inspector has a member of that name.
    "a2a-client/inspector/src/proxy/fault.rs",
    THIS,
];

/// This file names what it forbids.
const THIS: &str = "xtask/src/tidy/words.rs";

/// Old spellings stay where they are translated.
pub(super) fn old_spellings(workspace: &Workspace) -> Vec<Violation> {
    let elsewhere = |source: &&Source| {
        source.is_rust()
            && !OLD_PLACES
                .iter()
                .any(|place| source.path.starts_with(place))
    };
    workspace
        .sources
        .iter()
        .filter(elsewhere)
        .flat_map(spelled_old)
        .collect()
}

fn spelled_old(source: &Source) -> Vec<Violation> {
    let tests = source.tests_from();
    let mut violations = Vec::new();
    for (number, line) in source.code().filter(|(number, _)| *number < tests) {
        for word in OLD_SPELLINGS.iter().filter(|word| line.contains(**word)) {
            let problem = format!("{word} is an old spelling");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Vec<Violation>, expected: &[&str]) {
        let found: Vec<_> = found.iter().map(Violation::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn old_spellings_are_found_in_code_that_is_no_test() {
        let text = "// \"kind\"\nlet kind = \"kind\";\n#[cfg(test)]\nmod tests {\n\"final\"";
        let expected = ["a/src/b.rs:2: \"kind\" is an old spelling"];
        check(spelled_old(&Source::new("a/src/b.rs", text)), &expected);
        check(spelled_old(&Source::new("a/tests/b.rs", text)), &[]);
    }
}
