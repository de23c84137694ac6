//! `cargo xtask release`: the files of a release.

mod archive;
mod installers;
mod target;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use serde_json::Value;

use self::target::{PROGRAMS, Program, Target, packages, targets};
use crate::workspace::{self, Failure, at, run};

/// Options of `cargo xtask release`.
#[derive(Args)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    /// Make what this machine can make, publish nothing, and say what only the workflow makes.
    #[arg(long)]
    dry_run: bool,
    #[command(subcommand)]
    step: Option<Step>,
    /// Directory of the files; `target/release-files` by default.
    #[arg(short, long, global = true, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Steps of the workflow.
#[derive(Subcommand)]
enum Step {
    /// Build the programs of a target: archive, wheels, npm packages.
    Programs {
        /// Triple of the target, from `a2a-conformance/packages/targets.json`.
        #[arg(long)]
        target: String,
    },
    /// Write the installer, the manifests of package managers, the SBOMs and the main npm packages, from the archives of
    /// all targets.
    Installers,
}

/// Writes the files of a release, or of one step of it.
pub(crate) fn release(options: Options) -> Result<(), Failure> {
    let output = options.output;
    let output = output.unwrap_or_else(|| workspace::target().join("release-files"));
    fs::create_dir_all(&output).map_err(|error| at(&output, error))?;
    let output = std::path::absolute(&output).map_err(|error| at(&output, error))?;
    match options.step {
        Some(Step::Programs { target }) => {
            let target = Target::find(&target)?;
            let built = build(&target)?;
            archive::write(&target, &built, &output)?;
            if target.wheel.is_some() {
                wheels(&target, &built, &output)?;
                npm_packages(&platform(&target, &built), &output)?;
            }
            Ok(())
        }
        Some(Step::Installers) => {
            sboms(&output)?;
            npm_packages("main", &output)?;
            installers::write(&output, &[])
        }
        None => dry_run(&output),
    }
}

/// Writes the wheels with the built programs.
fn wheels(target: &Target, built: &Path, output: &Path) -> Result<(), Failure> {
    let python = packages().join("python");
    for program in &PROGRAMS {
        let mut wheel = Command::new("python3");
        wheel.arg(python.join("make_wheel.py"));
        wheel.arg(python.join(program.wheel)).arg("--binary");
        wheel.arg(built.join(target.file_name(program.name)));
        wheel.args(["--target", &target.target, "--output"]);
        run(wheel.arg(output))?;
    }
    Ok(())
}

/// Returns the argument of `make_packages.mjs` for the packages of a platform.
fn platform(target: &Target, built: &Path) -> String {
    format!("{}={}", target.target, built.display())
}

/// Writes the npm packages of a platform, or the main ones.
fn npm_packages(which: &str, output: &Path) -> Result<(), Failure> {
    let folders = workspace::target().join("npm-packages");
    if folders.exists() {
        fs::remove_dir_all(&folders).map_err(|error| at(&folders, error))?;
    }
    let mut npm = Command::new("node");
    npm.arg(packages().join("npm/make_packages.mjs"));
    npm.arg(&folders);
    run(npm.arg(which))?;
    for entry in fs::read_dir(&folders).map_err(|error| at(&folders, error))? {
        let folder = entry.map_err(|error| at(&folders, error))?.path();
        let mut pack = Command::new(NPM);
        pack.args(["pack", "--silent"]);
        pack.arg(folder).arg("--pack-destination");
        run(pack.arg(output))?;
    }
    Ok(())
}

/// On Windows it is a script.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Builds the programs of a target, and returns their directory. The paths of this machine are replaced, so that the
/// same commit has the same programs in every directory.
fn build(target: &Target) -> Result<PathBuf, Failure> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let home = home.ok_or("cannot build the programs: there is no home directory")?;
    let target_directory = workspace::target();
    let places = [
        (workspace::root(), "/a2a"),
        (target_directory.as_path(), "/target"),
        (home.as_path(), "/cargo"),
    ];
    let flags = |flag: &str| {
        let flags = places.map(|(from, to)| format!("{flag}={}={to}", from.display()));
        flags.to_vec()
    };
    let mut rust_flags = flags("--remap-path-prefix");
    let added = std::env::var("RUSTFLAGS").unwrap_or_default();
    rust_flags.extend(added.split_whitespace().map(str::to_owned));
    if target.is_windows() {
        // Without the redistributable of Visual C++, which a plain Windows lacks.
        rust_flags.push("-Ctarget-feature=+crt-static".to_owned());
    }
    let mut cargo = workspace::cargo();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust_flags.join("\u{1f}"));
    if !target.is_windows() {
        cargo.env("CFLAGS", flags("-ffile-prefix-map").join(" "));
    }
    // Compilers of C put this in place of the time of the build.
    cargo.env("SOURCE_DATE_EPOCH", "0");
    cargo.env("CARGO_INCREMENTAL", "0");
    cargo.args(["build", "--locked", "--profile=dist", "--target"]);
    cargo.arg(&target.target).arg("--target-dir");
    cargo.arg(&target_directory);
    run(cargo.args(PROGRAMS.map(|program| format!("--package={}", program.package))))?;
    Ok(target_directory.join(&target.target).join("dist"))
}

fn dry_run(output: &Path) -> Result<(), Failure> {
    let mut here = Vec::new();
    let (mut elsewhere, mut obstacles) = (Vec::new(), Vec::new());
    for target in targets()? {
        match target.obstacle() {
            None => here.push(target),
            Some(obstacle) => {
                obstacles.push(format!("programs for {} ({obstacle})", target.target));
                elsewhere.push(target);
            }
        }
    }
    for target in &here {
        println!(
            "builds the programs for {}: about ten minutes on two processors",
            target.target
        );
    }
    // Known before the build.
    let has_python = is_here("python3", &["-c", "import tomllib"]);
    let has_npm = is_here(NPM, &["--version"]);
    let has_sbom = is_here("cargo-sbom", &["--version"]);
    // If no target with a wheel can be built here, pack the first target that can.
    let packed = here.iter().position(|target| target.wheel.is_some());
    for (index, target) in here.iter().enumerate() {
        let built = build(target)?;
        archive::write(target, &built, output)?;
        let is_packed = index == packed.unwrap_or(0);
        if has_python && is_packed {
            wheels(target, &built, output)?;
        }
        if has_npm && is_packed {
            npm_packages(&platform(target, &built), output)?;
        }
    }
    if has_npm {
        npm_packages("main", output)?;
    }
    if has_sbom {
        sboms(output)?;
    }
    installers::write(output, &elsewhere)?;
    let mut publish = workspace::cargo();
    publish.args(["publish", "--workspace", "--dry-run", "--no-verify"]);
    run(publish.args(["--locked", "--allow-dirty"]))?;

    println!("\nFiles in {}:", output.display());
    for (name, length) in listing(output)? {
        println!("  {:>6.1} MB  {name}", length as f64 / 1e6);
    }
    println!("\nOnly the workflow does this (.github/workflows/release.yml):");
    for step in obstacles {
        println!("  {step}");
    }
    for (is_made, step) in [
        (
            has_python,
            "wheels (python3, 3.11 or later, is not installed)",
        ),
        (has_npm, "npm packages (node and npm are not installed)"),
        (has_sbom, "SBOMs (cargo install --locked cargo-sbom)"),
    ] {
        if !is_made {
            println!("  {step}");
        }
    }
    for step in REMAINING {
        println!("  {step}");
    }
    println!("\nBy hand: the manifests are sent to Homebrew, Scoop and winget (CONTRIBUTING.md).");
    Ok(())
}

/// Returns whether a program can be run with these arguments.
fn is_here(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

const REMAINING: [&str; 4] = [
    "provenance of each file, signed by the identity of the workflow",
    "the container for x86-64 and ARM",
    "the draft of the release, with these files",
    "crates.io, PyPI, npm: after the draft was approved",
];

/// Writes the SBOM of each program.
fn sboms(output: &Path) -> Result<(), Failure> {
    for Program { name, package, .. } in &PROGRAMS {
        let mut sbom = workspace::cargo();
        sbom.args([
            "sbom",
            "--output-format=cyclone_dx_json_1_6",
            "--cargo-package",
        ]);
        let listed = sbom.arg(package).output();
        let listed = listed.map_err(|error| format!("{sbom:?}: {error}"))?;
        if !listed.status.success() {
            let problem = String::from_utf8_lossy(&listed.stderr);
            return Err(format!("cannot write the SBOM of {name}: {problem}"));
        }
        let path = output.join(format!("{name}.cdx.json"));
        let sbom = serde_json::from_slice(&listed.stdout);
        let sbom = sbom.map_err(|error| format!("the SBOM of {name}: {error}"))?;
        let text = format!("{:#}\n", reproducible(sbom));
        fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// Removes what differs between two SBOMs of the same packages: serial number, time, author and order.
fn reproducible(mut sbom: Value) -> Value {
    for (place, member) in [
        ("", "serialNumber"),
        ("/metadata", "timestamp"),
        ("/metadata", "authors"),
    ] {
        if let Some(Value::Object(members)) = sbom.pointer_mut(place) {
            members.remove(member);
        }
    }
    sort(&mut sbom);
    sbom
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort);
            items.sort_by_cached_key(Value::to_string);
        }
        Value::Object(members) => members.values_mut().for_each(sort),
        _ => {}
    }
}

fn listing(directory: &Path) -> Result<Vec<(String, u64)>, Failure> {
    let failed = |error| at(directory, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.push((name, entry.metadata().map_err(failed)?.len()));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sboms_of_the_same_packages_are_equal() {
        let sbom = |serial: &str, names: [&str; 2]| {
            let components = names.map(|name| json!({"name": name, "licenses": names}));
            reproducible(json!({
                "serialNumber": serial,
                "metadata": {"timestamp": serial, "authors": [serial], "tools": []},
                "components": components,
            }))
        };
        let sorted = sbom("1", ["a", "b"]);
        assert_eq!(sorted, sbom("2", ["b", "a"]));
        assert_eq!(sorted["metadata"], json!({"tools": []}));
    }
}
