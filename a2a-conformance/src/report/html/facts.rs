//! Facts about a run: its settings, its time and its target.

use jiff::Timestamp;

use crate::record::Run;
use crate::record::visible::line;
use crate::requirement::Role;

use super::row::duration;

/// Returns what is known about a run besides its results, each with a name.
pub(super) fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let settings = &run.settings;
    let role = match run.target.role {
        Some(Role::Agent) => "agent",
        Some(Role::Client) => "client",
        Some(Role::Operator) | None => "",
    };
    // A run without a random part has no seed.
    let seed = match settings.seed {
        0 => String::new(),
        seed => seed.to_string(),
    };
    let again = match settings.repeat {
        0 | 1 => String::new(),
        times => format!("each check {times} times"),
    };
    let strict = match settings.strict {
        true => "a SHOULD is required, too",
        false => "",
    };
    let filters: Vec<_> = settings
        .filters
        .iter()
        .map(|(name, values)| format!("--{name} {}", values.join(",")))
        .collect();
    let facts = [
        ("Tested as", role.to_owned()),
        ("Profile", settings.profile.clone()),
        ("When", readable_time(&run.began)),
        ("Took", duration(run.seconds)),
        ("Seed", seed),
        ("Repeated", again),
        ("Strict", strict.to_owned()),
        ("Only", filters.join(" ")),
        ("Offers", run.target.interfaces.join(", ")),
        ("Server", run.target.server.clone().unwrap_or_default()),
        ("Suite", run.suite.clone()),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name, line(&value).into_owned()))
        .collect()
}

/// Formats a time for people; returns any other text unchanged.
fn readable_time(text: &str) -> String {
    match text.parse::<Timestamp>() {
        Ok(time) => time.strftime("%-d %B %Y, %H:%M UTC").to_string(),
        Err(_) => text.to_owned(),
    }
}
