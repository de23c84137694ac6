//! `a2a new`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::show::Screen;
use crate::templates::{TEMPLATES, Template};

/// Package to write.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a new --list
  a2a new notes && cd notes && cargo run
  a2a new helper --template approval
  a2a new helper --path ~/a2a                      with the crates of a clone of the repository

The package has the program, a test that runs it, and a README.md with the commands to try it.")]
pub(crate) struct Options {
    /// Name of the package, and of the directory to write.
    #[arg(value_name = "NAME", required_unless_present = "list")]
    name: Option<String>,
    /// Program to begin with.
    #[arg(long, value_name = "TEMPLATE", default_value = TEMPLATES[0].name)]
    template: String,
    /// List the templates.
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Depend on the crate `agent2agent` in this directory.
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

pub(crate) fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let Some(name) = &options.name else {
        return list(screen);
    };
    let template = find(&options.template)?;
    check_name(name, template)?;
    let path = options.path.as_deref().map(crate_directory).transpose()?;
    let directory = Path::new(name);
    check_directory(directory)?;
    let files = template.files(name, path.as_deref());
    for (path, text) in &files {
        write(&directory.join(path), text)?;
    }
    let paths = files.map(|(path, _)| path);
    let mut next = template.commands();
    next.insert(0, format!("cd {name}"));
    if screen.json {
        return screen.value(&json!({
            "directory": name,
            "template": template.name,
            "files": paths,
            "next": next,
        }));
    }
    screen.field("Directory", name)?;
    screen.field("Template", template.name)?;
    screen.field("Files", &paths.join(", "))?;
    screen.block("Next", &next.join("\n"))
}

fn list(screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        let row = |it: &Template| json!({ "name": it.name, "summary": it.summary() });
        let rows: Vec<Value> = TEMPLATES.iter().map(row).collect();
        return screen.value(&json!({ "templates": rows }));
    }
    for template in TEMPLATES {
        screen.field(template.name, &template.summary())?;
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static Template, Failure> {
    let template = TEMPLATES.iter().find(|template| template.name == name);
    template.ok_or_else(|| {
        let names: Vec<_> = TEMPLATES.iter().map(|template| template.name).collect();
        let names = names.join(", ");
        Failure::usage(format!(
            "--template {name}: unknown, expected one of {names}"
        ))
    })
}

/// Refuses a name that Cargo does not accept for a package with a program, or that a dependency has.
fn check_name(name: &str, template: &Template) -> Result<(), Failure> {
    let refused = |why: &str| {
        Err(Failure::usage(format!(
            "cannot name a package {name:?}: {why}"
        )))
    };
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let begins_with_letter = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if !begins_with_letter || !name.chars().all(is_allowed) || name.len() > MAX_NAME {
        return refused(
            "expected at most 64 letters of ASCII, digits, `-` and `_`, of which the first is a letter",
        );
    }
    match RESERVED.contains(&name) || template.depends_on(name) {
        true => {
            refused("Cargo, or a crate that the package needs, has this name, expected another")
        }
        false => Ok(()),
    }
}

const MAX_NAME: usize = 64;

/// Names of directories of Cargo, and of crates that each program has.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "alloc", "build", "core", "deps", "examples", "incremental", "proc_macro", "std", "test",
];

/// Returns the absolute path of a directory with the package `agent2agent`.
fn crate_directory(directory: &Path) -> Result<String, Failure> {
    let shown = directory.display();
    let refused = |why: String| {
        let expected = "expected a directory with the package agent2agent";
        Failure::usage(format!("--path {shown}: {why}, {expected}"))
    };
    let absolute = fs::canonicalize(directory).map_err(|error| refused(error.to_string()))?;
    let manifest = fs::read_to_string(absolute.join("Cargo.toml"))
        .map_err(|error| refused(format!("Cargo.toml: {error}")))?;
    if !manifest
        .lines()
        .any(|line| line.trim() == "name = \"agent2agent\"")
    {
        return Err(refused("Cargo.toml is that of another package".to_owned()));
    }
    let text = absolute.to_str().map(str::to_owned);
    text.ok_or_else(|| refused("its path is not UTF-8".to_owned()))
}

/// Refuses a place that is taken: nothing is overwritten.
fn check_directory(directory: &Path) -> Result<(), Failure> {
    let shown = directory.display();
    let is_taken = match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => directory.symlink_metadata().is_ok(),
    };
    match is_taken {
        true => Err(Failure::usage(format!(
            "cannot write to {shown}: it exists, expected a new name or an empty directory"
        ))),
        false => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = match path.parent() {
        Some(directory) => fs::create_dir_all(directory),
        None => Ok(()),
    };
    let written = written.and_then(|()| fs::write(path, text));
    written.map_err(Failure::machine(format!("cannot write {}", path.display())))
}
