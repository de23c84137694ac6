//! `a2a-conformance coverage`: how much of the specification has checks.

use std::io::{self, Write};
use std::process::ExitCode;

use a2a_conformance::check::ids_in;
use a2a_conformance::coverage::{Cell, Cells, Coverage, coverage};
use a2a_conformance::requirement::{Level, Role};
use a2a_types::Dialect;
use anstyle::Style;

use super::print::{BAD, BOLD, DIM, FAIR, GOOD, ended, print_json};
use super::values::dialects;

/// Protocol version whose coverage is shown.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  a2a-conformance coverage --dialect 1.0
  a2a-conformance coverage --json

Of each section, party and level it shows how many requirements have checks, how many are excluded with a reason, and
how many are missing.")]
pub(crate) struct Args {
    /// Show only this protocol version.
    #[arg(long, value_name = "VERSION", value_parser = dialects())]
    dialect: Option<Dialect>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let selected = |dialect: &&Dialect| args.dialect.is_none_or(|selected| selected == **dialect);
    let matrices: Vec<_> = Dialect::ALL
        .iter()
        .rev()
        .filter(selected)
        .map(|dialect| coverage(*dialect, &ids_in(*dialect)))
        .collect();
    let printed = match args.json {
        true => print_json(&matrices),
        false => matrices.iter().try_for_each(print),
    };
    ended(&printed, 0)
}

fn print(coverage: &Coverage) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let bound = |role: &&Role| coverage.total.contains_key(role);
    let roles: Vec<_> = Role::ALL.iter().filter(bound).copied().collect();
    write!(out, "{BOLD}A2A {:<10}{BOLD:#}", coverage.dialect)?;
    for role in &roles {
        let width = Level::ALL.len() * WIDTH;
        write!(out, "{BOLD}{:>width$}{BOLD:#}", role.name())?;
    }
    write!(out, "\n{:<14}", "section")?;
    for _ in &roles {
        for level in Level::ALL {
            write!(out, "{:>WIDTH$}", level.name())?;
        }
    }
    writeln!(out)?;
    for section in &coverage.sections {
        print_row(
            &mut out,
            &section.section,
            &section.cells,
            &roles,
            Style::new(),
        )?;
    }
    print_row(&mut out, "total", &coverage.total, &roles, BOLD)?;
    writeln!(out, "{DIM}checked/excluded/missing{DIM:#}")?;
    for role in &roles {
        print_score(&mut out, *role, &coverage.total)?;
    }
    writeln!(out)
}

fn print_row(
    out: &mut impl Write,
    name: &str,
    cells: &Cells,
    roles: &[Role],
    style: Style,
) -> io::Result<()> {
    write!(out, "{style}{name:<14}{style:#}")?;
    for role in roles {
        for level in Level::ALL {
            let cell = cells.get(role).and_then(|levels| levels.get(level));
            let (text, style) = cell_text(cell.copied().unwrap_or_default());
            write!(out, "{style}{text:>WIDTH$}{style:#}")?;
        }
    }
    writeln!(out)
}

/// Prints the share of the requirements that is checked, by level.
fn print_score(out: &mut impl Write, role: Role, total: &Cells) -> io::Result<()> {
    let levels = Level::ALL.iter().filter_map(|level| {
        let Cell {
            checked,
            excluded,
            missing,
        } = total.get(&role)?.get(level).copied()?;
        let (all, keyword) = (checked + missing, level.keyword());
        let percent = (checked * 100).checked_div(all);
        let percent = percent.map(|percent| format!("{checked} of {all} {keyword} ({percent} %)"));
        let cell_text = percent.unwrap_or_else(|| format!("no {keyword}"));
        Some(format!("{cell_text}, {excluded} excluded"))
    });
    let levels: Vec<_> = levels.collect();
    writeln!(out, "{:<14}{}", role.name(), levels.join("; "))
}

fn cell_text(cell: Cell) -> (String, Style) {
    let Cell {
        checked,
        excluded,
        missing,
    } = cell;
    let style = match cell {
        _ if cell.total() == 0 => return ("·".to_owned(), DIM),
        Cell { missing: 0, .. } => GOOD,
        Cell { checked: 0, .. } => BAD,
        _ => FAIR,
    };
    (format!("{checked}/{excluded}/{missing}"), style)
}

/// Columns that a cell takes.
const WIDTH: usize = 11;
