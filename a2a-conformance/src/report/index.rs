//! Index of several runs: a page with their scores, and the page and a copy of each run.

use std::path::{Path, PathBuf};

use super::form::write_file;
use super::html::index_page;
use super::{Error, html, json};
use crate::record::Run;
use crate::record::visible::head;

/// Writes `index.html` into a directory, and for each run its page and its JSON, which are named after its target.
/// Returns the path of `index.html`.
///
/// Every text is made before the first file is written, and the index is written last.
pub fn write_index(title: &str, runs: &[Run], directory: &Path) -> Result<PathBuf, Error> {
    let runs: Vec<_> = names(runs).into_iter().zip(runs).collect();
    let index = index_page(title, &runs)?;
    let mut files = Vec::new();
    for (name, run) in &runs {
        files.push((format!("{name}.html"), html(run)?));
        files.push((format!("{name}.json"), json(run)));
    }
    for (file, text) in &files {
        write_file(directory, file, text)?;
    }
    write_file(directory, INDEX, &index)
}

const INDEX: &str = "index.html";

/// Returns a name for the files of each run: its target's, with a number if an earlier run has the same.
fn names(runs: &[Run]) -> Vec<String> {
    let mut taken = vec!["index".to_owned()];
    for run in runs {
        let name = file_name(&run.target.title());
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        taken.extend(free.find(|name| !taken.contains(name)));
    }
    taken.split_off(1)
}

/// Returns the words of a title as a file name: lower-case ASCII letters and digits, joined by hyphens.
fn file_name(title: &str) -> String {
    let words = title.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join("-").to_ascii_lowercase();
    match head(&name, MAX_NAME).0.trim_end_matches('-') {
        "" => "run".to_owned(),
        name => name.to_owned(),
    }
}

/// Limit of a file name, in bytes, without number and extension.
const MAX_NAME: usize = 64;
