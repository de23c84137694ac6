//! The book: `docs/` as pages for a browser.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// Builds the book into `target/book`.
///
/// Errors: mdBook is not installed, or cannot build the book.
pub(crate) fn book() -> Result<(), String> {
    let root = workspace::root();
    let target = workspace::target();
    let (pages, output) = (target.join("book-pages"), target.join("book"));
    // Pages that are gone.
    let _ = fs::remove_dir_all(&pages);
    copy(&root.join("docs"), Path::new("docs"), &pages)?;
    let built = Command::new("mdbook")
        .arg("build")
        .arg("--dest-dir")
        .arg(&output)
        .arg(&pages)
        .status();
    let built = built.map_err(|error| {
        format!("mdbook cannot be run: {error}; install it with `cargo install --locked mdbook`")
    })?;
    if !built.success() {
        return Err(format!("mdbook ended with {built}"));
    }
    println!("{}", output.join("introduction.html").display());
    Ok(())
}

/// Copies a folder of the repository. Links of its pages that leave the book lead to the repository.
fn copy(from: &Path, place: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let (from, place, to) = (from.join(&name), place.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &place, &to)?;
        } else if from.extension().is_some_and(|extension| extension == "md") {
            let page = fs::read_to_string(&from).map_err(failed)?;
            fs::write(&to, with_links(&page, &place)).map_err(failed)?;
        } else {
            fs::copy(&from, &to).map_err(failed)?;
        }
    }
    Ok(())
}

/// Returns a page with links to the repository in place of relative links that leave the book.
fn with_links(page: &str, place: &Path) -> String {
    let mut parts = page.split("](");
    let mut rewritten = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rewritten.push_str("](");
        let (target, rest) = part.split_at(part.find(')').unwrap_or(0));
        match outside(target, place) {
            Some(path) => rewritten.push_str(&format!("{REPOSITORY}{}", path.display())),
            None => rewritten.push_str(target),
        }
        rewritten.push_str(rest);
    }
    rewritten
}

/// Returns the path in the repository of a relative link that leaves the book.
fn outside(target: &str, place: &Path) -> Option<PathBuf> {
    if !target.starts_with("..") {
        return None;
    }
    let mut path = place.parent()?.to_owned();
    for component in Path::new(target).components() {
        match component {
            Component::ParentDir => _ = path.pop(),
            component => path.push(component),
        }
    }
    (!path.starts_with("docs")).then_some(path)
}

const REPOSITORY: &str = "https://github.com/a2a-rust/a2a/blob/main/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_book_lead_to_the_repository() {
        let page = "[a](limits.md#b), [c](../calling-agents.md), [d](../../examples/client.rs), [e](https://f.example)";
        let expected = page.replace("../../", REPOSITORY);
        assert_eq!(with_links(page, Path::new("docs/reference/x.md")), expected);
    }
}
