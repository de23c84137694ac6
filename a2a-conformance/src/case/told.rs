//! Description of a case in words.

use serde_json::Value;

use super::{Case, Http, Profile, Step};
use crate::explanation::one_after_another;

/// Describes a case in one or two sentences.
pub(crate) fn told(case: &Case) -> String {
    let mut told = format!(
        "The suite {}.",
        one_after_another(case.steps.iter().map(act))
    );
    if case.profile == Profile::Instrumented {
        told += " Only agents that keep the behaviour contract are asked.";
    }
    match &*case.why {
        "" => told,
        why => format!("{told} {why}"),
    }
}

fn act(step: &Step) -> String {
    let mut told = match step {
        Step {
            call: Some(operation),
            ..
        } => format!("calls {operation}{}", said(&step.params)),
        Step {
            stream: Some(operation),
            ..
        } => format!("follows {operation}{}", said(&step.params)),
        Step {
            http: Some(http), ..
        } => sent(http),
        Step { next: Some(_), .. } => "reads on in the stream".to_owned(),
        Step { close: Some(_), .. } => "closes the stream".to_owned(),
        Step {
            notified: Some(_), ..
        } => "looks at what its webhook is told".to_owned(),
        Step {
            see: Some(Value::String(seen)),
            ..
        } if seen.starts_with("{{card") => "looks at the card".to_owned(),
        Step { see: Some(_), .. } => "looks at what came".to_owned(),
        Step { together, .. } => format!(
            "at once {}",
            together.iter().map(act).collect::<Vec<_>>().join(" and ")
        ),
    };
    if step.alter.is_some() || step.envelope.is_some() {
        told += " with something changed in the request";
    }
    if step.eventually {
        told += " until that comes";
    }
    match step.for_each.len() {
        0 => told,
        count => format!("{told} with each of {count} values"),
    }
}

/// Returns the text of the message, if it is always the same.
fn said(params: &Value) -> String {
    match params["message"]["parts"][0]["text"].as_str() {
        Some("{{prompt}}") => " (the prompt)".to_owned(),
        Some(text) if is_short(text) => format!(" (“{text}”)"),
        _ => String::new(),
    }
}

/// Returns whether a text is short enough to be quoted, and fixed.
fn is_short(text: &str) -> bool {
    text.chars().count() <= 40 && !text.contains("{{") && !text.chars().any(char::is_control)
}

fn sent(http: &Http) -> String {
    let method = http.method.as_deref().unwrap_or("POST");
    let what = match (&http.body, &http.bytes, &http.repeat) {
        (_, _, Some(_)) => "a large body",
        (None, None, None) => "no body",
        _ => "a body of its own",
    };
    match http.path.contains("{{") || http.path.is_empty() {
        true => format!("sends a {method} with {what}"),
        false => format!("sends a {method} of {} with {what}", http.path),
    }
}
