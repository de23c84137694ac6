//! `a2a-conformance report`: other reports of a run that was made before.

use std::path::PathBuf;
use std::process::ExitCode;

use a2a_conformance::report::{Error, read};
use clap::Args;

use super::print::failed_by;
use super::report_options::ReportOptions;

/// Write the reports of an earlier run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance report report.json                                print the results
  a2a-conformance report report.json --report html,junit -o reports/
  a2a-conformance report report.json --waivers waivers.yaml --strict

Exit codes: as for the run itself, with these waivers.")]
pub(crate) struct Report {
    /// `report.json` of the run, or the directory that contains it.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[command(flatten)]
    reports: ReportOptions,
}

impl Report {
    pub(crate) fn run(&self) -> ExitCode {
        self.make()
            .unwrap_or_else(|error| failed_by(error.exit_code(), &error))
    }

    fn make(&self) -> Result<ExitCode, Error> {
        let known = self.reports.prepare()?;
        Ok(self.reports.conclude(read(&self.run)?, &known))
    }
}
