//! Files of the workspace.

use std::fs;
use std::path::Path;

/// A file of the workspace.
pub(crate) struct Source {
    /// Path from the root of the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Returns the directory of the workspace.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace")
}

/// Reads every file whose name has this ending, outside `target` and hidden folders, in the order of their paths.
pub(crate) fn read(ending: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    collect(root(), "", ending, &mut sources);
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources
}

/// Returns files of a package whose folder is `p`, by their paths in `p/src` and their texts.
pub(crate) fn sample(files: &[(&str, &str)]) -> Vec<Source> {
    let sources = files.iter().map(|(path, text)| Source {
        path: format!("p/src/{path}"),
        text: (*text).to_owned(),
    });
    sources.collect()
}

/// Returns the folder of the sources of every package, as in `a2a-server/src/`.
pub(crate) fn roots() -> Vec<String> {
    let manifests = read("Cargo.toml");
    let folders = manifests
        .iter()
        .filter_map(|it| it.path.strip_suffix("Cargo.toml"));
    folders.map(|folder| format!("{folder}src/")).collect()
}

fn collect(directory: &Path, prefix: &str, ending: &str, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(directory).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                collect(&entry.path(), &format!("{path}/"), ending, sources);
            }
        } else if name.ends_with(ending) {
            let text = fs::read_to_string(entry.path()).expect("the file is text");
            sources.push(Source { path, text });
        }
    }
}
