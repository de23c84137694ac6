//! Targets of a release: `a2a-conformance/packages/targets.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::workspace::{self, Failure, VERSION, at};

/// A program of the release.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Package of Cargo.
    pub(super) package: &'static str,
    /// Directory of its wheel.
    pub(super) wheel: &'static str,
    /// Name of its formula.
    pub(super) class: &'static str,
    pub(super) description: &'static str,
}

/// The programs of the release.
pub(super) const PROGRAMS: [Program; 2] = [
    Program {
        name: "a2a",
        package: "agent2agent-cli",
        wheel: "cli",
        class: "A2a",
        description: "Call and serve agents of the Agent2Agent (A2A) protocol",
    },
    Program {
        name: "a2a-conformance",
        package: "agent2agent-conformance",
        wheel: ".",
        class: "A2aConformance",
        description: "Check agents and clients of the Agent2Agent (A2A) protocol",
    },
];

/// Directory with the packages for other package managers.
pub(super) fn packages() -> PathBuf {
    workspace::root().join("a2a-conformance/packages")
}

/// Target that a release has programs for.
#[derive(Deserialize)]
pub(super) struct Target {
    /// Its triple.
    pub(super) target: String,
    /// Tags of its wheels; absent if another target's program is in the packages of pip and npm.
    pub(super) wheel: Option<String>,
}

/// Returns all targets.
pub(super) fn targets() -> Result<Vec<Target>, Failure> {
    let path = packages().join("targets.json");
    let text = fs::read_to_string(&path).map_err(|error| at(&path, error))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

impl Target {
    pub(super) fn find(name: &str) -> Result<Self, Failure> {
        let mut targets = targets()?;
        let index = targets.iter().position(|target| target.target == name);
        let index = index.ok_or_else(|| {
            let known: Vec<_> = targets.iter().map(|target| &*target.target).collect();
            format!(
                "{name} is not a target of releases; they are {}",
                known.join(", ")
            )
        })?;
        Ok(targets.swap_remove(index))
    }

    /// Returns why this machine cannot build and run programs of this target, or `None` if it can.
    pub(super) fn obstacle(&self) -> Option<&'static str> {
        let system = match std::env::consts::OS {
            "macos" => "apple",
            system => system,
        };
        if !self.target.contains(system) || !self.target.starts_with(std::env::consts::ARCH) {
            return Some("another machine");
        }
        let mut rustc = Command::new("rustc");
        rustc.args(["--print=target-libdir", "--target", &self.target]);
        let printed = rustc.output().map(|output| output.stdout);
        let directory = String::from_utf8(printed.unwrap_or_default()).unwrap_or_default();
        if directory.is_empty() || !Path::new(directory.trim()).exists() {
            return Some("its standard library is not installed: rustup target add");
        }
        if self.target.ends_with("musl") && Command::new("musl-gcc").output().is_err() {
            return Some("musl-gcc is not installed: package musl-tools");
        }
        None
    }

    pub(super) fn is_windows(&self) -> bool {
        self.target.contains("windows")
    }

    /// Returns the file name of a program.
    pub(super) fn file_name(&self, program: &str) -> String {
        let suffix = if self.is_windows() { ".exe" } else { "" };
        format!("{program}{suffix}")
    }

    /// Returns the name of a program's archive, without and with the extension.
    pub(super) fn archive(&self, program: &str) -> (String, String) {
        let name = format!("{program}-v{VERSION}-{}", self.target);
        let extension = if self.is_windows() { "zip" } else { "tar.gz" };
        (name.clone(), format!("{name}.{extension}"))
    }
}
