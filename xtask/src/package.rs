//! `cargo xtask package`: every crate that others may depend on, packed and built as the registry would.

use std::fs;
use std::process::Command;

use crate::workspace::{self, Failure};

/// Packs the crates in the order of their dependencies, and builds each from its package alone. Nothing of
/// this workspace may be published, so this is done in a copy of the files in Git's index.
pub(crate) fn package() -> Result<(), Failure> {
    let copy = workspace::target().join("package-check");
    let mut git = Command::new("git");
    git.current_dir(workspace::root())
        .args(["checkout-index", "--all", "--force"])
        .arg(format!("--prefix={}/", copy.display()));
    run(&mut git)?;
    let manifest = copy.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| error.to_string())?;
    let text = text.replace("publish = false", "publish = true");
    fs::write(&manifest, text).map_err(|error| error.to_string())?;
    let mut cargo = workspace::cargo();
    cargo
        .current_dir(&copy)
        .args(["package", "--workspace", "--locked", "--allow-dirty"]);
    let of_the_workshop = ["xtask", "a2a-bench", "a2a-experiments"];
    run(cargo.args(of_the_workshop.map(|name| format!("--exclude={name}"))))
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}")),
    }
}
