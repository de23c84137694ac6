//! Links between the documents of the workspace.

use std::path::Path;

use super::sources::Source;
use super::{Violation, Workspace};
use crate::workspace;

/// Every relative link of a Markdown document leads to a file or folder that is there.
pub(super) fn relative(workspace: &Workspace) -> Vec<Violation> {
    let documents = workspace.sources.iter();
    let documents = documents.filter(|source| source.path.ends_with(".md"));
    documents
        .flat_map(|source| broken(source, workspace::root()))
        .collect()
}

fn broken(source: &Source, root: &Path) -> Vec<Violation> {
    let folder = root.join(&source.path);
    let folder = folder.parent().unwrap_or(root);
    let mut violations = Vec::new();
    for (number, line) in source.lines() {
        for target in targets(line).filter(|target| !folder.join(target).exists()) {
            let problem = format!("{target} is linked to, and is not there");
            violations.push(Violation::new(format!("{}:{number}", source.path), problem));
        }
    }
    violations
}

/// The paths in the `[text](path#heading)` of a line; links to other sites and within the page are left out.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1);
    let links = links.filter_map(|link| Some(link.split_once(')')?.0));
    let paths = links.map(|link| link.split_once('#').map_or(link, |(path, _)| path));
    paths.filter(|path| !path.is_empty() && !path.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let line = "[a](https://a2a.dev/x) [b](#b), [c](Cargo.toml#c) and [d](docs/nowhere.md)";
        let found = broken(&Source::new("README.md", line), workspace::root());
        let problem = "docs/nowhere.md is linked to, and is not there".to_owned();
        assert_eq!(found, [Violation::new("README.md:1".to_owned(), problem)]);
    }
}
