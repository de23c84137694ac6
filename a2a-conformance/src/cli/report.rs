//! `a2a-conformance report`: other reports of a run that was made before.

use std::path::PathBuf;
use std::process::ExitCode;

use a2a_conformance::report::{Error, read};
use clap::Args;

use super::complain;
use super::reports::ReportOptions;

/// Makes reports of a run that was made before.
#[derive(Args)]
pub(crate) struct Report {
    /// Its report.json.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[command(flatten)]
    reports: ReportOptions,
}

impl Report {
    pub(crate) fn run(&self) -> ExitCode {
        self.make().unwrap_or_else(|error| {
            complain(&error);
            ExitCode::from(error.exit_code())
        })
    }

    fn make(&self) -> Result<ExitCode, Error> {
        let known = self.reports.prepare()?;
        Ok(self.reports.conclude(read(&self.run)?, &known))
    }
}
