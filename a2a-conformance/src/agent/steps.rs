//! Execution of a case, step by step.

use std::time::Duration;

use a2a_transport::BoxFuture;
use serde_json::Value;

use super::case_run::{CaseRun, StopReason};
use super::patience::NOTIFICATION;
use super::{call_step, expectation, handshake, prerequisites, stream_step};
use crate::case::{Case, Profile, Step};
use crate::judge::delivery;
use crate::record::{Evidence, Mismatch};

/// Runs all steps, until one on which others depend is not met.
pub(super) async fn run(run: &mut CaseRun<'_>, case: &Case) -> Result<(), StopReason> {
    run.is_instrumented = case.profile == Profile::Instrumented;
    let result = run_steps(run, &case.steps).await;
    for (_, stream) in std::mem::take(&mut run.streams) {
        run.evidence.push(stream.evidence);
    }
    find_evidence(run);
    result
}

/// Gives each mismatch the exchange of its step, if it has none: that of a stream is whole only at the end.
fn find_evidence(run: &mut CaseRun<'_>) {
    for mismatch in &mut run.mismatches {
        let place = mismatch.place.strip_prefix("step ").unwrap_or_default();
        let digits = place.split(|letter: char| !letter.is_ascii_digit()).next();
        let step: Option<usize> = digits.and_then(|digits| digits.parse().ok());
        let of_step = |evidence: &Evidence| Some(evidence.step) == step;
        if mismatch.evidence.is_none() {
            mismatch.evidence = run.evidence.iter().position(of_step);
        }
    }
}

async fn run_steps(run: &mut CaseRun<'_>, steps: &[Step]) -> Result<(), StopReason> {
    let among =
        |names: &[String], name: &str| names.is_empty() || names.iter().any(|known| known == name);
    let (version, binding) = (
        run.interface.protocol_version.version(),
        run.interface.binding.to_string(),
    );
    for (index, step) in steps.iter().enumerate() {
        if !among(&step.only, version) || !among(&step.bindings, &binding) {
            continue;
        }
        let lacks = |need: &_| prerequisites::lacks(run.target, *need, run.interface);
        if step.needs.iter().any(lacks) {
            continue;
        }
        let has_task = |name: &String| run.names.has(&format!("{name}_task"));
        if !step.given_task.iter().all(has_task) {
            continue;
        }
        let before = run.mismatches.len();
        match step.for_each.as_slice() {
            [] => {
                run.at = (index + 1, None);
                run_step(run, step).await?;
            }
            values => {
                for (turn, value) in values.iter().enumerate() {
                    run.at = (index + 1, Some(turn + 1));
                    let value = run.fill(value)?;
                    run.names.put("it", value);
                    run_step(run, step).await?;
                }
            }
        }
        let named = step.r#as.is_some() || step.next.is_some();
        if run.mismatches.len() > before && named {
            return Err(StopReason::Unmet);
        }
    }
    Ok(())
}

fn run_step<'a>(run: &'a mut CaseRun<'_>, step: &'a Step) -> BoxFuture<'a, Result<(), StopReason>> {
    Box::pin(async move {
        if let Some(name) = &step.call {
            return call_step::call(run, step, name).await;
        }
        if let Some(name) = &step.stream {
            return stream_step::open(run, step, name).await;
        }
        if let Some(http) = &step.http {
            return call_step::http(run, step, http).await;
        }
        if let Some(name) = &step.next {
            let name = run.fill_text(name)?;
            return stream_step::next(run, step, &name).await;
        }
        if let Some(name) = &step.close {
            if let Some(stream) = run.streams.remove(name) {
                run.evidence.push(stream.evidence);
            }
            return Ok(());
        }
        if let Some(path) = &step.notified {
            return notified(run, step, path).await;
        }
        if let Some(version) = &step.handshake {
            return handshake(run, step, version).await;
        }
        if let Some(value) = &step.see {
            // A value that cannot be filled in is absent.
            let value = run.names.fill(value).ok();
            return judge_value(run, step, value.as_ref());
        }
        call_step::together(run, step).await
    })
}

/// Tries a handshake of a deprecated version of TLS at the place of the card.
async fn handshake(run: &mut CaseRun<'_>, step: &Step, version: &str) -> Result<(), StopReason> {
    let version = run.fill_text(version)?;
    let (url, limit) = (&run.target.place, run.interface.response_timeout);
    let accepted = handshake::is_accepted(url, &version, limit).await;
    let outcome = match accepted.map_err(StopReason::InvalidCase)? {
        true => format!("{version} accepted"),
        false => "refused".to_owned(),
    };
    judge_value(run, step, Some(&Value::from(outcome)))
}

/// Judges a value that is known without a request.
fn judge_value(
    run: &mut CaseRun<'_>,
    step: &Step,
    value: Option<&Value>,
) -> Result<(), StopReason> {
    let found = run.judge_step(step, |run, expect| expectation::value(run, expect, value))?;
    run.mismatches.extend(found);
    Ok(())
}

/// Waits until the webhook has received what the step expects, or the time is over.
async fn notified(run: &mut CaseRun<'_>, step: &Step, path: &str) -> Result<(), StopReason> {
    let Some(webhooks) = &run.target.webhooks else {
        return Err(StopReason::InvalidCase("there is no webhook".to_owned()));
    };
    let path = run.fill_text(path)?;
    let full = run.interface.delivery_timeout + Duration::from_secs(step.extra_seconds);
    // Nothing signals that no notification will come, so the wait for none has a fixed length.
    let awaits_none = step.expect.notifications == Some(Value::Array(Vec::new()));
    let limit = match awaits_none {
        true => QUIET,
        false => run.interface.patience.limit(NOTIFICATION, full),
    };
    let began = tokio::time::Instant::now();
    let judge = &run.interface.judge;
    let is_enough = |deliveries: Vec<Value>| {
        let deliveries = deliveries.into_iter();
        let deliveries = deliveries.filter(|delivery| delivery["path"] == path.as_str());
        let list: Value = deliveries
            .map(|delivery| delivery::with_event(judge, delivery))
            .collect();
        let found = expectation::notifications(run, &step.expect, &list)?;
        Ok((list, found.is_empty() != awaits_none))
    };
    let list = webhooks.wait(&run.key, limit, is_enough).await?;
    match began.elapsed() < limit {
        _ if awaits_none => {}
        true => run.interface.patience.note_received(NOTIFICATION),
        false => run.interface.patience.note_missed(NOTIFICATION),
    }
    let found = run.judge_step(step, |run, expect| {
        expectation::notifications(run, expect, &list)
    })?;
    let waited = limit.as_secs_f64();
    run.mismatches
        .extend(found.into_iter().map(|mismatch| Mismatch {
            found: format!(
                "{} within {waited} s (--patience waits longer)",
                mismatch.found
            ),
            ..mismatch
        }));
    for delivery in list.as_array().into_iter().flatten() {
        let evidence = delivery::evidence(run.number(), delivery);
        judge.record(delivery::check(judge, delivery), &evidence);
    }
    if let Some(name) = &step.r#as {
        run.names.put(name, list);
    }
    Ok(())
}

/// Time after which a notification that is not to come counts as not sent.
const QUIET: Duration = Duration::from_millis(500);
