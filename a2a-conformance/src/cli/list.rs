//! `a2a-conformance list`: what is required, and which checks there are.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use a2a_conformance::check::{check, covered_by, role_of};
use a2a_conformance::requirement::{Level, Requirement, Role, requirements};
use a2a_types::Dialect;
use serde_json::{Value, json};

use super::print::{BOLD, DIM, dialects, ended, levels, print_json, refused, roles};

/// Which requirements, and the checks that cover them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only of this generation.
    #[arg(long, value_name = "VERSION", value_parser = dialects())]
    dialect: Option<Dialect>,
    /// Only what binds this party.
    #[arg(long, value_name = "ROLE", value_parser = roles())]
    role: Option<Role>,
    /// Only of this level.
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    level: Option<Level>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let listed: Vec<_> = Dialect::ALL
        .iter()
        .rev()
        .filter(|dialect| args.dialect.is_none_or(|wanted| wanted == **dialect))
        .map(|dialect| (*dialect, args.among(requirements(*dialect))))
        .filter(|(_, listed)| !listed.is_empty())
        .collect();
    let checks = args.checks_of(&listed);
    if listed.is_empty() {
        return refused("no requirement is of that generation, party and level");
    }
    let printed = match args.json {
        true => print_json(&as_json(&listed, &checks)),
        false => print(&listed, &checks),
    };
    ended(&printed, 0)
}

type Listed = [(Dialect, Vec<&'static Requirement>)];

impl Args {
    fn among(&self, all: &'static [Requirement]) -> Vec<&'static Requirement> {
        let wanted = |requirement: &&Requirement| {
            let of_role = self
                .role
                .is_none_or(|role| requirement.binds.contains(&role));
            of_role && self.level.is_none_or(|level| level == requirement.level)
        };
        all.iter().filter(wanted).collect()
    }

    /// What covers them, for that party: what binds both is covered by checks of either.
    fn checks_of(&self, listed: &Listed) -> BTreeSet<&'static str> {
        let requirements = listed.iter().flat_map(|(_, listed)| listed);
        let named = requirements.flat_map(|requirement| &requirement.checks);
        let of_role = |check: &&str| self.role.is_none_or(|role| role_of(check) == role);
        named.map(String::as_str).filter(of_role).collect()
    }
}

fn as_json(listed: &Listed, checks: &BTreeSet<&str>) -> Value {
    let requirements = listed.iter().flat_map(|(dialect, listed)| {
        listed.iter().map(move |requirement| {
            let mut value = json!(requirement);
            value["dialect"] = json!(dialect.version());
            value
        })
    });
    let checks = checks.iter().map(|id| {
        let case = check(id);
        let covered: Vec<_> = covered_by(id).map(|requirement| &requirement.id).collect();
        json!({
            "id": id,
            "role": role_of(id),
            "title": case.map(|case| &case.title),
            "requirements": covered,
        })
    });
    json!({
        "requirements": requirements.collect::<Vec<_>>(),
        "checks": checks.collect::<Vec<_>>(),
    })
}

fn print(listed: &Listed, checks: &BTreeSet<&str>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (dialect, listed) in listed {
        writeln!(
            out,
            "{BOLD}A2A {dialect}: {} requirements{BOLD:#}",
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
    for id in checks {
        match check(id) {
            Some(case) => writeln!(out, "  {id:<34} {}", case.title)?,
            None => writeln!(out, "  {id:<34} {DIM}no case yet{DIM:#}")?,
        }
    }
    Ok(())
}
