//! `a2a-conformance self-test`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use a2a_conformance::mutant::agent::{
    Bug, Control, PLACES, Proof, Red, Subject, Trial, mutations, prove, try_out,
};
use clap::Args;
use futures_util::stream::{self as streams, StreamExt};
use serde_json::json;

/// Which mutants.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance self-test                  every mutant, every control
  a2a-conformance self-test --mutant S07     one bug
  a2a-conformance self-test --mutant crlf    one control
  a2a-conformance self-test --generated 200 --seed 7

A mutant has to be caught by the checks that are named for it, and by no others but those that its bug may break in
passing. A control is odd, but right: no check may be red. A generated mutant is the reference agent with one place of
one kind of answer left out, of another type, or with another value: those that no check notices are listed.

Exit codes: 0 all is as it should be, 1 something is not, 2 usage.")]
pub(crate) struct Arguments {
    /// Only this mutant or control.
    #[arg(long, value_name = "NAME", value_parser = read_subject)]
    mutant: Vec<Subject>,
    /// Try out so many generated mutants instead.
    #[arg(long, value_name = "N", conflicts_with = "mutant")]
    generated: Option<usize>,
    /// Which ones: the same seed chooses the same.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "generated")]
    seed: u64,
    /// How many are tested at once.
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// Print what came of it as JSON.
    #[arg(long)]
    json: bool,
}

fn read_subject(name: &str) -> Result<Subject, String> {
    if name == "reference" {
        return Ok(Subject::Reference);
    }
    let bug = name.parse::<Bug>().ok().map(Subject::Mutant);
    let mut controls = Control::ALL.iter();
    let control = controls.find(|control| control.name() == name);
    bug.or(control.copied().map(Subject::Control))
        .ok_or_else(|| "there is no such mutant or control".to_owned())
}

pub(crate) async fn command(arguments: Arguments) -> ExitCode {
    if let Some(count) = arguments.generated {
        return match try_some(count, &arguments).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("{problem}");
                ExitCode::FAILURE
            }
        };
    }
    let began = Instant::now();
    let mut subjects = arguments.mutant;
    if subjects.is_empty() {
        subjects.push(Subject::Reference);
        subjects.extend(Control::ALL.iter().copied().map(Subject::Control));
        let built = Bug::ALL.iter().filter(|bug| bug.story().pending.is_none());
        subjects.extend(built.copied().map(Subject::Mutant));
    }
    let total = subjects.len();
    let terminal = std::io::stderr().is_terminal();
    let proving = subjects
        .iter()
        .map(|subject| async move { prove(subject).await });
    let mut proving = std::pin::pin!(streams::iter(proving).buffered(arguments.jobs.max(1)));
    let mut proofs = Vec::new();
    while let Some(proof) = proving.next().await {
        match proof {
            Ok(proof) => proofs.push(proof),
            Err(problem) => {
                eprintln!("{problem}");
                return ExitCode::FAILURE;
            }
        }
        if terminal {
            eprint!("\r{} of {total}\x1b[K", proofs.len());
        }
    }
    if terminal {
        eprint!("\r\x1b[K");
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut out = anstream::stdout();
    let printed = match arguments.json {
        true => writeln!(out, "{:#}", json!({"proofs": proofs, "seconds": seconds})),
        false => tell(&proofs, seconds, &mut out),
    };
    match (printed, proofs.iter().all(Proof::holds)) {
        (Ok(()), true) => ExitCode::SUCCESS,
        (Ok(()), false) => ExitCode::FAILURE,
        (Err(_), _) => ExitCode::from(2),
    }
}

fn tell(proofs: &[Proof], seconds: f64, out: &mut impl Write) -> std::io::Result<()> {
    for proof in proofs {
        let found = match (proof.holds(), proof.wanted.is_empty()) {
            (true, true) => "green",
            (true, false) => "caught",
            (false, true) => "RED",
            (false, false) if proof.caught.is_empty() => "SURVIVED",
            (false, false) => "COLLATERAL",
        };
        writeln!(
            out,
            "{:16} {found:10} {:34} {} ({} green, {} red in passing, {:.1} s)",
            proof.name,
            proof.wanted.join(", "),
            proof.says,
            proof.green,
            proof.allowed.len(),
            proof.seconds,
        )?;
        if proof.holds() {
            continue;
        }
        for check in &proof.unknown {
            writeln!(out, "    there is no check {check} there")?;
        }
        for Red { check, place, why } in &proof.collateral {
            writeln!(out, "    {check} ({place}): {why}")?;
        }
    }
    let (controls, mutants): (Vec<&Proof>, Vec<_>) =
        proofs.iter().partition(|proof| proof.wanted.is_empty());
    for bug in Bug::ALL {
        if let Some(reason) = bug.story().pending {
            writeln!(out, "{:16} not built  {reason}", bug.name())?;
        }
    }
    let held = |proofs: &[&Proof]| proofs.iter().filter(|proof| proof.holds()).count();
    writeln!(
        out,
        "{} of {} mutants caught by the checks named for them, {} of {} controls green, {seconds:.1} s",
        held(&mutants),
        mutants.len(),
        held(&controls),
        controls.len(),
    )
}

/// Tries out generated mutants.
async fn try_some(count: usize, arguments: &Arguments) -> Result<(), String> {
    let began = Instant::now();
    let mut all = Vec::new();
    for place in PLACES {
        all.extend(mutations(*place).await?);
    }
    let known = all.len();
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
                json!({"trials": trials, "of": known, "seed": arguments.seed, "seconds": seconds});
            writeln!(out, "{document:#}")
        }
        false => tell_trials(&trials, known, seconds, &mut out),
    };
    printed.map_err(|error| error.to_string())
}

fn tell_trials(
    trials: &[Trial],
    known: usize,
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
        "{} of {known} generated mutants tried, {seconds:.1} s",
        trials.len()
    )
}
