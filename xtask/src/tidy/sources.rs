//! The files that people write, and how long they may be.

use std::fs;
use std::path::Path;

use crate::{Failure, workspace};

/// A file of the workspace.
pub(super) struct Source {
    /// From the root of the workspace, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    pub(super) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(super) fn is_manifest(&self) -> bool {
        self.path == "Cargo.toml" || self.path.ends_with("/Cargo.toml")
    }

    /// Every line with its number.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// The lines that are no comment.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The number of the line where the tests at the end of the file begin.
    pub(super) fn tests_from(&self) -> usize {
        if self.path.contains("/tests/") || self.path.ends_with("/tests.rs") {
            return 0;
        }
        let lines: Vec<_> = self.text.lines().collect();
        let begin = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ");
        lines
            .windows(2)
            .position(begin)
            .map_or(usize::MAX, |index| index + 1)
    }
}

/// Reads every file that people write: Rust, manifests, prose.
pub(super) fn read() -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    collect(workspace::root(), "", &mut sources)?;
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(sources)
}

fn collect(directory: &Path, prefix: &str, sources: &mut Vec<Source>) -> Result<(), Failure> {
    let failure = |error: std::io::Error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(directory).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(failure)?;
        if kind.is_dir() && !name.starts_with('.') && name != "target" {
            collect(&entry.path(), &format!("{path}/"), sources)?;
        } else if kind.is_file() && EXTENSIONS.iter().any(|end| name.ends_with(end)) {
            let text = fs::read_to_string(entry.path()).map_err(failure)?;
            sources.push(Source::new(path, text));
        }
    }
    Ok(())
}

const EXTENSIONS: &[&str] = &[".rs", ".toml", ".md"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_comments_are_distinguished_from_code() {
        let source = Source::new(
            "a/src/b.rs",
            "// one\nlet two = 2;\n#[cfg(test)]\nmod tests {\n    four();",
        );
        let code: Vec<_> = source.code().map(|(number, _)| number).collect();
        assert_eq!(code, [2, 3, 4, 5]);
        assert_eq!(source.tests_from(), 3);
        assert_eq!(Source::new("a/tests/b.rs", "").tests_from(), 0);
        assert_eq!(
            Source::new("a/src/b.rs", "#[cfg(test)]\nuse x;").tests_from(),
            usize::MAX
        );
    }
}
