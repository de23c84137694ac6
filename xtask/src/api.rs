//! `cargo xtask api`: the public API of each library, an item a line.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::workspace::{self, Failure};

/// Writes the listings.
pub(crate) fn write() -> Result<(), Failure> {
    for package in PACKAGES {
        let (path, listing) = (baseline(package), listing(package)?);
        fs::write(&path, listing).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Fails if the API of a library is not the one that is listed, and prints the difference.
pub(crate) fn check() -> Result<(), Failure> {
    let mut differs = false;
    for package in PACKAGES {
        let path = baseline(package);
        let listed =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let actual = listing(package)?;
        let (listed, actual): (BTreeSet<_>, BTreeSet<_>) =
            (listed.lines().collect(), actual.lines().collect());
        let removed = listed.difference(&actual).map(|item| ('-', item));
        let added = actual.difference(&listed).map(|item| ('+', item));
        for (sign, item) in removed.chain(added) {
            println!("{package}: {sign} {item}");
            differs = true;
        }
    }
    match differs {
        true => Err(
            "the public API is not what xtask/api lists: run `cargo xtask api`, and read the difference".to_owned(),
        ),
        false => Ok(()),
    }
}

/// The libraries that are released for programs to depend on.
const PACKAGES: [&str; 10] = [
    "agent2agent",
    "agent2agent-auth",
    "agent2agent-client",
    "agent2agent-jsonrpc",
    "agent2agent-mcp",
    "agent2agent-model",
    "agent2agent-postgres",
    "agent2agent-server",
    "agent2agent-transport",
    "agent2agent-types",
];

fn baseline(package: &str) -> PathBuf {
    workspace::root().join(format!("xtask/api/{package}.txt"))
}

/// Lists the API of a library with all features but the unstable ones. Rustdoc writes it as JSON, which stable compilers
/// do only when they are told to behave like a nightly one.
fn listing(package: &str) -> Result<String, Failure> {
    let target = workspace::target().join("api");
    let mut rustdoc = workspace::cargo();
    rustdoc
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["rustdoc", "--locked", "--lib", "--package", package])
        .arg(format!("--features={}", stable_features(package)?))
        .arg("--target-dir")
        .arg(&target)
        .args([
            "--",
            "-Zunstable-options",
            "--output-format=json",
            "-Awarnings",
        ]);
    let status = rustdoc.status().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("rustdoc of {package}: {status}"));
    }
    let library = package.replace("agent2agent-", "a2a_");
    let api = public_api::Builder::from_rustdoc_json(target.join(format!("doc/{library}.json")))
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .map_err(|error| format!("{package}: {error}"))?;
    Ok(api.to_string())
}

fn stable_features(package: &str) -> Result<String, Failure> {
    let mut metadata = workspace::cargo();
    let output = metadata
        .args(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .map_err(|error| error.to_string())?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let features = packages
        .filter(|found| found["name"] == package)
        .filter_map(|found| found["features"].as_object())
        .flat_map(|features| features.keys());
    let stable: Vec<_> = features
        .filter(|name| !name.starts_with("unstable"))
        .map(String::as_str)
        .collect();
    Ok(stable.join(","))
}
