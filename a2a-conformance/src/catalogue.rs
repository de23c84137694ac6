//! All cases, built in.

use std::sync::LazyLock;

use rust_embed::RustEmbed;

use crate::case::Case;
use crate::yaml;

#[derive(RustEmbed)]
#[folder = "cases/agent/"]
struct AgentCaseFiles;

/// The cases against an agent, in order of their files.
///
/// Errors: which file cannot be read, and why. A test reads all of them.
pub fn agent_cases() -> Result<&'static [Case], String> {
    static ALL: LazyLock<Result<Vec<Case>, String>> = LazyLock::new(read);
    ALL.as_deref().map_err(Clone::clone)
}

fn read() -> Result<Vec<Case>, String> {
    let mut names: Vec<_> = AgentCaseFiles::iter()
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    let mut all = Vec::new();
    for name in names {
        let file = AgentCaseFiles::get(&name).ok_or_else(|| format!("{name} is not there"))?;
        let text = String::from_utf8_lossy(&file.data).into_owned();
        let cases: Vec<Case> = yaml::read(&text).map_err(|error| format!("{name}: {error}"))?;
        all.extend(cases);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Rules about streams, webhooks and extended cards bind only agents that declare them.
    #[test]
    fn a_case_needs_the_capability_of_each_operation_that_it_calls() {
        use crate::case::Prerequisite::{
            ExtendedCard, NoExtendedCard, NoPush, NoStreaming, Push, Streaming, Webhook,
        };
        let mut undeclared = Vec::new();
        for case in agent_cases().unwrap() {
            let steps = case
                .steps
                .iter()
                .chain(case.steps.iter().flat_map(|step| &step.together));
            for step in steps {
                let called = step.call.as_ref().or(step.stream.as_ref());
                let needs: &[_] = match called.map(String::as_str) {
                    Some("SendStreamingMessage" | "SubscribeToTask") => &[Streaming, NoStreaming],
                    Some("GetExtendedAgentCard") => &[ExtendedCard, NoExtendedCard],
                    Some(other) if other.contains("PushNotification") => &[Push, Webhook, NoPush],
                    _ if step
                        .params
                        .to_string()
                        .contains("taskPushNotificationConfig") =>
                    {
                        &[Push, Webhook, NoPush]
                    }
                    _ => continue,
                };
                let mut declared = case.needs.iter().chain(&step.needs);
                let mut opens = case.steps.iter().filter(|step| step.stream.is_some());
                let ends_without = opens.any(|step| step.otherwise.is_some());
                if !declared.any(|need| needs.contains(need)) && !ends_without {
                    undeclared.push(format!("{}: {}", case.id, called.unwrap_or(&case.title)));
                }
            }
        }
        assert!(undeclared.is_empty(), "{undeclared:#?}");
    }

    /// So at run time a template can fail only because an answer of the agent lacks a member.
    #[test]
    fn templates_name_what_is_given_or_was_answered_before() {
        const GIVEN: &[&str] = &[
            "base",
            "card",
            "card_path",
            "card_url",
            "it",
            "key",
            "key_signed_tokens",
            "method",
            "parent",
            "prompt",
            "random",
            "tenant",
            "unsigned_tokens",
            "url",
            "version",
            "webhook",
            "webhook_port",
        ];
        let mut unknown = Vec::new();
        for case in agent_cases().unwrap() {
            let mut answers: Vec<&str> = Vec::new();
            for step in &case.steps {
                answers.extend(step.r#as.as_deref());
                answers.extend(step.together.iter().filter_map(|step| step.r#as.as_deref()));
                let text = serde_json::to_string(step).unwrap();
                let names = text.split("{{").skip(1);
                let names =
                    names.map(|rest| rest.split(['.', '}']).next().unwrap_or_default().trim());
                unknown.extend(
                    names
                        .filter(|name| {
                            let is_part = |answer: &&str| {
                                let part = name.strip_prefix(*answer);
                                part.is_some_and(|it| {
                                    ["", "_task", "_body", "_text", "_headers"].contains(&it)
                                })
                            };
                            !GIVEN.contains(name) && !answers.iter().any(is_part)
                        })
                        .map(|name| format!("{}: {name}", case.id)),
                );
            }
        }
        assert!(unknown.is_empty(), "{unknown:#?}");
    }

    #[test]
    fn cases_make_sense() {
        let cases = agent_cases().unwrap();
        assert!(!cases.is_empty());
        let mut ids = BTreeSet::new();
        for case in cases {
            assert_eq!(case.problems(), [""; 0], "{}", case.id);
            assert!(ids.insert(&case.id), "{} is there twice", case.id);
            let rules = case
                .steps
                .iter()
                .filter_map(|step| step.expect.rule.as_deref());
            for rule in rules {
                assert!(
                    crate::agent::is_rule(rule),
                    "{}: `{rule}` is not a rule",
                    case.id
                );
            }
        }
    }
}
