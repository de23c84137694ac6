//! The page: that it says everything, needs nothing, and is not taken over by what it tells.

use std::path::Path;

use a2a_conformance::report::{Form, Redaction};
use a2a_conformance::run::{Half, Run, Verdict};

use super::{golden, sample};

/// The page of a run; a copy of it is left for people to look at.
fn page(run: &Run, name: &str) -> String {
    let page = Form::Html.text(run).unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    std::fs::write(file, &page).unwrap();
    page
}

#[test]
fn the_page_says_everything() {
    let page = page(&golden::run(), "report");
    assert!(!page.is_empty());
}
