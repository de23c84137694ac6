//! `a2a-conformance agent`.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use a2a_conformance::agent::{NoRun, Options, Process, Selection, run};
use a2a_conformance::case::Profile;
use a2a_conformance::requirement::Level;
use a2a_transport::Binding;
use a2a_transport::http::HttpClient;
use a2a_transport::webhook::Jwks;
use a2a_types::Dialect;
use clap::{Args, ValueEnum};
use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::complain;
use super::document::read_keys;
use super::reports::ReportOptions;

/// Which agent, and what is checked.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a-conformance agent http://127.0.0.1:8080
  a2a-conformance agent https://agent.example --black-box --prompt 'summarize: hello'
  a2a-conformance agent http://127.0.0.1:8080 --dialect 1.0 --run 'stream.*' --repeat 50
  a2a-conformance agent --exec './my-agent --port {port}' --black-box
  a2a-conformance agent http://127.0.0.1:8080 --report html,junit -o reports/ --waivers known.yaml
  a2a-conformance agent https://agent.example -H 'Authorization: Bearer …' --second-header 'Authorization: Bearer …'

An agent that keeps the behaviour contract does what the first word of a message says (`a2a-conformance
explain contract`); any other is tested by --black-box.

Exit codes: 0 all that is required is met, 1 something is not, 2 usage or nothing was checked, 3 the agent cannot be
reached, 4 the suite itself is broken, 5 only waivers are out of date.")]
pub(crate) struct Arguments {
    /// The agent: its origin, base or card.
    #[arg(value_name = "URL", required_unless_present = "exec")]
    url: Option<String>,
    /// Start the agent by this command, in which `{port}` is where it has to listen, and end it afterwards.
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    exec: Option<String>,
    /// The agent keeps no contract: only what every agent must do.
    #[arg(long)]
    black_box: bool,
    /// What is said to an agent that keeps no contract.
    #[arg(long, default_value = "hello")]
    prompt: String,
    /// Only this generation.
    #[arg(long, value_name = "VERSION", value_parser = read_dialect)]
    dialect: Vec<Dialect>,
    /// Only this binding.
    #[arg(long, value_enum)]
    binding: Vec<Way>,
    /// Only checks like this, in which `*` is anything.
    #[arg(long, value_name = "PATTERN")]
    run: Vec<String>,
    /// No checks like this.
    #[arg(long, value_name = "PATTERN")]
    skip: Vec<String>,
    /// Only checks of this level.
    #[arg(long, value_enum)]
    level: Vec<Weight>,
    /// A header of every request.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", value_parser = read_header)]
    headers: Vec<(HeaderName, HeaderValue)>,
    /// A header of every request of a second caller, who must not see what the first one has.
    #[arg(long = "second-header", value_name = "NAME: VALUE", value_parser = read_header)]
    second_headers: Vec<(HeaderName, HeaderValue)>,
    /// A header of a caller who is known, and may do nothing: who has to be told so.
    #[arg(long = "forbidden-header", value_name = "NAME: VALUE", value_parser = read_header)]
    forbidden_headers: Vec<(HeaderName, HeaderValue)>,
    /// The keys that are trusted to sign the card, as a JSON Web Key Set.
    #[arg(long, value_name = "FILE|URL")]
    jwks: Option<String>,
    /// How long the agent may take to answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
    /// What all deadlines are multiplied by.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    timeout_scale: f64,
    /// The host by which the agent reaches webhooks of this machine.
    #[arg(long, value_name = "HOST")]
    webhook_host: Option<String>,
    /// How many checks are made at once.
    #[arg(long, value_name = "N", default_value_t = 8)]
    jobs: usize,
    /// Make every check so often: one that is not always met is flaky.
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    #[command(flatten)]
    reports: ReportOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Jsonrpc,
    HttpJson,
}

#[derive(Clone, Copy, ValueEnum)]
enum Weight {
    Must,
    Should,
    May,
}

fn read_dialect(text: &str) -> Result<Dialect, String> {
    let known = Dialect::ALL
        .iter()
        .find(|dialect| dialect.version() == text);
    known
        .copied()
        .ok_or_else(|| "expected 0.1, 0.2, 0.3 or 1.0".to_owned())
}

fn read_header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`")?;
    let name = HeaderName::try_from(name.trim()).map_err(|error| error.to_string())?;
    let mut value = HeaderValue::from_str(value.trim()).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok((name, value))
}

pub(crate) async fn command(arguments: Arguments) -> ExitCode {
    let reports = arguments.reports.clone();
    let known = match reports.prepare() {
        Ok(known) => known,
        Err(error) => {
            complain(&error);
            return ExitCode::from(error.exit_code());
        }
    };
    let card_keys = match &arguments.jwks {
        None => None,
        Some(jwks) => match read_keys(jwks).await {
            Ok(keys) => Some(keys),
            Err(failed) => return failed.told(),
        },
    };
    let patience = Duration::from_secs(arguments.timeout * 3);
    let process = match &arguments.exec {
        None => None,
        Some(command) => match Process::start(command, patience).await {
            Ok(process) => Some(process),
            Err(problem) => {
                eprintln!("the agent cannot be started: {problem}");
                return ExitCode::from(3);
            }
        },
    };
    let place = process.as_ref().map(|process| process.url().to_owned());
    let options = arguments.options(place, card_keys);
    let terminal = std::io::stderr().is_terminal();
    let tested = run(&options, |done, total| {
        if terminal {
            eprint!("\r{done} of {total} checks\x1b[K");
        }
    })
    .await;
    if terminal {
        eprint!("\r\x1b[K");
    }
    match tested {
        Ok(run) => reports.conclude(run, &known),
        Err(problem) => {
            complain(&problem);
            ExitCode::from(match problem {
                NoRun::Unreachable(_) => 3,
                NoRun::Broken(_) => 4,
                NoRun::NoLane(_) | NoRun::NothingChosen => 2,
            })
        }
    }
}

impl Arguments {
    fn options(self, place: Option<String>, card_keys: Option<Jwks>) -> Options {
        let headers =
            |pairs: Vec<(HeaderName, HeaderValue)>| pairs.into_iter().collect::<HeaderMap>();
        Options {
            url: place.or(self.url).unwrap_or_default(),
            profile: match self.black_box {
                true => Profile::BlackBox,
                false => Profile::Instrumented,
            },
            dialects: self.dialect,
            bindings: self
                .binding
                .iter()
                .map(|way| match way {
                    Way::Jsonrpc => Binding::JsonRpc,
                    Way::HttpJson => Binding::HttpJson,
                })
                .collect(),
            selection: Selection {
                run: self.run,
                skip: self.skip,
                levels: self
                    .level
                    .iter()
                    .map(|weight| match weight {
                        Weight::Must => Level::Must,
                        Weight::Should => Level::Should,
                        Weight::May => Level::May,
                    })
                    .collect(),
            },
            prompt: self.prompt,
            headers: headers(self.headers),
            second_headers: headers(self.second_headers),
            forbidden_headers: headers(self.forbidden_headers),
            card_keys,
            patience: Duration::from_secs(self.timeout),
            scale: self.timeout_scale,
            webhook_host: self.webhook_host,
            jobs: self.jobs,
            repeat: self.repeat,
            http: HttpClient::default(),
        }
    }
}
