//! Forms of a report and their files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tempfile::NamedTempFile;

use super::json::JSON_FILE;
use super::{Error, badge, html, json, junit, markdown};
use crate::record::Run;

/// A form of a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Form {
    /// All of it, for programs: `report.json`.
    Json,
    /// A page: `report.html`.
    Html,
    /// For build servers: `junit.xml`.
    Junit,
    /// For the page of a build: `summary.md`.
    Md,
    /// For shields.io: `badge.json`.
    Badge,
}

impl Form {
    /// Returns the name of its file.
    pub fn file(self) -> &'static str {
        match self {
            Self::Json => JSON_FILE,
            Self::Html => "report.html",
            Self::Junit => "junit.xml",
            Self::Md => "summary.md",
            Self::Badge => "badge.json",
        }
    }

    /// Returns a run in this form.
    pub fn text(self, run: &Run) -> Result<String, Error> {
        match self {
            Self::Json => Ok(json(run)),
            Self::Html => html(run),
            Self::Junit => junit(run),
            Self::Md => Ok(markdown(run)),
            Self::Badge => Ok(format!("{:#}\n", badge(run))),
        }
    }
}

/// Checks that reports can be written into a directory, before the run starts.
pub fn prepare(directory: &Path) -> Result<(), Error> {
    let tried = fs::create_dir_all(directory).and_then(|()| NamedTempFile::new_in(directory));
    match tried {
        Ok(_) => Ok(()),
        Err(source) => Err(Error::Directory {
            path: directory.to_owned(),
            source,
        }),
    }
}

/// Writes a run into a directory, in one form: atomically.
pub fn write(run: &Run, form: Form, directory: &Path) -> Result<PathBuf, Error> {
    write_file(directory, form.file(), &form.text(run)?)
}

/// Writes a file into a directory, atomically: its readers see the old text or the new one.
pub(super) fn write_file(directory: &Path, name: &str, text: &str) -> Result<PathBuf, Error> {
    let path = directory.join(name);
    let write = || {
        fs::create_dir_all(directory)?;
        let mut file = NamedTempFile::new_in(directory)?;
        file.write_all(text.as_bytes())?;
        readable(&file)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)
    };
    match write() {
        Ok(_) => Ok(path),
        Err(source) => Err(Error::Write { path, source }),
    }
}

/// Makes a report readable by all: temporary files are readable by their owner only.
#[cfg(unix)]
fn readable(file: &NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &NamedTempFile) -> std::io::Result<()> {
    Ok(())
}
