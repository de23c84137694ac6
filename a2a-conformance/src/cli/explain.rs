//! `a2a-conformance explain ID`: describes a requirement or a check.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::process::ExitCode;

use a2a_conformance::check::{Check, CheckPart, check, checks, covered_by};
use a2a_conformance::explanation::explanation;
use a2a_conformance::mutants;
use a2a_conformance::requirement::{Requirement, requirement, requirements};
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};

use super::print::{BOLD, DIM, ended, print_json, refused};

/// Requirement or check to explain.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance explain send.ended-task-refused   what a check does, and why
  a2a-conformance explain A2A10-3.1.1-M2            what a requirement says, and what checks it
  a2a-conformance explain contract                  what an instrumented agent does

Exit codes: 0, or 2 if nothing has that name; similar names are listed.")]
pub(crate) struct Args {
    /// A requirement like `A2A10-3.1.1-M2`, a check like `send.ended-task-refused`, or `contract`: what an
    /// instrumented agent does.
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let id = args.id.trim();
    let explained = match (requirement(id), check(id)) {
        _ if id == "contract" && args.json => Some(print_json(&json!({"contract": CONTRACT}))),
        _ if id == "contract" => Some(anstream::stdout().write_all(CONTRACT.as_bytes())),
        (Some(requirement), _) if args.json => Some(print_json(requirement)),
        (Some(requirement), _) => Some(explain_requirement(requirement)),
        (_, Some(check)) if args.json => Some(print_json(&as_json(check))),
        (_, Some(check)) => Some(explain_check(check)),
        (None, None) => None,
    };
    if let Some(explained) = explained {
        return ended(&explained, 0);
    }
    let similar_ids: Vec<_> = similar_ids(id)
        .into_iter()
        .map(|id| format!("\n  {id}"))
        .collect();
    let similar_ids = match similar_ids.is_empty() {
        true => "`a2a-conformance list` names all".to_owned(),
        false => format!("near it are:{}", similar_ids.concat()),
    };
    refused(&format!(
        "no requirement and no check is called {id:?}; {similar_ids}"
    ))
}

const CONTRACT: &str = include_str!("../../docs/behaviour-contract.md");

fn explain_requirement(requirement: &Requirement) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let Requirement {
        id, says, section, ..
    } = requirement;
    let of = ProtocolVersion::ALL
        .iter()
        .find(|protocol_version| requirements(**protocol_version).contains(requirement))
        .map_or("", |protocol_version| protocol_version.version());
    let binds: Vec<_> = requirement.binds.iter().map(|role| role.name()).collect();
    writeln!(out, "{BOLD}{id}{BOLD:#}")?;
    writeln!(out, "{says}\n")?;
    let (level, basis) = (requirement.level.name(), requirement.basis);
    writeln!(out, "Level    {level}, by {basis}")?;
    writeln!(out, "Section  {section} of A2A {of}")?;
    writeln!(out, "Source   {}", requirement.source)?;
    writeln!(out, "Reading  {}", requirement.reading)?;
    writeln!(out, "Binds    {}", binds.join(", "))?;
    if let Some(reason) = &requirement.excluded {
        return writeln!(out, "Checks   none: {reason}");
    }
    for (number, id) in requirement.checks.iter().enumerate() {
        let label = if number == 0 { "Checks" } else { "" };
        let title = check(id).map_or("", |check| &check.title);
        writeln!(out, "{label:<8} {id}: {title}")?;
    }
    Ok(())
}

fn as_json(check: &Check) -> Value {
    let covered = covered_by(&check.id).map(|(_, requirement)| requirement);
    let cases = check.parts.iter().filter_map(|part| part.case.as_ref());
    json!({
        "id": check.id,
        "title": check.title,
        "role": check.role,
        "explanation": explanation(&check.id),
        "requirements": covered.collect::<Vec<_>>(),
        "cases": cases.collect::<Vec<_>>(),
    })
}

fn explain_check(check: &Check) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let Check { id, title, .. } = check;
    writeln!(out, "{BOLD}{id}{BOLD:#}\n{title}\n")?;
    if let Some(text) = explanation(id) {
        writeln!(out, "{text}\n")?;
    }
    writeln!(out, "Tests    {}", check.role.name())?;
    for (number, level) in check.levels().into_iter().enumerate() {
        let label = if number == 0 { "Level" } else { "" };
        let all = ProtocolVersion::ALL.iter();
        let so = all.filter(|protocol_version| check.level_in(**protocol_version) == Some(level));
        let so: Vec<_> = so
            .map(|protocol_version| protocol_version.version())
            .collect();
        writeln!(out, "{label:<8} {} in {}", level.name(), so.join(", "))?;
    }
    for (number, part) in check.parts.iter().enumerate() {
        let label = if number == 0 { "Made" } else { "" };
        writeln!(out, "{label:<8} {}", place(part))?;
    }
    for (number, (protocol_version, requirement)) in covered_by(id).enumerate() {
        let label = if number == 0 { "Covers" } else { "" };
        let Requirement {
            id, section, says, ..
        } = requirement;
        let heading = format!("{id:<19} {DIM}§{section} of {protocol_version}{DIM:#}");
        writeln!(out, "{label:<8} {heading} {says}")?;
    }
    if let Some(source) = check.source() {
        writeln!(out, "Source   {source}")?;
    }
    for (number, mutant) in mutants::caught_by(id).enumerate() {
        let label = if number == 0 { "Proof" } else { "" };
        writeln!(out, "{label:<8} {}: {}", mutant.name, mutant.says)?;
    }
    for part in &check.parts {
        let Some(case) = &part.case else {
            writeln!(out, "\nIt is checked in every exchange.")?;
            continue;
        };
        let text = serde_saphyr::to_string(case).map_err(io::Error::other)?;
        let text = text.trim_end();
        writeln!(out, "\nWhat is sent, and what has to come\n\n{text}")?;
    }
    Ok(())
}

/// Describes a part of a check: a case or an invariant, and the versions and bindings in which it is made.
fn place(part: &CheckPart) -> String {
    let protocol_versions: Vec<_> = part
        .protocol_versions
        .iter()
        .map(|one| one.version())
        .collect();
    let bindings: Vec<_> = part.bindings.iter().map(ToString::to_string).collect();
    let made = match part.case {
        Some(_) => "a case",
        None => "every exchange",
    };
    let (protocol_versions, bindings) = (protocol_versions.join(", "), bindings.join(" and "));
    format!("{made}, in {protocol_versions}, by {bindings}")
}

/// Ids that have something of what was asked for, at most eight.
fn similar_ids(id: &str) -> Vec<String> {
    let lower = id.to_lowercase();
    let words = lower.split(['.', '-']).filter(|word| word.len() > 3);
    let words: Vec<_> = words.filter(|word| !word.starts_with("a2a")).collect();
    let ids = ProtocolVersion::ALL
        .iter()
        .rev()
        .flat_map(|protocol_version| requirements(*protocol_version))
        .map(|requirement| requirement.id.as_str());
    let section = section_of(&lower);
    let likeness = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        let same_section = section.is_some_and(|section| candidate.starts_with(section));
        let shared = words.iter().filter(|word| candidate.contains(**word));
        shared.count() + usize::from(same_section)
    };
    let checks = checks().iter().map(|check| check.id.as_str());
    let mut similar_ids: Vec<_> = checks.chain(ids).collect();
    similar_ids.retain(|candidate| likeness(candidate) > 0);
    similar_ids.sort_by_key(|candidate| Reverse(likeness(candidate)));
    similar_ids.into_iter().take(8).map(str::to_owned).collect()
}

/// `a2a10-3.1.1` of `a2a10-3.1.1-m9`, and of itself.
fn section_of(id: &str) -> Option<&str> {
    let (version, rest) = id.split_once('-')?;
    let end = rest.find('-').unwrap_or(rest.len());
    let section = id.get(..version.len() + 1 + end)?;
    version.starts_with("a2a").then_some(section)
}
