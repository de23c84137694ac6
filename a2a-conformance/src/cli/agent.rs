//! `a2a-conformance agent`.

use std::process::ExitCode;
use std::time::Duration;

use a2a_conformance::agent::{Options, Process, RunError, Selection, run_until};
use a2a_conformance::case::Profile;
use a2a_conformance::report::Progress;
use a2a_conformance::requirement::Level;
use a2a_transport::Binding;
use a2a_transport::webhook::Jwks;
use a2a_types::ProtocolVersion;
use clap::Args;

use super::credentials::Credentials;
use super::document::read_keys;
use super::interruption::interruption;
use super::print::{UNREACHABLE, USAGE, failed_by, refused};
use super::report_options::ReportOptions;
use super::values::{
    bindings, levels, protocol_versions, read_count, read_factor, read_pattern, read_seconds,
    read_url,
};

/// Agent to test, and the checks to make.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance agent http://127.0.0.1:8080
  a2a-conformance agent https://agent.example --black-box --prompt 'summarize: hello'
  a2a-conformance agent http://127.0.0.1:8080 --protocol-version 1.0 --run 'stream.*' --repeat 50
  a2a-conformance agent --exec './my-agent --port {port}' --black-box
  a2a-conformance agent http://127.0.0.1:8080 --report html,junit -o reports/ --waivers known.yaml
  a2a-conformance agent https://agent.example --bearer TOKEN --second-header 'Authorization: Bearer …'
  a2a-conformance agent https://agent.example --bearer TOKEN --expired TOKEN --wrong-audience TOKEN --wrong-scope TOKEN
  a2a-conformance agent https://agent.example --api-key x-api-key=KEY --run 'auth.*'
  a2a-conformance agent https://agent.example --client-cert me.pem --client-key me.key --ca authority.pem

An agent that keeps the behaviour contract does what the first word of a message says (`a2a-conformance \
explain contract`); any other is tested by --black-box.

Exit codes: 0 all that is required is met, 1 something is not, 2 usage or nothing was checked, 3 the agent cannot be \
reached, 4 the suite itself is broken, 5 only waivers are out of date, 130 interrupted (the reports are written).")]
pub(crate) struct Arguments {
    /// URL of the agent (origin, endpoint or card).
    #[arg(value_name = "URL", value_parser = read_url)]
    url: Option<String>,
    /// Start the agent with this command, in which `{port}` is the port to listen on; stop it afterwards.
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    exec: Option<String>,
    /// Test an agent without the behaviour contract: run only the checks that apply to every agent.
    #[arg(long)]
    black_box: bool,
    /// Message text for an agent without the behaviour contract.
    #[arg(long, default_value = "hello")]
    prompt: String,
    /// Test only this protocol version.
    #[arg(long, value_name = "VERSION", value_parser = protocol_versions())]
    protocol_version: Vec<ProtocolVersion>,
    /// Test only this protocol binding.
    #[arg(long, value_name = "BINDING", value_parser = bindings())]
    binding: Vec<Binding>,
    /// Run only checks whose id matches this pattern; `*` matches any text.
    #[arg(long, value_name = "PATTERN", value_parser = read_pattern)]
    run: Vec<String>,
    /// Skip checks whose id matches this pattern.
    #[arg(long, value_name = "PATTERN", value_parser = read_pattern)]
    skip: Vec<String>,
    /// Run only checks of this level or a stricter one.
    #[arg(long, value_name = "LEVEL", default_value = "may", value_parser = levels())]
    level: Level,
    #[command(flatten)]
    credentials: Credentials,
    /// Trusted keys of the agent, as a JSON Web Key Set: of its card's signatures, and of its push notifications, in
    /// addition to the keys that it publishes at `/.well-known/jwks.json`.
    #[arg(long, value_name = "FILE|URL")]
    jwks: Option<String>,
    /// Time limit of a response, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = read_seconds)]
    timeout: Duration,
    /// Time limit of a push notification, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = read_seconds)]
    patience: Duration,
    /// Multiply all time limits by this factor.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = read_factor)]
    timeout_scale: f64,
    /// Host at which the agent reaches webhooks of this machine.
    #[arg(long, value_name = "HOST")]
    webhook_host: Option<String>,
    /// Number of checks to run concurrently.
    #[arg(long, value_name = "N", default_value = "8", value_parser = read_count)]
    jobs: usize,
    /// Number of times to run each check; a check with different verdicts is flaky.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    #[command(flatten)]
    reports: ReportOptions,
}

pub(crate) async fn command(arguments: Arguments) -> ExitCode {
    let reports = arguments.reports.clone();
    let known = match reports.prepare() {
        Ok(known) => known,
        Err(error) => {
            return failed_by(error.exit_code(), &error);
        }
    };
    let card_keys = match &arguments.jwks {
        None => None,
        Some(jwks) => match read_keys(jwks).await {
            Ok(keys) => Some(keys),
            Err(failed) => return failed.report(),
        },
    };
    let scaled = arguments.timeout.mul_f64(arguments.timeout_scale);
    let start_timeout = scaled.saturating_mul(3);
    if arguments.exec.is_none() && arguments.url.is_none() {
        return refused("which agent? give its URL, or start it by --exec COMMAND: see --help");
    }
    let (exec, options) = (arguments.exec.clone(), arguments.options(card_keys));
    let mut options = match options {
        Ok(options) => options,
        Err(problem) => return refused(&problem),
    };
    let process = match &exec {
        None => None,
        Some(command) => {
            let started = tokio::select! {
                started = Process::start(command, start_timeout) => started,
                () = interruption() => return ended_by(&RunError::Interrupted),
            };
            match started {
                Ok(process) => Some(process),
                Err(problem) => {
                    let problem = format!("it cannot be started: {problem}");
                    return ended_by(&RunError::Unreachable(problem));
                }
            }
        }
    };
    options.url = match &process {
        Some(process) => process.url().to_owned(),
        None => options.url,
    };
    let progress = Progress::new();
    let tested = run_until(&options, interruption(), |state| {
        progress.of(state.total);
        if let Some(result) = state.last {
            progress.done(result);
        }
    })
    .await;
    progress.finish();
    match tested {
        Ok(mut run) => {
            run.group_causes();
            reports.conclude(run, &known)
        }
        Err(problem) => ended_by(&problem),
    }
}

fn ended_by(problem: &RunError) -> ExitCode {
    let code = match problem {
        RunError::Unreachable(_) => UNREACHABLE,
        RunError::Broken(_) => 4,
        RunError::NoInterface(_) | RunError::NoCheckSelected => USAGE,
        RunError::Interrupted => 130,
    };
    failed_by(code, problem)
}

impl Arguments {
    /// Errors: the files of the credentials cannot be used.
    fn options(self, card_keys: Option<Jwks>) -> Result<Options, String> {
        let levels = match self.level {
            Level::May => Vec::new(),
            level => Level::ALL
                .iter()
                .copied()
                .filter(|one| *one <= level)
                .collect(),
        };
        self.credentials.add_to(Options {
            profile: match self.black_box {
                true => Profile::BlackBox,
                false => Profile::Instrumented,
            },
            protocol_versions: self.protocol_version,
            bindings: self.binding,
            selection: Selection {
                run: self.run,
                skip: self.skip,
                levels,
            },
            prompt: self.prompt,
            card_keys,
            response_timeout: self.timeout,
            delivery_timeout: self.patience,
            scale: self.timeout_scale,
            webhook_host: self.webhook_host,
            jobs: self.jobs,
            repeat: self.repeat,
            ..Options::of(self.url.unwrap_or_default())
        })
    }
}
