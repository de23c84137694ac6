//! Programs of tests that passed, and whether anything that they depend on has changed since.
//!
//! A program holds if it was built before it last passed, and no file of its package, or of the packages
//! of the workspace that it depends on, was touched after that. Tests of `xtask` and of `a2a-types` look at
//! files of the whole workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::{Failure, workspace};

/// Start of the last run in which each program passed, in milliseconds since 1970.
pub(super) struct PassRecord {
    file: PathBuf,
    programs: BTreeMap<PathBuf, u64>,
    /// The last change of each package and of what it depends on.
    changed: BTreeMap<PathBuf, SystemTime>,
}

impl PassRecord {
    /// Reads what the last run kept below `root`; what cannot be read holds for nothing.
    pub(super) fn read(root: &Path) -> Self {
        let file = root.join("target/xtask/passed.json");
        let kept = fs::read(&file).unwrap_or_default();
        Self {
            file,
            programs: serde_json::from_slice(&kept).unwrap_or_default(),
            changed: changes(root).unwrap_or_default(),
        }
    }

    /// Returns whether a program of this package would pass again.
    pub(super) fn holds(&self, package: &Path, program: &Path) -> bool {
        let Some(millis) = self.programs.get(program) else {
            return false;
        };
        let passed = UNIX_EPOCH + Duration::from_millis(*millis);
        let built = modified(program);
        let changed = self.changed.get(package).copied();
        built.is_some_and(|at| at < passed) && changed.is_some_and(|at| at < passed)
    }

    /// Records that a program passed that was started after `begun`.
    pub(super) fn keep(&mut self, program: &Path, begun: SystemTime) {
        let millis = begun.duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = millis.as_millis().try_into().unwrap_or(0);
        self.programs.insert(program.to_owned(), millis);
    }

    /// Records that a program failed: it does not hold, even if it passed before.
    pub(super) fn forget(&mut self, program: &Path) {
        self.programs.remove(program);
    }

    /// Keeps it for the next run.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let text = serde_json::to_vec(&self.programs).map_err(|error| error.to_string())?;
        let directory = self.file.parent().expect("the file lies in a directory");
        let written = fs::create_dir_all(directory).and_then(|()| fs::write(&self.file, text));
        written.map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

/// The last change of each package of the workspace.
fn changes(root: &Path) -> Option<BTreeMap<PathBuf, SystemTime>> {
    let mut cargo = workspace::cargo();
    cargo.args(["metadata", "--no-deps", "--format-version=1"]);
    let metadata: Value = serde_json::from_slice(&cargo.output().ok()?.stdout).ok()?;
    let packages = metadata["packages"].as_array()?;
    let packages: BTreeMap<PathBuf, Vec<PathBuf>> = packages.iter().filter_map(package).collect();
    let shared = ["Cargo.toml", "Cargo.lock"].map(|name| modified(&root.join(name)));
    let shared = shared.into_iter().flatten().max()?;
    let own: BTreeMap<_, _> = packages
        .keys()
        .map(|package| (package, last_change(package, &packages)))
        .collect();
    let last = |package: &PathBuf| match READ_ALL.iter().any(|it| package.ends_with(it)) {
        true => own.values().copied().max(),
        false => needed(package, &packages)
            .into_iter()
            .map(|it| own.get(it).copied())
            .max()?,
    };
    let dated = packages.keys().filter_map(|package| {
        let last = last(package)?;
        Some((package.clone(), last.max(shared)))
    });
    Some(dated.collect())
}

/// Packages whose tests look at files of all others.
const READ_ALL: &[&str] = &["a2a-types", "xtask"];

/// Returns the directory of a package, and those of its dependencies that have a path.
fn package(package: &Value) -> Option<(PathBuf, Vec<PathBuf>)> {
    let manifest = Path::new(package["manifest_path"].as_str()?);
    let dependencies = package["dependencies"].as_array()?.iter();
    let paths = dependencies.filter_map(|it| it["path"].as_str().map(PathBuf::from));
    Some((manifest.parent()?.to_owned(), paths.collect()))
}

/// A package and all that it depends on.
fn needed<'p>(
    package: &'p PathBuf,
    packages: &'p BTreeMap<PathBuf, Vec<PathBuf>>,
) -> BTreeSet<&'p PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![package];
    while let Some(package) = open.pop() {
        if found.insert(package) {
            open.extend(packages.get(package).into_iter().flatten());
        }
    }
    found
}

/// Returns the time of the last change of a file or directory below this one, without the packages that lie in it;
/// now, if it cannot be read.
fn last_change(directory: &Path, packages: &BTreeMap<PathBuf, Vec<PathBuf>>) -> SystemTime {
    let Ok(entries) = fs::read_dir(directory) else {
        return SystemTime::now();
    };
    let own = modified(directory);
    let below = entries.flatten().filter_map(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                let is_own = entry.file_name() != "target" && !packages.contains_key(&path);
                is_own.then(|| last_change(&path, packages))
            }
            _ => modified(&path),
        }
    });
    below.chain(own).max().unwrap_or_else(SystemTime::now)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|it| it.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_holds_until_something_it_depends_on_changes() {
        let program = std::env::current_exe().expect("this program has a path");
        let built = modified(&program).expect("this program is a file");
        let [before, after, later] = [-1, 1, 2].map(|seconds: i64| {
            let step = Duration::from_secs(seconds.unsigned_abs());
            if seconds < 0 {
                built - step
            } else {
                built + step
            }
        });
        let package = PathBuf::from("p");
        let holds = |passed, changed| {
            let mut kept = PassRecord {
                file: PathBuf::new(),
                programs: BTreeMap::new(),
                changed: BTreeMap::from([(package.clone(), changed)]),
            };
            kept.keep(&program, passed);
            kept.holds(&package, &program)
        };
        assert!(holds(after, before), "nothing changed");
        assert!(!holds(after, later), "a file changed");
        assert!(!holds(before, before), "it was built again");
    }

    #[test]
    fn a_package_changes_with_what_it_depends_on() {
        let path = PathBuf::from;
        let packages = BTreeMap::from([
            (path("server"), vec![path("transport")]),
            (path("transport"), vec![path("types")]),
            (path("types"), vec![]),
            (path("client"), vec![path("types")]),
        ]);
        let found = needed(&path("server"), &packages)
            .into_iter()
            .cloned()
            .collect::<Vec<_>>();
        assert_eq!(found, [path("server"), path("transport"), path("types")]);
    }

    #[test]
    fn a_package_does_not_change_with_a_package_that_lies_in_it() {
        let outer = tempfile::tempdir().expect("a directory is made");
        let inner = outer.path().join("inner");
        fs::create_dir(&inner).expect("a directory is made");
        let packages = BTreeMap::from([(inner.clone(), vec![])]);
        let before = last_change(outer.path(), &packages);
        fs::write(inner.join("lib.rs"), "").expect("a file is written");
        let later = before + Duration::from_secs(1);
        fs::File::open(&inner)
            .and_then(|it| it.set_modified(later))
            .expect("a time is set");
        assert_eq!(last_change(outer.path(), &packages), before);
        assert_eq!(last_change(outer.path(), &BTreeMap::new()), later);
    }

    #[test]
    fn the_packages_of_this_workspace_have_changed_at_some_time() {
        let changes = changes(workspace::root()).expect("Cargo tells of the workspace");
        assert!(changes.contains_key(&workspace::root().join("a2a-types")));
    }
}
