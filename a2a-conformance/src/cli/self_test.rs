//! `a2a-conformance self-test`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use a2a_client::terminal::escape_line as line;
use a2a_conformance::interface_kind::InterfaceKind;
use a2a_conformance::mutant::agent::{Trial, mutations, try_out};
use a2a_conformance::mutant::{
    Extent, FailedCheck, NoSuchSubject, Proof, Subject, Tally, prove_all,
};
use a2a_conformance::requirement::Role;
use clap::Args;
use futures_util::stream::{self as streams, StreamExt};
use serde_json::json;

use super::print::{BAD, BOLD, DIM, GOOD, ended, print_json};

/// Mutants to test.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance self-test                  every mutant, every control: agents and clients
  a2a-conformance self-test --mutant S07     one agent with a bug
  a2a-conformance self-test --mutant C11     one client with a bug
  a2a-conformance self-test --mutant crlf    one agent that is odd, but right
  a2a-conformance self-test --json > proof.json
  a2a-conformance self-test --generated 200 --seed 7

A mutant has to be caught by the checks that are named for it, wherever its bug shows, and by no others but those
that its bug may break in passing. A control is odd, but right: no check may be red, in any version and binding. A
generated mutant is the reference agent with one place of one kind of answer left out, of another type, or with
another value: those that no check notices are listed.

Exit codes: 0 all is as it should be, 1 something is not, 2 usage, 4 the suite does not work.")]
pub(crate) struct Arguments {
    /// Test only this mutant or control; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = read_subject)]
    mutant: Vec<Subject>,
    /// Test this number of generated mutants instead.
    #[arg(long, value_name = "N", conflicts_with = "mutant")]
    generated: Option<usize>,
    /// Seed of the selection: the same seed selects the same mutants.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "generated")]
    seed: u64,
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

pub(crate) async fn command(arguments: Arguments) -> ExitCode {
    if let Some(count) = arguments.generated {
        return match try_some(count, &arguments).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("{}", line(&problem));
                ExitCode::FAILURE
            }
        };
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
        true => print_json(&json!({"tally": tally, "seconds": seconds, "proofs": proofs})),
        false => print_result(&proofs, tally, seconds, &mut anstream::stdout()),
    };
    ended(&printed, u8::from(!tally.is_complete()))
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

/// Tries out generated mutants.
async fn try_some(count: usize, arguments: &Arguments) -> Result<(), String> {
    let began = Instant::now();
    let mut all = Vec::new();
    for interface in InterfaceKind::ALL {
        all.extend(mutations(*interface).await?);
    }
    let total = all.len();
    fastrand::Rng::with_seed(arguments.seed).shuffle(&mut all);
    all.truncate(count);
    let terminal = std::io::stderr().is_terminal();
    let trying = all.iter().map(try_out);
    let mut trying = std::pin::pin!(streams::iter(trying).buffered(arguments.jobs.max(1)));
    let mut trials = Vec::new();
    while let Some(trial) = trying.next().await {
        trials.push(trial?);
        if terminal {
            eprint!("\r{} of {}\x1b[K", trials.len(), all.len());
        }
    }
    if terminal {
        eprint!("\r\x1b[K");
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut out = anstream::stdout();
    let printed = match arguments.json {
        true => {
            let document =
                json!({"trials": trials, "of": total, "seed": arguments.seed, "seconds": seconds});
            writeln!(out, "{document:#}")
        }
        false => print_trials(&trials, total, seconds, &mut out),
    };
    printed.map_err(|error| error.to_string())
}

fn print_trials(
    trials: &[Trial],
    total: usize,
    seconds: f64,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let (vital, others): (Vec<&Trial>, Vec<_>) = trials.iter().partition(|trial| trial.vital);
    for (trials, what) in [(&vital, "vital"), (&others, "other")] {
        let survived = trials.iter().filter(|trial| trial.red.is_empty());
        for trial in survived {
            writeln!(out, "survived ({what}): {}", trial.mutation)?;
        }
    }
    for (trials, what) in [
        (&vital, "changes of top-level members, ids, states, codes"),
        (&others, "other changes"),
    ] {
        let caught = trials.iter().filter(|trial| !trial.red.is_empty()).count();
        writeln!(out, "{caught} of {} {what} caught", trials.len())?;
    }
    writeln!(
        out,
        "{} of {total} generated mutants tried, {seconds:.1} s",
        trials.len()
    )
}
