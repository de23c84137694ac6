//! Rules about manifests: what all crates have in common stands once, in the workspace's.

use super::sources::Source;
use super::{Violation, Workspace};

/// Lines that a crate's manifest must contain, each as a whole.
const INHERITED: &[&str] = &[
    "version.workspace = true",
    "edition.workspace = true",
    "rust-version.workspace = true",
    "license.workspace = true",
    "publish.workspace = true",
    "[lints]\nworkspace = true",
];

/// Lines that the workspace's manifest must contain.
const COMMON: &[&str] = &[
    "[workspace.package]",
    "[workspace.lints.rust]",
    "publish = false",
];

/// Lines that the manifest of a workspace inside this one must contain, which inherits nothing.
const APART: &[&str] = &["publish = false", "unsafe_code = \"forbid\""];

/// Every crate inherits what the workspace says, and the workspace says it.
pub(super) fn inherited(workspace: &Workspace) -> Vec<Violation> {
    let manifests = || {
        workspace
            .sources
            .iter()
            .filter(|source| source.is_manifest())
    };
    manifests().flat_map(lacks).collect()
}

fn lacks(manifest: &Source) -> impl Iterator<Item = Violation> {
    let text = format!("\n{}\n", manifest.text);
    let lines = match manifest.path.as_str() {
        "Cargo.toml" => COMMON,
        _ if text.contains("\n[workspace]\n") => APART,
        _ => INHERITED,
    };
    let lacks = move |line: &&&str| !text.contains(&format!("\n{line}\n"));
    lines.iter().filter(lacks).map(|line| {
        let line = line.replace('\n', " ");
        Violation::new(&manifest.path, format!("lacks `{line}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_inherited_is_found() {
        let inheriting = INHERITED.join("\n");
        let check = |path: &str, text: &str, expected: &[&str]| {
            let manifest = Source::new(path, text);
            let found: Vec<_> = lacks(&manifest)
                .map(|violation| violation.to_string())
                .collect();
            assert_eq!(found, expected);
        };
        check("a/Cargo.toml", &inheriting, &[]);
        check(
            "a/Cargo.toml",
            &inheriting.replace("edition.workspace = true", "edition = \"2021\""),
            &["a/Cargo.toml: lacks `edition.workspace = true`"],
        );
        check("Cargo.toml", &COMMON.join("\n"), &[]);
        check(
            "a/b/Cargo.toml",
            "[workspace]\npublish = false",
            &["a/b/Cargo.toml: lacks `unsafe_code = \"forbid\"`"],
        );
    }
}
