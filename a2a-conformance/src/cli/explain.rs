//! `a2a-conformance explain ID`: what a requirement or a check is.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::process::ExitCode;

use a2a_conformance::check::{Check, check, check_ids, covered_by, role_of};
use a2a_conformance::requirement::{Requirement, requirement, requirements};
use a2a_types::Dialect;

use super::print::{BOLD, DIM, ended, refused};

/// Which.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A requirement like `A2A10-3.1.1-M2`, or a check like `send.ended-task-refused`.
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let id = args.id.trim();
    if let Some(requirement) = requirement(id) {
        return ended(&explain_requirement(requirement), 0);
    }
    if check_ids().contains(id) {
        return ended(&explain_check(id, check(id)), 0);
    }
    let near: Vec<_> = near(id).into_iter().map(|id| format!("\n  {id}")).collect();
    let near = match near.is_empty() {
        true => "`a2a-conformance list` names all".to_owned(),
        false => format!("near it are:{}", near.concat()),
    };
    refused(&format!(
        "no requirement and no check is called {id:?}; {near}"
    ))
}

fn explain_requirement(requirement: &Requirement) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let Requirement {
        id, says, section, ..
    } = requirement;
    let of = Dialect::ALL
        .iter()
        .find(|dialect| requirements(**dialect).contains(requirement))
        .map_or("", |dialect| dialect.version());
    let binds: Vec<_> = requirement.binds.iter().map(|role| role.name()).collect();
    writeln!(out, "{BOLD}{id}{BOLD:#}")?;
    writeln!(out, "{says}\n")?;
    writeln!(out, "Level    {}", requirement.level.name())?;
    writeln!(out, "Section  {section} of A2A {of}")?;
    writeln!(out, "Binds    {}", binds.join(", "))?;
    if let Some(reason) = &requirement.excluded {
        return writeln!(out, "Checks   none: {reason}");
    }
    for (number, id) in requirement.checks.iter().enumerate() {
        let label = if number == 0 { "Checks" } else { "" };
        match check(id) {
            Some(case) => writeln!(out, "{label:<8} {id}: {}", case.title)?,
            None => writeln!(out, "{label:<8} {id} {DIM}(no case yet){DIM:#}")?,
        }
    }
    Ok(())
}

fn explain_check(id: &str, case: Option<&Check>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{BOLD}{id}{BOLD:#}")?;
    if let Some(case) = case {
        writeln!(out, "{}", case.title)?;
    }
    writeln!(out)?;
    writeln!(out, "Tests    {}", role_of(id).name())?;
    if let Some(level) = case.and_then(|case| case.level) {
        writeln!(out, "Level    {}", level.name())?;
    }
    for (number, requirement) in covered_by(id).enumerate() {
        let label = if number == 0 { "Covers" } else { "" };
        writeln!(
            out,
            "{label:<8} {:<16} {}",
            requirement.id, requirement.says
        )?;
    }
    match case {
        None => writeln!(out, "\n{DIM}It has no case yet.{DIM:#}"),
        Some(case) => {
            let text = serde_saphyr::to_string(&case.case).map_err(io::Error::other)?;
            writeln!(
                out,
                "\nWhat is sent, and what has to come\n\n{}",
                text.trim_end()
            )
        }
    }
}

/// Ids that have something of what was asked for, at most eight.
fn near(id: &str) -> Vec<String> {
    let wanted = id.to_lowercase();
    let words = wanted.split(['.', '-']).filter(|word| word.len() > 3);
    let words: Vec<_> = words.filter(|word| !word.starts_with("a2a")).collect();
    let ids = Dialect::ALL
        .iter()
        .rev()
        .flat_map(|dialect| requirements(*dialect))
        .map(|requirement| requirement.id.as_str());
    let section = section_of(&wanted);
    let likeness = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        let same_section = section.is_some_and(|section| candidate.starts_with(section));
        let shared = words.iter().filter(|word| candidate.contains(**word));
        shared.count() + usize::from(same_section)
    };
    let mut near: Vec<_> = check_ids().into_iter().chain(ids).collect();
    near.retain(|candidate| likeness(candidate) > 0);
    near.sort_by_key(|candidate| Reverse(likeness(candidate)));
    near.into_iter().take(8).map(str::to_owned).collect()
}

/// `a2a10-3.1.1` of `a2a10-3.1.1-m9`, and of itself.
fn section_of(id: &str) -> Option<&str> {
    let (generation, rest) = id.split_once('-')?;
    let end = rest.find('-').unwrap_or(rest.len());
    let section = id.get(..generation.len() + 1 + end)?;
    generation.starts_with("a2a").then_some(section)
}
