//! Links between the documents of the workspace.

use crate::sources::{self, root};

#[test]
fn relative_links_of_documents_lead_to_files() {
    let mut broken = Vec::new();
    for document in sources::read(".md") {
        let path = root().join(&document.path);
        let folder = path.parent().expect("a file lies in a folder");
        for link in document.text.split("](").skip(1) {
            let target = link.split([')', '#', ' ']).next().unwrap_or_default();
            if !target.contains(':') && !folder.join(target).exists() {
                broken.push(format!("{}: {target}", document.path));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

/// The facade's `pages!` makes the Rust blocks of a page tests.
#[test]
fn pages_with_rust_blocks_are_tested() {
    let facade = std::fs::read_to_string(root().join("src/lib.rs")).expect("the facade");
    let pages = sources::read(".md");
    let untested: Vec<_> = pages
        .iter()
        .filter(|page| page.path.starts_with("docs/") && page.text.contains("```rust"))
        .filter(|page| !facade.contains(&format!("\"../{}\"", page.path)))
        .map(|page| &page.path)
        .collect();
    assert!(untested.is_empty(), "not in src/lib.rs: {untested:?}");
}

/// Each page is in the table of contents.
#[test]
fn the_book_has_every_page() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the contents");
    let pages = sources::read(".md");
    let missing: Vec<_> = pages
        .iter()
        .filter_map(|page| page.path.strip_prefix("docs/"))
        .filter(|page| *page != "SUMMARY.md" && !contents.contains(&format!("({page})")))
        .collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}
