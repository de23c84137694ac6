//! `cargo xtask pictures`: the pictures of `a2a inspect` in its documentation.

use std::fs;

use crate::workspace::{self, Failure};

/// Drives the inspector's page through a story in Chromium, and writes a picture of each screen.
pub(crate) fn pictures() -> Result<(), Failure> {
    let folder = workspace::root().join("docs/reference/inspector");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut cargo = workspace::cargo();
    cargo
        .args([
            "test",
            "--package",
            "agent2agent-inspector",
            "--test",
            "it",
            "--",
        ])
        .args([
            "--ignored",
            "--exact",
            "browser::pictures::pictures_of_all_screens_are_written",
        ])
        .env("A2A_PICTURES", &folder)
        // With `CI`, the test fails if there is no browser.
        .env("CI", "true");
    let status = cargo.status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(status.to_string()),
    }
}
