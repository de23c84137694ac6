//! `a2a conformance`.

use a2a_conformance::agent::{Options as RunOptions, run as run_suite};
use a2a_conformance::case::Profile;
use a2a_conformance::record::{Score, Verdict};
use a2a_conformance::requirement::Level;
use clap::Args;
use http::{HeaderValue, Request};

use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::show::{Screen, note};

/// Agent to check.
#[derive(Args)]
#[command(after_help = "\
These are the checks that `a2a-conformance` has for any agent (its black box), not the TCK of the A2A project. They send messages and \
begin tasks. `a2a-conformance agent URL` has reports, waivers and the other checks.

Examples:
  a2a conformance https://agent.example
  a2a conformance -a https://agent.example -o json | jq '.checks[] | select(.verdict == \"failed\")'

The exit code is 1 if the agent does not meet everything that is required.")]
pub(crate) struct Options {
    #[arg(value_name = "URL", hide = true)]
    reference: Option<String>,
    /// Text of the messages that are sent.
    #[arg(long, default_value = "hello", value_name = "TEXT")]
    prompt: String,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let agent = options.agent.or(options.reference);
    let target = agent.suite_target().await?;
    let mut settings = RunOptions::of(target.url);
    settings.profile = Profile::BlackBox;
    settings.prompt = options.prompt;
    settings.http = target.http;
    settings.anonymous_http = Some(agent.anonymous_http()?);
    settings.anonymous_card = target.anonymous_card;
    settings.protocol_versions = target.versions;
    settings.bindings = target.bindings;
    settings.headers.extend(target.headers);
    if let Some(credentials) = target.credentials {
        let (mut head, ()) = Request::new(()).into_parts();
        credentials.attach(&mut head).await?;
        for (name, value) in form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes())
        {
            let value = HeaderValue::from_str(&value);
            let value = value.map_err(|_| Failure::usage("--api-key: expected visible ASCII"))?;
            settings.query.push((name.into_owned(), value));
        }
        settings.headers.extend(head.headers);
    }
    note("running the checks of a2a-conformance for any agent");
    let run = run_suite(&settings, |_, _| {}).await;
    // The advice in further lines is for the options of `a2a-conformance`.
    let reason = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let mut run = run.map_err(|error| Failure::NoCard(reason(error.to_string())))?;
    run.group_causes();
    let unmet = run
        .checks
        .iter()
        .filter(|check| check.level == Level::Must && matches!(check.verdict, Verdict::Fail));
    let unmet = unmet.count();
    if screen.json {
        screen.value(&run)?;
    } else {
        screen.field("Agent", &run.target.place)?;
        screen.field("Suite", &format!("{} (black box)", run.suite))?;
        for check in &run.checks {
            let label = match check.verdict {
                Verdict::Fail => "Failed",
                verdict if verdict.is_scored() && verdict.is_met() => "Passed",
                _ => continue,
            };
            screen.field(
                label,
                &format!("{} {}: {}", check.column(), check.id, check.title),
            )?;
        }
        let score: Score = run.checks.iter().collect();
        let result = format!(
            "{} of {} checks passed; {} do not apply, {} could not be made",
            score.met, score.scored, score.not_applicable, score.untestable
        );
        screen.field("Result", &result)?;
    }
    match unmet {
        0 => Ok(()),
        unmet => Err(Failure::Verdict(format!(
            "{unmet} required checks failed: `a2a-conformance agent` shows why"
        ))),
    }
}
