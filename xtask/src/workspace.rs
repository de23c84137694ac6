//! Directory of the workspace, and the Cargo that builds it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Description of a failed task.
pub(crate) type Failure = String;

/// Version of every crate of the workspace.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The directory of the workspace.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace")
}

/// The directory of what Cargo builds: this program lies in `debug` there.
pub(crate) fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let directory = program.ancestors().nth(2).map(Path::to_owned);
    directory.unwrap_or_else(|| root().join("target"))
}

/// The Cargo that runs this task, in the workspace's directory.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// Describes an error at a path.
pub(crate) fn at(path: &Path, error: std::io::Error) -> Failure {
    format!("{}: {error}", path.display())
}

/// Runs a command. Errors: it cannot be run, or fails.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status();
    let status = status.map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}")),
    }
}
