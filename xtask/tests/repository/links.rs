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
