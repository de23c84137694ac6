//! `a2a-conformance client`: the suite as the agent, against a client.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Instant;

use a2a_conformance::client::{Driver, Reception, Selection, cases};
use a2a_conformance::mutant::client::Subject;
use a2a_conformance::requirement::{Level, Role};
use a2a_conformance::run::{CheckResult, FORMAT, Run, Settings, Target};
use a2a_transport::Binding;
use a2a_types::{Dialect, Timestamp};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};

use super::complain;
use super::reports::ReportOptions;

/// Which client to test, and by which cases.
#[derive(Args)]
#[command(group = ArgGroup::new("client").required(true))]
pub(crate) struct Arguments {
    /// Starts this command for each case, `{url}` in it replaced by where the agent is.
    #[arg(long, value_name = "CMD", group = "client")]
    exec: Option<String>,
    /// Starts this command, and tells it what to do line by line.
    #[arg(long, value_name = "CMD", group = "client")]
    stdio: Option<String>,
    /// Waits for a client that goes through the cases by itself.
    #[arg(long, value_name = "ADDR", group = "client")]
    listen: Option<SocketAddr>,
    /// Tests the client of this project.
    #[arg(long, group = "client", hide = true)]
    ours: bool,
    /// Is the client of this project, told what to do line by line.
    #[arg(long, group = "client", hide = true)]
    be_ours: bool,
    /// Where the agent is, for the client of this project.
    #[arg(value_name = "URL", hide = true, requires = "be_ours")]
    url: Option<String>,
    /// Only checks like this, `*` for anything.
    #[arg(long, value_name = "GLOB")]
    run: Vec<String>,
    /// No checks like this.
    #[arg(long, value_name = "GLOB")]
    skip: Vec<String>,
    /// Only checks of this level, or above.
    #[arg(long, value_name = "LEVEL", default_value = "may", value_parser = levels())]
    level: Level,
    /// Only this generation: 0.1, 0.2, 0.3, 1.0.
    #[arg(long, value_name = "VERSION", value_parser = dialects())]
    dialect: Vec<Dialect>,
    /// Only this binding: jsonrpc, http-json.
    #[arg(long, value_name = "BINDING", value_parser = bindings())]
    binding: Vec<Binding>,
    /// How many cases at once.
    #[arg(long, value_name = "N", default_value_t = 8)]
    jobs: usize,
    /// How much longer than usual the client may take.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    timeout_scale: f64,
    #[command(flatten)]
    reports: ReportOptions,
}

fn levels() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["must", "should", "may"]).map(|level| match level.as_str() {
        "must" => Level::Must,
        "should" => Level::Should,
        _ => Level::May,
    })
}

fn dialects() -> impl TypedValueParser<Value = Dialect> {
    let versions = Dialect::ALL.iter().map(|dialect| dialect.version());
    let parser = PossibleValuesParser::new(versions);
    parser.map(|version| Dialect::from_version(&version).unwrap_or(Dialect::V1_0))
}

fn bindings() -> impl TypedValueParser<Value = Binding> {
    PossibleValuesParser::new(["jsonrpc", "http-json"]).map(|binding| match binding.as_str() {
        "jsonrpc" => Binding::JsonRpc,
        _ => Binding::HttpJson,
    })
}

/// Runs the cases, and tells what came of them.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    if arguments.be_ours {
        // The context says so, too.
        drop(arguments.url);
        if let Ok(context) = std::env::var("A2A_CONFORMANCE_CONTEXT") {
            let context = serde_json::from_str(&context).unwrap_or_default();
            return match a2a_conformance::client::perform_once(&context).await {
                Ok(code) => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
                Err(problem) => failed(1, &problem.to_string()),
            };
        }
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        let output = tokio::io::stdout();
        let talked = a2a_conformance::client::converse(input, output, Subject::Ours).await;
        return match talked {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let known = match arguments.reports.prepare() {
        Ok(known) => known,
        Err(error) => {
            complain(&error);
            return ExitCode::from(error.exit_code());
        }
    };
    let selection = Selection {
        run: arguments.run.clone(),
        skip: arguments.skip.clone(),
        level: arguments.level,
        dialects: arguments.dialect.clone(),
        bindings: arguments.binding.clone(),
        jobs: arguments.jobs,
        scale: arguments.timeout_scale,
    };
    let chosen = match selection.chosen() {
        Ok(chosen) => chosen,
        Err(problem) => return failed(4, &format!("the cases cannot be read: {problem}")),
    };
    if chosen.is_empty() {
        let all = cases().map_or(0, <[_]>::len);
        return failed(
            2,
            &format!("nothing to run: none of {all} checks is chosen"),
        );
    }
    let (driver, place) = match (&arguments.exec, &arguments.stdio) {
        (Some(command), _) => (Driver::exec(command), command.clone()),
        (None, Some(command)) => (Driver::stdio(command), command.clone()),
        (None, None) => (Driver::ours(), "ours".to_owned()),
    };
    if let Some(address) = arguments.listen {
        return match receive(address, &selection).await {
            Ok(run) => arguments.reports.conclude(run, &known),
            Err((code, problem)) => failed(code, &problem),
        };
    }
    let (began, clock) = (Timestamp::now(), Instant::now());
    let terminal = std::io::stderr().is_terminal();
    let total = chosen.len();
    let count = std::cell::Cell::new(0);
    let checks = selection.run(&driver, |_| {
        count.set(count.get() + 1);
        if terminal {
            eprint!("\r{} of {total} checks\x1b[K", count.get());
        }
    });
    let checks = match checks.await {
        Ok(checks) => checks,
        Err(problem) => return failed(4, &problem),
    };
    if terminal {
        eprint!("\r\x1b[K");
    }
    let run = run_of(place, began, clock, checks);
    arguments.reports.conclude(run, &known)
}

fn run_of(place: String, began: Timestamp, clock: Instant, checks: Vec<CheckResult>) -> Run {
    Run {
        format: FORMAT.to_owned(),
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        target: Target {
            role: Some(Role::Client),
            place,
            ..Target::default()
        },
        settings: Settings {
            profile: "client".to_owned(),
            repeat: 1,
            ..Settings::default()
        },
        began: began.to_string(),
        seconds: clock.elapsed().as_secs_f64(),
        checks,
        ..Run::default()
    }
}

/// Waits for a client that goes through the cases by itself.
async fn receive(address: SocketAddr, selection: &Selection) -> Result<Run, (u8, String)> {
    let (began, clock) = (Timestamp::now(), Instant::now());
    let reception = Reception::open(address, selection)
        .await
        .map_err(|error| (4, format!("cannot listen at {address}: {error}")))?;
    let place = format!("http://{}", reception.address());
    eprintln!("GET {place}/cases tells what to do; POST {place}/end ends it");
    let checks = tokio::select! {
        checks = reception.receive() => checks,
        _ = tokio::signal::ctrl_c() => return Err((130, "interrupted".to_owned())),
    };
    match checks.is_empty() {
        true => Err((2, "no case was finished".to_owned())),
        false => Ok(run_of(place, began, clock, checks)),
    }
}

fn failed(code: u8, problem: &str) -> ExitCode {
    eprintln!("{problem}");
    ExitCode::from(code)
}
