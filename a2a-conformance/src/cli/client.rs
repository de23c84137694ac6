//! `a2a-conformance client`: the suite as the agent, against a client.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Instant;

use a2a_conformance::client::{CaseServer, Driver, Selection, cases};
use a2a_conformance::record::{CheckResult, FORMAT, Run, Settings, Target};
use a2a_conformance::report::Progress;
use a2a_conformance::requirement::{Level, Role};
use a2a_transport::Binding;
use a2a_types::{ProtocolVersion, Timestamp};
use clap::{ArgGroup, Args};

use super::interruption::interruption;
use super::print::{failed, failed_by, refused};
use super::report_options::ReportOptions;
use super::values::{bindings, levels, protocol_versions, read_count, read_factor, read_pattern};

/// Client to test, and the cases to run.
#[derive(Args)]
#[command(group = ArgGroup::new("client"), after_help = "\
Examples:
  a2a-conformance client --stdio 'python3 shims/client.py' --protocol-version 1.0 --binding jsonrpc
  a2a-conformance client --exec './my-client {url}' --run 'client.redirect-*'
  a2a-conformance client --listen 127.0.0.1:9900 --report html,junit -o reports/

A client takes part through a small program around it. The protocol of that program, and programs to begin with:
  https://github.com/a2a-rust/a2a/blob/main/docs/reference/client-protocol.md
  https://github.com/a2a-rust/a2a/tree/main/a2a-conformance/shims
Begin with --stdio: it is the only way in which the \
suite sees what the client has read.

Exit codes: 0 all that is required is met, 1 something is not, 2 usage or nothing was checked, 4 the suite itself is \
broken, 5 only waivers are out of date, 130 interrupted (the reports are written).")]
pub(crate) struct Arguments {
    /// Start this command for each case, with the URL of the agent in place of `{url}`.
    #[arg(long, value_name = "COMMAND", group = "client")]
    exec: Option<String>,
    /// Start this command, and send it one instruction per line.
    #[arg(long, value_name = "COMMAND", group = "client")]
    stdio: Option<String>,
    /// Listen at this address, like 127.0.0.1:9900, for a client that runs the cases by itself.
    #[arg(long, value_name = "ADDRESS", group = "client")]
    listen: Option<SocketAddr>,
    /// Run only checks whose id matches this pattern; `*` matches any text.
    #[arg(long, value_name = "PATTERN", value_parser = read_pattern)]
    run: Vec<String>,
    /// Skip checks whose id matches this pattern.
    #[arg(long, value_name = "PATTERN", value_parser = read_pattern)]
    skip: Vec<String>,
    /// Run only checks of this level or a stricter one.
    #[arg(long, value_name = "LEVEL", default_value = "may", value_parser = levels())]
    level: Level,
    /// Test only this protocol version.
    #[arg(long, value_name = "VERSION", value_parser = protocol_versions())]
    protocol_version: Vec<ProtocolVersion>,
    /// Test only this protocol binding.
    #[arg(long, value_name = "BINDING", value_parser = bindings())]
    binding: Vec<Binding>,
    /// Number of cases to run concurrently.
    #[arg(long, value_name = "N", default_value = "8", value_parser = read_count)]
    jobs: usize,
    /// Multiply the time limits of the client by this factor.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = read_factor)]
    timeout_scale: f64,
    #[command(flatten)]
    reports: ReportOptions,
}

/// Runs the cases, and prints the results.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let known = match arguments.reports.prepare() {
        Ok(known) => known,
        Err(error) => {
            return failed_by(error.exit_code(), &error);
        }
    };
    let selection = Selection {
        run: arguments.run.clone(),
        skip: arguments.skip.clone(),
        level: arguments.level,
        protocol_versions: arguments.protocol_version.clone(),
        bindings: arguments.binding.clone(),
        jobs: arguments.jobs,
        scale: arguments.timeout_scale,
        flood: None,
    };
    let chosen = match selection.chosen() {
        Ok(chosen) => chosen,
        Err(problem) => return failed(4, &format!("the cases cannot be read: {problem}")),
    };
    if chosen.is_empty() {
        let all = cases().map_or(0, <[_]>::len);
        return failed(
            2,
            &format!(
                "nothing to run: none of {all} checks is chosen (`list --role client` names them)"
            ),
        );
    }
    // A client that runs the cases by itself has no driver.
    if let Some(address) = arguments.listen {
        return match receive(address, &selection).await {
            Ok(mut run) => {
                run.group_causes();
                arguments.reports.conclude(run, &known)
            }
            Err((code, problem)) => failed(code, &problem),
        };
    }
    let (driver, place) = match (&arguments.exec, &arguments.stdio) {
        (Some(command), _) => (Driver::exec(command), command.clone()),
        (None, Some(command)) => (Driver::stdio(command), command.clone()),
        (None, None) => {
            let ways = "--stdio COMMAND, --exec COMMAND or --listen ADDRESS";
            return refused(&format!("which client? {ways} says: see --help"));
        }
    };
    let (began, clock) = (Timestamp::now(), Instant::now());
    let (progress, done) = (Progress::new(), RefCell::new(Vec::new()));
    progress.of(chosen.len());
    let all = selection.run(&driver, |result| {
        progress.done(result);
        done.borrow_mut().push(result.clone());
    });
    let ended = tokio::select! {
        ended = all => Some(ended),
        () = interruption() => None,
    };
    progress.finish();
    let mut run = match ended {
        Some(Ok(checks)) => run_of(place, began, clock, checks),
        Some(Err(problem)) => return failed(4, &problem),
        None => run_of(place, began, clock, done.take()),
    };
    run.not_made = chosen.len().saturating_sub(run.checks.len());
    run.group_causes();
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
    let reception = CaseServer::open(address, selection)
        .await
        .map_err(|error| (4, format!("cannot listen at {address}: {error}")))?;
    let place = format!("http://{}", reception.address());
    eprintln!("GET {place}/cases lists the cases; POST {place}/end ends it");
    let interrupted = Cell::new(false);
    let stop = async {
        interruption().await;
        interrupted.set(true);
    };
    let checks = reception.receive_until(stop).await;
    let chosen = selection.chosen().map_err(|problem| (4, problem))?;
    let not_made = match interrupted.get() {
        true => chosen.len().saturating_sub(checks.len()),
        false => 0,
    };
    match checks.is_empty() && not_made == 0 {
        true => Err((2, "no case was finished".to_owned())),
        false => Ok(Run {
            not_made,
            ..run_of(place, began, clock, checks)
        }),
    }
}
