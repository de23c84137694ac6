//! `a2a-conformance list`: the requirements and the checks.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use a2a_conformance::check::{Check, checks, covered_by};
use a2a_conformance::requirement::{Level, Requirement, Role, requirements};
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};

use super::print::{BOLD, DIM, ended, print_json, refused};
use super::values::{levels, protocol_versions, roles};

/// Requirements and checks to list.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance list --protocol-version 1.0 --role agent --level must
  a2a-conformance list --json

Exit codes: 0, or 2 if nothing matches.")]
pub(crate) struct Args {
    /// List only this protocol version.
    #[arg(long, value_name = "VERSION", value_parser = protocol_versions())]
    protocol_version: Option<ProtocolVersion>,
    /// List only what applies to this party.
    #[arg(long, value_name = "ROLE", value_parser = roles())]
    role: Option<Role>,
    /// List only this level.
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    level: Option<Level>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let listed: Vec<_> = ProtocolVersion::ALL
        .iter()
        .rev()
        .filter(|protocol_version| {
            args.protocol_version
                .is_none_or(|selected| selected == **protocol_version)
        })
        .map(|protocol_version| {
            (
                *protocol_version,
                args.among(requirements(*protocol_version)),
            )
        })
        .filter(|(_, listed)| !listed.is_empty())
        .collect();
    let checks = args.checks();
    if listed.is_empty() {
        return refused("no requirement is of that version, party and level");
    }
    let printed = match args.json {
        true => print_json(&as_json(&listed, &checks)),
        false => print(&listed, &checks),
    };
    ended(&printed, 0)
}

type RequirementLists = [(ProtocolVersion, Vec<&'static Requirement>)];

impl Args {
    fn among(&self, all: &'static [Requirement]) -> Vec<&'static Requirement> {
        let selected = |requirement: &&Requirement| {
            let of_role = self
                .role
                .is_none_or(|role| requirement.binds.contains(&role));
            of_role && self.level.is_none_or(|level| level == requirement.level)
        };
        all.iter().filter(selected).collect()
    }

    /// The checks of that party that count as that much in that version.
    fn checks(&self) -> Vec<&'static Check> {
        let fits = |check: &Check, protocol_version: ProtocolVersion| {
            let level = check.level_in(protocol_version);
            let is_wanted = self
                .protocol_version
                .is_none_or(|selected| selected == protocol_version);
            is_wanted && level.is_some_and(|own| self.level.is_none_or(|level| level == own))
        };
        let selected = |check: &&Check| {
            let of_role = self.role.is_none_or(|role| role == check.role);
            of_role
                && ProtocolVersion::ALL
                    .iter()
                    .any(|protocol_version| fits(check, *protocol_version))
        };
        checks().iter().filter(selected).collect()
    }
}

fn as_json(listed: &RequirementLists, checks: &[&Check]) -> Value {
    let requirements = listed.iter().flat_map(|(protocol_version, listed)| {
        listed.iter().map(move |requirement| {
            let mut value = json!(requirement);
            value["protocolVersion"] = json!(protocol_version.version());
            value
        })
    });
    let checks = checks.iter().map(|check| {
        let covered = covered_by(&check.id).map(|(_, requirement)| &requirement.id);
        let parts = check.parts.iter();
        let bindings: BTreeSet<_> = parts
            .flat_map(|part| &part.bindings)
            .map(ToString::to_string)
            .collect();
        json!({
            "id": check.id,
            "role": check.role,
            "title": check.title,
            "levels": check.levels(),
            "protocolVersions": protocol_versions_of(check),
            "bindings": bindings,
            "requirements": covered.collect::<Vec<_>>(),
            "source": check.source(),
        })
    });
    json!({
        "requirements": requirements.collect::<Vec<_>>(),
        "checks": checks.collect::<Vec<_>>(),
    })
}

fn protocol_versions_of(check: &Check) -> Vec<&'static str> {
    let all = ProtocolVersion::ALL.iter();
    let made = all.filter(|protocol_version| check.applies(**protocol_version));
    made.map(|protocol_version| protocol_version.version())
        .collect()
}

fn print(listed: &RequirementLists, checks: &[&Check]) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (protocol_version, listed) in listed {
        writeln!(
            out,
            "{BOLD}A2A {protocol_version}: {} requirements{BOLD:#}",
            listed.len()
        )?;
        for requirement in listed {
            let Requirement {
                id, says, level, ..
            } = requirement;
            let binds: Vec<_> = requirement.binds.iter().map(|role| role.name()).collect();
            let (level, binds) = (level.name(), binds.join(", "));
            writeln!(out, "  {id:<22} {level:<6} {binds:<13} {says}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{BOLD}{} checks{BOLD:#}", checks.len())?;
    for check in checks {
        let Check { id, title, .. } = check;
        let levels: Vec<_> = check.levels().iter().map(|level| level.name()).collect();
        let (levels, protocol_versions) =
            (levels.join(", "), protocol_versions_of(check).join(" "));
        writeln!(
            out,
            "  {id:<34} {levels:<13} {DIM}{protocol_versions:<16}{DIM:#}{title}"
        )?;
    }
    Ok(())
}
