//! `cargo xtask package`: the crates as a registry has them, and programs that are built from those alone.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workspace::{self, Failure, VERSION, at, run};

/// Packs every crate that is released, and builds from the packages alone, in a directory without this workspace: an
/// agent without a C compiler, the programs of the README, the two command lines as `cargo install` does, and each
/// template of `a2a new` with its test.
pub(crate) fn package() -> Result<(), Failure> {
    let mut pack = workspace::cargo();
    pack.args(["package", "--workspace", "--no-verify", "--allow-dirty"]);
    pack.arg("--target-dir").arg(workspace::target());
    run(pack.args(KEPT.map(|name| format!("--exclude={name}"))))?;

    let place = workspace::target().join("from-packages");
    let unpacked = place.join("crates");
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked).map_err(|error| at(&unpacked, error))?;
    }
    fs::create_dir_all(&unpacked).map_err(|error| at(&unpacked, error))?;
    let packed = workspace::target().join("package");
    let crates = unpack(&packed, &unpacked)?;
    let lock = place.join("Cargo.lock");
    fs::copy(workspace::root().join("Cargo.lock"), &lock).map_err(|error| at(&lock, error))?;
    let patched = crates.iter().map(|directory| {
        let name = directory.trim_end_matches(&format!("-{VERSION}"));
        format!("{name} = {{ path = \"crates/{directory}\" }}\n")
    });
    let patched: String = patched.collect();
    let manifest = |members: &[&str]| {
        format!(
            "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patched}"
        )
    };
    let members = ["crates/*", "hello", "readme"];
    write(&place.join("Cargo.toml"), &manifest(&members))?;

    write_program(&place, "hello", "", &[HELLO.to_owned()])?;
    let readme = workspace::root().join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| at(&readme, error))?;
    let features = "features = [\"client\"]";
    write_program(&place, "readme", features, &programs(&readme))?;

    let mut hello = cargo(&place);
    // A compiler that fails: no crate of a plain agent may call one.
    run(hello.env("CC", "false").args(["build", "--package=hello"]))?;
    run(cargo(&place).args(["build", "--package=readme"]))?;
    for name in ["agent2agent-cli", "agent2agent-conformance"] {
        let path = format!("--path=crates/{name}-{VERSION}");
        run(cargo(&place).args(["install", "--debug", "--root=installed", &path]))?;
    }
    for program in ["a2a", "a2a-conformance"] {
        run(Command::new(place.join("installed/bin").join(program)).arg("--version"))?;
    }

    let templates = write_templates(&place)?;
    // As members of this workspace they are built from the packages, and only once what they share.
    let members = [&members[..], &["templates/*"]].concat();
    write(&place.join("Cargo.toml"), &manifest(&members))?;
    for template in templates {
        run(cargo(&place).args(["test", &format!("--package={template}")]))?;
    }
    Ok(())
}

/// Packages that are not released.
const KEPT: [&str; 5] = [
    "xtask",
    "a2a-bench",
    "a2a-experiments",
    "agent2agent-grpc-peer",
    "a2a-conformance-proof",
];

/// A whole agent, with the default features.
const HELLO: &str = r#"
use agent2agent::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = async |turn: Turn| Ok(turn.reply("hello").await?);
    let server = Server::builder(AgentCard::new("Hello", "Says hello"), agent).build()?;
    Ok(server.serve("127.0.0.1:8080").await?)
}
"#;

/// Unpacks the packages of this version, and returns the names of their directories.
fn unpack(packed: &Path, unpacked: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(packed).map_err(|error| at(packed, error))? {
        let path = entry.map_err(|error| at(packed, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = name
            .strip_suffix(".crate")
            .filter(|it| it.ends_with(VERSION))
        else {
            continue;
        };
        let mut tar = Command::new("tar");
        // All files of a package have the same old time: with it, Cargo would take them for unchanged.
        run(tar.arg("-xzmf").arg(&path).arg("-C").arg(unpacked))?;
        names.push(name.to_owned());
    }
    names.sort();
    Ok(names)
}

/// Writes a package that depends on the facade and on tokio, with these programs.
fn write_program(
    place: &Path,
    name: &str,
    features: &str,
    programs: &[String],
) -> Result<(), Failure> {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         agent2agent = {{ version = \"={VERSION}\", {features} }}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n"
    );
    let directory = place.join(name);
    write(
        &directory.join("Cargo.toml"),
        &manifest.replace(", }", " }"),
    )?;
    for (number, program) in programs.iter().enumerate() {
        let path = directory.join(format!("src/bin/{name}-{number}.rs"));
        write(&path, program)?;
    }
    Ok(())
}

/// Writes a package of each template by the installed `a2a`, and returns their names.
fn write_templates(place: &Path) -> Result<Vec<String>, Failure> {
    let directory = place.join("templates");
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(|error| at(&directory, error))?;
    }
    fs::create_dir_all(&directory).map_err(|error| at(&directory, error))?;
    let a2a = || {
        let mut a2a = Command::new(place.join("installed/bin/a2a"));
        a2a.current_dir(&directory).arg("new");
        a2a
    };
    let listed = a2a().args(["--list", "-o", "json"]).output();
    let listed = listed.map_err(|error| at(&directory, error))?.stdout;
    let listed: serde_json::Value =
        serde_json::from_slice(&listed).map_err(|error| format!("a2a new --list: {error}"))?;
    let rows = listed["templates"].as_array().into_iter().flatten();
    let mut names = Vec::new();
    for template in rows.filter_map(|row| row["name"].as_str()) {
        // Not the name of any crate.
        let name = format!("try_{template}");
        let mut new = a2a();
        new.args([&*name, "--template", template, "--path"]);
        run(new.arg(format!("../crates/agent2agent-{VERSION}")))?;
        names.push(name);
    }
    match names.is_empty() {
        true => Err("a2a new --list: found no template".to_owned()),
        false => Ok(names),
    }
}

/// Returns the whole programs in a text.
fn programs(text: &str) -> Vec<String> {
    let blocks = text.split("```rust").skip(1);
    let code = blocks.filter_map(|block| block.split_once('\n')?.1.split("```").next());
    code.filter(|code| code.contains("fn main"))
        .map(str::to_owned)
        .collect()
}

/// The Cargo that runs this task, in another directory.
fn cargo(directory: &Path) -> Command {
    let mut cargo = workspace::cargo();
    cargo.current_dir(directory);
    cargo.env_remove("CARGO_TARGET_DIR");
    cargo
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(|error| at(directory, error))?;
    fs::write(path, text).map_err(|error| at(path, error))
}
