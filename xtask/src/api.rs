//! `cargo xtask api`: the public API of each library, held against `api.txt` beside its manifest.
//!
//! It is read from the documentation as JSON, which no stable compiler writes unasked and whose format
//! differs between compilers. With one that writes another format nothing is checked, and a line says so.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use public_api::Builder;
use serde::Deserialize;

use crate::{Failure, console, workspace};

/// The libraries that others depend on, and their folders.
const LIBRARIES: &[(&str, &str)] = &[
    ("a2a-types", "a2a-types"),
    ("a2a-jsonrpc", "a2a-jsonrpc"),
    ("a2a-transport", "a2a-transport"),
    ("a2a-server", "a2a-server"),
    ("a2a-auth", "a2a-server/auth"),
    ("a2a-postgres", "a2a-server/postgres"),
    ("a2a-client", "a2a-client"),
    ("a2a-conformance", "a2a-conformance"),
];

/// The format that `public-api` reads: that of Rust 1.95.
const FORMAT: u32 = 57;

/// Writes what each library has in public to its `api.txt`.
pub(crate) fn write() -> Result<(), Failure> {
    document()?;
    for Library { kept, items } in libraries()? {
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        fs::write(&kept, text).map_err(|error| format!("{}: {error}", kept.display()))?;
    }
    Ok(())
}

/// Fails if a library has more or less in public than its `api.txt` says.
pub(crate) fn check() -> Result<(), Failure> {
    document()?;
    compare()
}

/// Like [`check`], of the documents that [`beside_examples`] has written.
pub(crate) fn compare() -> Result<(), Failure> {
    let mut differences = String::new();
    for Library { kept, items } in libraries()? {
        let text = fs::read_to_string(&kept).unwrap_or_default();
        let before: BTreeSet<_> = text.lines().collect();
        let now: BTreeSet<_> = items.iter().map(String::as_str).collect();
        if before != now {
            differences += &format!("{}\n", kept.display());
        }
        let gone = before.difference(&now).map(|item| format!("- {item}\n"));
        let new = now.difference(&before).map(|item| format!("+ {item}\n"));
        differences.extend(gone.chain(new));
    }
    match differences.as_str() {
        "" => Ok(()),
        _ => Err(format!(
            "{differences}if the public API is to change, `cargo xtask api` writes it"
        )),
    }
}

/// A library, and what it has in public.
struct Library {
    kept: PathBuf,
    items: Vec<String>,
}

/// Reads what [`document`] or [`beside_examples`] has written.
fn libraries() -> Result<Vec<Library>, Failure> {
    let mut libraries = Vec::new();
    for (name, folder) in LIBRARIES {
        let json = documents().join(format!("{}.json", name.replace('-', "_")));
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
            kept: workspace::root().join(folder).join("api.txt"),
            items: api.items().map(ToString::to_string).collect(),
        });
    }
    Ok(libraries)
}

/// Directory of the documentation as JSON.
fn documents() -> PathBuf {
    workspace::target().join("doc")
}

/// Documents the workspace as JSON.
fn document() -> Result<(), Failure> {
    let mut cargo = workspace::cargo();
    cargo.args([
        "doc",
        "--quiet",
        "--workspace",
        "--no-deps",
        "--all-features",
    ]);
    cargo.args(["--exclude", "xtask", "--exclude", "a2a-bench"]);
    in_place(&mut cargo)?;
    cargo.env("RUSTDOCFLAGS", AS_JSON.join(" "));
    let status = cargo.status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("cargo doc: {status}")),
    }
}

/// Makes `cargo test --doc` also document each library as JSON, before its examples run.
///
/// Rustdoc's lints come with that, and nothing is compiled for it: `cargo doc` checks every dependency
/// again, where the examples use what the tests are linked with.
pub(crate) fn beside_examples(cargo: &mut Command) -> Result<(), Failure> {
    in_place(cargo)
}

/// Makes Cargo run this program in place of rustdoc: what is set for rustdoc alone builds no dependency
/// again.
fn in_place(cargo: &mut Command) -> Result<(), Failure> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    cargo.env("RUSTDOC", this).env(IN_PLACE, "1");
    Ok(())
}

/// Returns whether Cargo runs this program in place of rustdoc.
pub(crate) fn is_rustdoc() -> bool {
    std::env::var_os(IN_PLACE).is_some()
}

/// Runs rustdoc, and lets it write JSON; before it runs examples, it also documents their library.
pub(crate) fn rustdoc() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let outcome = match documenting(&arguments) {
        None => run_rustdoc(&arguments, true),
        Some(documenting) => {
            run_rustdoc(&documenting, true).and_then(|()| run_rustdoc(&arguments, false))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(None) => ExitCode::FAILURE,
        Err(Some(error)) => {
            console::failure(&format!("rustdoc: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Fails with the error if rustdoc does not start.
fn run_rustdoc(arguments: &[OsString], unstable: bool) -> Result<(), Option<std::io::Error>> {
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.args(arguments);
    if unstable {
        rustdoc.env("RUSTC_BOOTSTRAP", "1");
    }
    match rustdoc.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(None),
        Err(error) => Err(Some(error)),
    }
}

/// The arguments that document a library, made of those that run its examples; `None` if these are others.
fn documenting(arguments: &[OsString]) -> Option<Vec<OsString>> {
    arguments.iter().find(|argument| *argument == "--test")?;
    let mut documenting = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--test") => {}
            Some("--test-args" | "--test-run-directory") => {
                rest.next();
            }
            _ => documenting.push(argument.clone()),
        }
    }
    documenting.extend(AS_JSON.map(OsString::from));
    documenting.extend(["-o".into(), documents().into()]);
    Some(documenting)
}

/// Arguments that make rustdoc write JSON.
const AS_JSON: [&str; 2] = ["-Zunstable-options", "--output-format=json"];

/// Set where Cargo runs this program in place of rustdoc.
const IN_PLACE: &str = "XTASK_IS_RUSTDOC";

fn format(json: &Path) -> Result<u32, Failure> {
    #[derive(Deserialize)]
    struct Document {
        format_version: u32,
    }
    let message = |error: &dyn std::fmt::Display| format!("{}: {error}", json.display());
    let text = fs::read(json).map_err(|error| message(&error))?;
    let document: Document = serde_json::from_slice(&text).map_err(|error| message(&error))?;
    Ok(document.format_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_documented_before_its_examples_run() {
        let arguments = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let examples = arguments(
            "--crate-name a --test src/lib.rs --test-run-directory /a --test-args --quiet -L b",
        );
        let document = documenting(&examples).expect("these are examples");
        let mut expected =
            arguments("--crate-name a src/lib.rs -L b -Zunstable-options --output-format=json -o");
        expected.push(documents().into());
        assert_eq!(document, expected);
        assert_eq!(documenting(&arguments("--crate-name a src/lib.rs")), None);
    }
}
