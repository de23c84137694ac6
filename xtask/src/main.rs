//! Development tasks of the workspace: `cargo xtask --help`.

mod api;
mod book;
mod compare;
mod experiment;
mod package;
mod pictures;
mod protobuf;
mod release;
mod schema;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Development tasks.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write the JSON Schemas that are derived from the wire types.
    Schema(SchemaArgs),
    /// Pack every crate that is released, and build programs from the packages alone.
    Package,
    /// List the public API of each library in `xtask/api`.
    Api {
        /// Write nothing; fail if the API is not what is listed, and print the difference.
        #[arg(long)]
        check: bool,
    },
    /// Build the book of `docs/` into `target/book`. mdBook is needed.
    Book,
    /// Write the pictures of the inspector's page in its documentation. Chromium is needed.
    Pictures,
    /// Write the tables and descriptors of gRPC's messages, from their `.proto` files.
    Protobuf,
    /// Make the files of a release: archives, wheels, npm packages, SBOMs, installers.
    Release(release::Options),
    #[command(flatten)]
    Experiment(experiment::Experiment),
}

#[derive(Args)]
struct SchemaArgs {
    /// Write nothing; fail if a written schema is not what the types say.
    #[arg(long, conflicts_with = "compare")]
    check: bool,
    /// Write nothing; compare with the official schemas of this directory.
    #[arg(long, value_name = "DIR")]
    compare: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask schema                                    after a wire type changed
  cargo xtask schema --compare DIR                      do we say what the official schemas in DIR say?
  cargo xtask api                                       after the public API changed
  cargo xtask release --dry-run                         all files of a release that this machine can make
  cargo xtask pictures                                  after the inspector's page changed
  cargo xtask crash --rounds 20                         does a killed server lose anything?
  cargo xtask hostile readers                           what do readers cost that do not read?
  cargo xtask bench --quick                             how fast is the server?
  cargo xtask duplicates --seed 7 --json                the same run again, for programs";

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Schema(SchemaArgs { check: true, .. }) => schema::check(),
        Task::Schema(SchemaArgs {
            compare: Some(directory),
            ..
        }) => compare::compare(&directory),
        Task::Schema(_) => schema::write(),
        Task::Api { check: true } => api::check(),
        Task::Api { check: false } => api::write(),
        Task::Package => package::package(),
        Task::Book => book::book(),
        Task::Pictures => pictures::pictures(),
        Task::Protobuf => protobuf::protobuf(),
        Task::Release(options) => release::release(options),
        Task::Experiment(experiment) => return experiment::run(experiment),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
