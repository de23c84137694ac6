//! `cargo xtask api`: the public API of each library, held against `api.txt` beside its manifest.
//!
//! It is read from the documentation as JSON, which no stable compiler writes unasked and whose format
//! differs between compilers. With one that writes another format nothing is checked, and a line says so.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use public_api::Builder;
use serde::Deserialize;

use crate::{Failure, console, workspace};

/// The libraries that others depend on.
const LIBRARIES: &[&str] = &[
    "a2a-types",
    "a2a-jsonrpc",
    "a2a-transport",
    "a2a-server",
    "a2a-client",
    "a2a-conformance",
];

/// The format that `public-api` reads: that of Rust 1.95.
const FORMAT: u32 = 57;

/// Writes what each library has in public to its `api.txt`.
pub(crate) fn write() -> Result<(), Failure> {
    for Library { kept, items } in libraries()? {
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        fs::write(&kept, text).map_err(|error| format!("{}: {error}", kept.display()))?;
    }
    Ok(())
}

/// Fails if a library has more or less in public than its `api.txt` says.
pub(crate) fn check() -> Result<(), Failure> {
    let mut differing = 0;
    for Library { kept, items } in libraries()? {
        let text = fs::read_to_string(&kept).unwrap_or_default();
        let before: BTreeSet<_> = text.lines().collect();
        let now: BTreeSet<_> = items.iter().map(String::as_str).collect();
        if before != now {
            differing += 1;
            console::heading(&kept.display().to_string());
        }
        before
            .difference(&now)
            .for_each(|item| println!("- {item}"));
        now.difference(&before)
            .for_each(|item| println!("+ {item}"));
    }
    match differing {
        0 => Ok(()),
        _ => Err("if the public API is to change, `cargo xtask api` writes it".to_owned()),
    }
}

/// A library, and what it has in public.
struct Library {
    kept: PathBuf,
    items: Vec<String>,
}

fn libraries() -> Result<Vec<Library>, Failure> {
    let documents = document()?;
    let mut libraries = Vec::new();
    for name in LIBRARIES {
        let json = documents.join(format!("{}.json", name.replace('-', "_")));
        let format = format(&json)?;
        if format != FORMAT {
            console::heading("== NOT CHECKED: the public API");
            println!("this compiler documents it in format {format}; format {FORMAT} is read here");
            return Ok(Vec::new());
        }
        let api = Builder::from_rustdoc_json(json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .map_err(|error| format!("{name}: {error}"))?;
        libraries.push(Library {
            kept: workspace::root().join(name).join("api.txt"),
            items: api.items().map(ToString::to_string).collect(),
        });
    }
    Ok(libraries)
}

/// Documents the workspace as JSON; returns the directory of the documents.
fn document() -> Result<PathBuf, Failure> {
    let target = workspace::root().join("target");
    let mut cargo = workspace::cargo();
    cargo.args([
        "doc",
        "--quiet",
        "--workspace",
        "--no-deps",
        "--all-features",
    ]);
    cargo.args(["--exclude", "xtask", "--exclude", "a2a-bench"]);
    // This program in place of rustdoc: what is set for rustdoc alone builds no dependency again.
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    cargo.env("RUSTDOC", this).env(IN_PLACE, "1");
    cargo.env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json");
    let status = cargo.status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(target.join("doc")),
        false => Err(format!("cargo doc: {status}")),
    }
}

/// Returns whether Cargo runs this program in place of rustdoc.
pub(crate) fn is_rustdoc() -> bool {
    std::env::var_os(IN_PLACE).is_some()
}

/// Runs rustdoc, and lets it write JSON.
pub(crate) fn rustdoc() -> ExitCode {
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.args(std::env::args_os().skip(1));
    match rustdoc.env("RUSTC_BOOTSTRAP", "1").status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            console::failure(&format!("rustdoc: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Set where Cargo runs this program in place of rustdoc.
const IN_PLACE: &str = "XTASK_IS_RUSTDOC";

fn format(json: &Path) -> Result<u32, Failure> {
    #[derive(Deserialize)]
    struct Document {
        format_version: u32,
    }
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", json.display());
    let text = fs::read(json).map_err(|error| told(&error))?;
    let document: Document = serde_json::from_slice(&text).map_err(|error| told(&error))?;
    Ok(document.format_version)
}
