//! Options of every command that makes a run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use a2a_conformance::explanation::cite;
use a2a_conformance::record::Redaction;
use a2a_conformance::record::Run;
use a2a_conformance::report::{Error, Form, Waivers, curl, json, prepare, print, write};
use clap::Args;
use regex::Regex;

use super::print::{failed_by, refused};

/// Reports of a run.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reports")]
pub(crate) struct ReportOptions {
    /// Reports to write.
    #[arg(long, value_name = "FORM,…", value_enum, value_delimiter = ',')]
    report: Vec<Form>,
    /// Directory to write the reports to.
    #[arg(
        short,
        long = "output",
        value_name = "DIR",
        default_value = ".",
        requires = "report"
    )]
    output: PathBuf,
    /// YAML file of checks that need not pass: a list of {check, protocolVersion, binding, reason,
    /// expires}.
    #[arg(long, value_name = "FILE")]
    waivers: Option<PathBuf>,
    /// Fail the run for failed SHOULD checks, too.
    #[arg(long)]
    strict: bool,
    /// Redact matches of this regular expression in all output.
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
    /// Print the run as JSON.
    #[arg(long)]
    json: bool,
}

/// Secrets to be redacted, and waivers.
pub(crate) struct RunInputs {
    redaction: Redaction,
    waivers: Option<Waivers>,
}

impl ReportOptions {
    /// Prepares the output, and reads the redaction and the waivers, so that errors come before the run.
    pub(crate) fn prepare(&self) -> Result<RunInputs, Error> {
        if !self.report.is_empty() {
            prepare(&self.output)?;
        }
        let add = |redaction: Redaction, pattern: &String| match Regex::new(pattern) {
            Ok(regex) => Ok(redaction.pattern(regex)),
            Err(error) => Err(Error::Pattern {
                pattern: pattern.clone(),
                problem: error.to_string(),
            }),
        };
        Ok(RunInputs {
            redaction: self.redact.iter().try_fold(Redaction::default(), add)?,
            waivers: self.waivers.as_deref().map(Waivers::read).transpose()?,
        })
    }

    /// Writes the reports, and returns their paths.
    fn write(&self, run: &Run) -> Result<Vec<PathBuf>, Error> {
        let forms = self.report.iter();
        forms.map(|form| write(run, *form, &self.output)).collect()
    }

    /// Redacts secrets, applies the waivers, writes the reports, and prints the results of the run; returns the exit
    /// code of the program.
    pub(crate) fn conclude(&self, mut run: Run, known: &RunInputs) -> ExitCode {
        known.redaction.target(&mut run.target);
        for result in &mut run.checks {
            known.redaction.check(result);
            for evidence in &mut result.evidence {
                evidence.command = curl(evidence);
            }
        }
        run.settings.strict |= self.strict;
        if let Some(waivers) = &known.waivers {
            waivers.apply(&mut run);
        }
        cite(&mut run);
        let written = self.write(&run);
        let printed = self.print(&run);
        match written {
            Ok(paths) => {
                for path in paths {
                    eprintln!("{} is written", path.display());
                }
            }
            Err(error) => return failed_by(error.exit_code(), &error),
        }
        match printed {
            // The reader of our output may have closed it.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                refused(&format!("the results cannot be printed: {error}"))
            }
            _ => ExitCode::from(run.exit_code()),
        }
    }

    fn print(&self, run: &Run) -> io::Result<()> {
        let mut out = anstream::stdout();
        match self.json {
            true => out.write_all(json(run).as_bytes()),
            false => print(run, &mut out),
        }
    }
}
