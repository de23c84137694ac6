//! Description of a case in a few sentences.

use serde_json::Value;

use super::{Case, Profile, RawHttpRequest, Step};

/// Describes a case in one or two sentences.
pub(crate) fn describe(case: &Case) -> String {
    let mut text = format!(
        "The suite {}.",
        one_after_another(case.steps.iter().map(describe_step))
    );
    if case.profile == Profile::Instrumented {
        text += " Only agents that keep the behaviour contract are asked.";
    }
    match &*case.why {
        "" => text,
        why => format!("{text} {why}"),
    }
}

fn describe_step(step: &Step) -> String {
    let mut text = match step {
        Step {
            call: Some(operation),
            ..
        } => format!("calls {operation}{}", message_text(&step.params)),
        Step {
            stream: Some(operation),
            ..
        } => format!("follows {operation}{}", message_text(&step.params)),
        Step {
            http: Some(http), ..
        } => http_request(http),
        Step { next: Some(_), .. } => "reads on in the stream".to_owned(),
        Step { close: Some(_), .. } => "closes the stream".to_owned(),
        Step {
            notified: Some(_), ..
        } => "checks the push notifications at its webhook".to_owned(),
        Step {
            see: Some(Value::String(seen)),
            ..
        } if seen.starts_with("{{card") => "checks the card".to_owned(),
        Step {
            handshake: Some(_), ..
        } => "tries a handshake of TLS".to_owned(),
        Step { see: Some(_), .. } => "checks an earlier result".to_owned(),
        Step { together, .. } => format!(
            "at once {}",
            together
                .iter()
                .map(describe_step)
                .collect::<Vec<_>>()
                .join(" and ")
        ),
    };
    if step.alter.is_some() || step.envelope.is_some() {
        text += " with a changed request";
    }
    if step.eventually {
        text += " until it gets the expected result";
    }
    match step.for_each.len() {
        0 => text,
        count => format!("{text} with each of {count} values"),
    }
}

/// Returns the text of the message, if it is always the same.
fn message_text(params: &Value) -> String {
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

fn http_request(http: &RawHttpRequest) -> String {
    let method = http.method.as_deref().unwrap_or("POST");
    let body = match (&http.body, &http.bytes, &http.repeat) {
        (_, _, Some(_)) => "a large body",
        (None, None, None) => "no body",
        _ => "a raw body",
    };
    match http.path.contains("{{") || http.path.is_empty() {
        true => format!("sends a {method} with {body}"),
        false => format!("sends a {method} of {} with {body}", http.path),
    }
}

/// `a`, `a, then b`, `a, then b, then c`; what is done again is counted.
pub(crate) fn one_after_another(acts: impl IntoIterator<Item = String>) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for act in acts {
        match counted.last_mut() {
            Some((last, times)) if *last == act => *times += 1,
            _ => counted.push((act, 1)),
        }
    }
    let text = counted.into_iter().map(|(act, times)| match times {
        1 => act,
        2 => format!("{act} twice"),
        _ => format!("{act} {times} times"),
    });
    text.collect::<Vec<_>>().join(", then ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_acts_are_counted() {
        let times = one_after_another(["a", "b", "b", "c", "c", "c"].map(str::to_owned));
        assert_eq!(times, "a, then b twice, then c 3 times");
    }
}
