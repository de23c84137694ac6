//! Rules about names: of tests.

use super::sources::Source;
use super::{Violation, Workspace};

/// A test is named by a plain statement, without an ordinal.
pub(super) fn test_names(workspace: &Workspace) -> Vec<Violation> {
    rust(&workspace.sources).flat_map(tests_in).collect()
}

fn tests_in(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut is_test = false;
    for (number, line) in source.code() {
        let line = line.trim_start();
        if line.starts_with("#[") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            continue;
        }
        let is_named = std::mem::take(&mut is_test);
        let rest = line.strip_prefix("async ").unwrap_or(line);
        let name = rest.strip_prefix("fn ").and_then(|it| it.split('(').next());
        if let Some(name) = name.filter(|name| is_named && has_ordinal(name)) {
            let problem = format!("test `{name}`: say what is expected, without an ordinal");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// `case_3`, `first_case`, `resumes_2`; neither a protocol version as in `of_1_0`, nor the id of a requirement as in
/// `rule_5_1_08_…`.
fn has_ordinal(name: &str) -> bool {
    let words: Vec<_> = name.split('_').collect();
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|it| it.is_ascii_digit());
    let counted = ["case", "test", "part", "step", "scenario", "variant"];
    let is_counted = words
        .windows(2)
        .any(|pair| counted.contains(&pair[0]) && is_number(pair[1]));
    let opens = ["first", "second", "third"].contains(&words[0]) || words[0] == "test";
    let [.., before, last] = words.as_slice() else {
        return opens || is_counted;
    };
    // A number alone, and small: `http_2` and `rfc_8785` are names.
    let named = ["http", "rfc", "tls", "ipv"].contains(before);
    let closes = is_number(last) && last.len() < 3 && !is_number(before) && !named;
    opens || is_counted || closes
}

fn rust(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.is_rust())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_with_an_ordinal_is_found() {
        let names = [
            ("case_3_of_many", true),
            ("first_message", true),
            ("test_1", true),
            ("resumes_2", true),
            ("bodies_of_1_0", false),
            ("rule_5_1_08_history_is_returned", false),
            ("requests_by_http_2", false),
            ("the_first_event_is_the_task", false),
        ];
        for (name, is_found) in names {
            let text = format!("#[test]\n#[should_panic]\nfn {name}() {{}}\nfn test_2() {{}}");
            let found = tests_in(&Source::new("a.rs", text));
            assert_eq!(!found.is_empty(), is_found, "{name}: {found:?}");
            assert!(found.len() < 2, "only tests are judged: {found:?}");
        }
    }
}
