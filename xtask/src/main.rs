//! The development tasks of the workspace: `cargo xtask --help`.

mod api;
mod compare;
mod console;
mod count;
mod harness;
mod nightly;
mod package;
mod pictures;
mod schema;
mod test;
mod tidy;
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
    /// Check what no compiler checks: arrows between crates, manifests, words.
    Tidy,
    /// Make the checks after a change; with `--all`, every check there is.
    Test(test::TestArgs),
    /// Make every check, as continuous integration does: the same as `test --all`.
    Ci,
    /// Write what each library has in public to its api.txt.
    Api(ApiArgs),
    /// Pack every crate, and build it from its package, as the registry would.
    Package,
    /// Write the pictures of the inspector's page in its documentation. Chromium is needed.
    Pictures,
    /// Run the exhaustive checks and the experiments, before a release.
    Nightly(nightly::NightlyArgs),
    #[command(flatten)]
    Experiment(harness::Experiment),
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

#[derive(Args)]
struct ApiArgs {
    /// Write nothing; fail if a library has something else in public.
    #[arg(long)]
    check: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                                      after a change
  cargo xtask test --all                                every check, before a commit
  cargo xtask tidy                                      only the rules of the repository
  cargo xtask hostile readers                           what do readers cost that do not listen?
  cargo xtask schema                                    after a wire type changed
  cargo xtask schema --check                            is a2a-types/schemas up to date?
  cargo xtask schema --compare ../shared/spec/schemas   do we say what the specification says?
  cargo xtask api                                       after the public API of a library changed
  cargo xtask pictures                                  after the inspector's page changed
  cargo xtask crash --rounds 20                         does a killed server lose anything?
  cargo xtask nightly --write                           everything exhaustive, before a release
  cargo xtask bench --quick                             how fast is it?
  cargo xtask duplicates --seed 7 --json                the same again, for programs";

/// Description of a failed task.
type Failure = String;

fn main() -> ExitCode {
    if api::is_rustdoc() {
        return api::rustdoc();
    }
    let outcome = match Cli::parse().task {
        Task::Schema(SchemaArgs { check: true, .. }) => schema::check(),
        Task::Schema(SchemaArgs {
            compare: Some(directory),
            ..
        }) => compare::compare(&directory),
        Task::Schema(_) => schema::write(),
        Task::Api(ApiArgs { check: true }) => api::check(),
        Task::Api(_) => api::write(),
        Task::Package => package::package(),
        Task::Pictures => pictures::pictures(),
        Task::Tidy => tidy::tidy(),
        Task::Test(args) => test::test(&args),
        Task::Ci => test::test(&test::TestArgs { all: true }),
        Task::Nightly(args) => nightly::nightly(&args),
        Task::Experiment(harness::Experiment::Bench(given)) if given.begins_with("count") => {
            count::count(given.has("--write"))
        }
        Task::Experiment(experiment) => return harness::run(experiment),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::failure(&failure);
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
