//! Phrases that a reader stumbles over, in comments and documents.

use crate::sources::{self, Source};

/// Phrases, and how to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("those that ", "name what they are: `requests that …`"),
    ("those of ", "name what they are: `the headers of …`"),
    ("those who ", "name the actor: `callers who …`"),
    ("so many ", "name the number: `limit`, `count`"),
    ("nobody ", "name the actor: `no caller`"),
    ("somebody ", "name the actor: `another caller`"),
    (" anew", "`again`"),
    (" beside ", "`next to`, `besides`, `compared with`"),
];

/// Words with which no module header and no documentation of an item begins.
const OPENINGS: &[&str] = &["How", "Of", "What", "Whether", "Who", "Whom", "Whose"];

#[test]
fn comments_and_documents_have_no_forbidden_phrase() {
    let mut found = Vec::new();
    for source in sources::read(".rs") {
        judge(&source, comment, &mut found);
    }
    for source in sources::read(".md") {
        judge(&source, |line| Some(line), &mut found);
    }
    assert!(
        found.is_empty(),
        "{} places:\n{}",
        found.len(),
        found.join("\n")
    );
}

fn judge(source: &Source, prose: fn(&str) -> Option<&str>, found: &mut Vec<String>) {
    let mut continues = false;
    for (index, line) in source.text.lines().enumerate() {
        let place = || format!("{}:{}", source.path, index + 1);
        let Some(text) = prose(line) else {
            continues = false;
            continue;
        };
        for (phrase, instead) in PHRASES {
            if text.contains(phrase) {
                found.push(format!("{}: `{}`: {instead}", place(), phrase.trim()));
            }
        }
        let is_documentation = line.trim_start().starts_with("///") || line.starts_with("//!");
        let first = text.split(' ').next().unwrap_or_default();
        if is_documentation && !continues && OPENINGS.contains(&first) {
            found.push(format!("{}: opens with `{first}`", place()));
        }
        continues = is_documentation;
    }
}

/// Returns the text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim_start())
}
