//! Rules about prose: the opening words of headers and doc comments.

use super::sources::Source;
use super::{Violation, Workspace};

/// Words that open a relative clause, which names nothing: a header is a noun phrase, the first line of a function's
/// documentation a verb phrase.
const OPENINGS: &[&str] = &[
    "What", "Whatever", "When", "Where", "Wherever", "Whether", "Which", "Who", "Whoever", "Whom",
    "Whose", "Why", "How", "However",
];

/// No module header and no doc comment opens with a relative clause.
pub(super) fn openings(workspace: &Workspace) -> Vec<Violation> {
    let sources = workspace.sources.iter().filter(|source| source.is_rust());
    sources.flat_map(judge).collect()
}

fn judge(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut continues = false;
    for (number, line) in source.lines() {
        let text = documentation(line);
        let first = text.filter(|_| !continues);
        continues = text.is_some();
        let opening = first.and_then(|text| text.split(|it: char| !it.is_alphabetic()).next());
        if let Some(word) = opening.filter(|word| OPENINGS.contains(word)) {
            let problem = format!("`{word} …`: name the thing, or say what the function does");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// Returns the text of a line that documents something.
fn documentation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("//!").or(line.strip_prefix("///"))?;
    Some(text.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_clause_is_found_where_a_comment_begins() {
        let text = "//! What is here.\n//! Who else.\n\n/// Reads it.\n/// Which one?\nfn f() {}\n    /// Whether it is.\n    b: bool,\n/// Whichever.\n/// How";
        let found = judge(&Source::new("a.rs", text));
        let lines: Vec<_> = found.iter().map(Violation::to_string).collect();
        let says = "name the thing, or say what the function does";
        assert_eq!(
            lines,
            [
                format!("a.rs:1: `What …`: {says}"),
                format!("a.rs:7: `Whether …`: {says}"),
            ]
        );
    }
}
