//! Runs the conformance suite against every mutant and control: `self-test --help`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use a2a_client::terminal::escape_line as line;
use a2a_conformance::mutants::check_table;
use a2a_conformance::requirement::Role;
use a2a_conformance_proof::{Extent, FailedCheck, NoSuchSubject, Proof, Subject, Tally, prove_all};
use anstyle::{AnsiColor, Style};
use clap::Parser;
use serde_json::json;

/// Mutants to test.
#[derive(Parser)]
#[command(
    about = "Runs the conformance suite against every mutant and control",
    after_help = "\
Examples:
  self-test                  every mutant, every control: agents and clients
  self-test --mutant S07     one agent with a bug
  self-test --mutant C11     one client with a bug
  self-test --mutant crlf    one agent that is odd, but right
  self-test --json > proof.json

A mutant has to be caught by the checks that are named for it, wherever its bug shows, and by no others but those
that its bug may break in passing. A control is odd, but right: no check may be red, in any version and binding.

Exit codes: 0 all is as it should be, 1 something is not, 2 usage, 4 the suite does not work."
)]
struct Arguments {
    /// Test only this mutant or control; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = read_subject)]
    mutant: Vec<Subject>,
    /// Number of mutants to test concurrently.
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

fn read_subject(name: &str) -> Result<Subject, NoSuchSubject> {
    name.parse()
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(problem) = check_table() {
        eprintln!("{}", line(&problem));
        return ExitCode::from(BROKEN);
    }
    let began = Instant::now();
    let subjects = match arguments.mutant.as_slice() {
        [] => Subject::all(),
        chosen => chosen.to_vec(),
    };
    let proofs = match prove(&subjects, arguments.jobs).await {
        Ok(proofs) => proofs,
        Err(problem) => {
            eprintln!("{}", line(&problem));
            return ExitCode::from(BROKEN);
        }
    };
    let seconds = began.elapsed().as_secs_f64();
    let tally: Tally = proofs.iter().collect();
    let printed = match arguments.json {
        true => {
            let result = json!({"tally": tally, "seconds": seconds, "proofs": proofs});
            writeln!(anstream::stdout(), "{result:#}")
        }
        false => print_result(&proofs, tally, seconds, &mut anstream::stdout()),
    };
    match printed {
        Ok(()) => ExitCode::from(u8::from(!tally.is_complete())),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Runs the suite against each subject; shows progress on a terminal.
async fn prove(subjects: &[Subject], jobs: usize) -> Result<Vec<Proof>, String> {
    let terminal = std::io::stderr().is_terminal();
    let total = subjects.len();
    let proofs = prove_all(subjects, Extent::Whole, jobs, |done, wrong| {
        if terminal {
            eprint!("\r{done} of {total}, {wrong} not as they should be\x1b[K");
        }
    });
    let proofs = proofs.await;
    if terminal {
        eprint!("\r\x1b[K");
    }
    proofs
}

fn print_result(
    proofs: &[Proof],
    tally: Tally,
    seconds: f64,
    out: &mut impl Write,
) -> std::io::Result<()> {
    for (role, is_of_mutant, title) in [
        (Role::Agent, false, "Agents that are odd, but right"),
        (Role::Agent, true, "Agents with a bug"),
        (Role::Client, false, "Clients that are odd, but right"),
        (Role::Client, true, "Clients with a bug"),
    ] {
        let mut of_kind = proofs
            .iter()
            .filter(|proof| (proof.role, proof.is_of_mutant()) == (role, is_of_mutant))
            .peekable();
        if of_kind.peek().is_some() {
            writeln!(out, "{BOLD}{title}{BOLD:#}")?;
        }
        for proof in of_kind {
            print_proof(proof, out)?;
        }
    }
    let color = if tally.is_complete() { GOOD } else { BAD };
    let Tally {
        caught,
        mutants,
        green,
        controls,
    } = tally;
    writeln!(
        out,
        "{color}{caught} of {mutants} mutants caught by the check named for it, {green} of {controls} controls green{color:#}, {seconds:.1} s"
    )
}

fn print_proof(proof: &Proof, out: &mut impl Write) -> std::io::Result<()> {
    let (color, found) = match (proof.holds(), proof.is_of_mutant()) {
        (true, true) => (GOOD, "caught"),
        (true, false) => (GOOD, "green"),
        (false, true) if proof.caught.is_empty() => (BAD, "SURVIVED"),
        (false, true) if !proof.survived.is_empty() => (BAD, "HALF CAUGHT"),
        (false, true) => (BAD, "COLLATERAL"),
        (false, false) => (BAD, "RED"),
    };
    let Proof {
        name,
        wanted,
        says,
        green,
        seconds,
        ..
    } = proof;
    let wanted = wanted.join(", ");
    writeln!(
        out,
        "  {name:20} {color}{found:11}{color:#} {wanted:34} {says} {DIM}({green} green, {seconds:.1} s){DIM:#}"
    )?;
    if proof.holds() {
        return Ok(());
    }
    for (failed_checks, what) in [
        (&proof.survived, "should be red"),
        (&proof.collateral, "should be green"),
    ] {
        for FailedCheck { check, place, why } in failed_checks {
            writeln!(out, "      {check} ({place}) {what}: {}", line(why))?;
        }
    }
    Ok(())
}

/// The suite itself does not work.
const BROKEN: u8 = 4;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
