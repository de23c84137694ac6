//! Execution of a case.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_types::Operation;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::event_stream::EventStream;
use super::handshake;
use super::interface::Interface;
use super::patience::NOTIFICATION;
use super::target::Target;
use crate::case::{Case, Expect, Profile, Step, Variables};
use crate::record::{Evidence, Mismatch};

/// A running case.
pub(super) struct CaseRun<'t> {
    pub(super) target: &'t Target,
    pub(super) interface: &'t Interface,
    pub(super) names: Variables,
    pub(super) streams: BTreeMap<String, EventStream>,
    /// Key of the case's webhook.
    pub(super) key: String,
    pub(super) evidence: Vec<Evidence>,
    pub(super) mismatches: Vec<Mismatch>,
    /// Places where the agent did what is allowed instead of what is preferred.
    pub(super) leniences: Vec<String>,
    /// `true` if the case relies on the behaviour contract.
    pub(super) is_instrumented: bool,
    /// Number of the step, from 1, and of its repetition, if it has any.
    at: (usize, Option<usize>),
}

/// Reason why a case stopped early.
pub(super) enum StopReason {
    /// The protocol version has no such operation.
    OperationNotInVersion,
    /// The case does not apply to this agent, for this reason.
    NotApplicable(String),
    /// The case itself is wrong, for this reason.
    InvalidCase(String),
    /// An earlier answer of the agent lacks what a step needs, as this says.
    SetupFailed(String),
    /// A step on which later steps depend was not met.
    Unmet,
}

impl<'t> CaseRun<'t> {
    pub(super) fn new(target: &'t Target, interface: &'t Interface, prompt: &str) -> Self {
        let key = Uuid::new_v4().simple().to_string();
        let mut names = Variables::default();
        let methods = Operation::ALL.iter().filter_map(|operation| {
            let method = interface.dialect.method(*operation)?;
            Some((operation.name().to_owned(), Value::from(method)))
        });
        let values = [
            ("prompt", prompt.into()),
            ("random", Uuid::new_v4().to_string().into()),
            ("url", interface.url.clone().into()),
            ("parent", parent(&interface.url).into()),
            (
                "tenant",
                interface.tenant.clone().unwrap_or_default().into(),
            ),
            ("version", interface.dialect.version().into()),
            ("method", Value::Object(methods.collect::<Map<_, _>>())),
            ("card", target.document.clone()),
            ("card_url", target.place.clone().into()),
            ("card_path", interface.dialect.card_path().into()),
            ("base", target.base().into()),
        ];
        for (name, value) in values {
            names.put(name, value);
        }
        if let Some(forged) = &target.forged {
            names.put("unsigned_tokens", forged.unsigned().into());
        }
        if let Some(tokens) = target.key_signed.get() {
            names.put("key_signed_tokens", tokens.clone().into());
        }
        if let Some(webhooks) = &target.webhooks {
            names.put("webhook", webhooks.url(&key).into());
            names.put("webhook_port", webhooks.port().into());
            names.put("key", key.clone().into());
        }
        Self {
            target,
            interface,
            names,
            key,
            streams: BTreeMap::new(),
            evidence: Vec::new(),
            mismatches: Vec::new(),
            leniences: Vec::new(),
            is_instrumented: false,
            at: (0, None),
        }
    }

    /// Runs all steps, until one on which others depend is not met.
    pub(super) async fn run_case(&mut self, case: &Case) -> Result<(), StopReason> {
        self.is_instrumented = case.profile == Profile::Instrumented;
        let result = self.run_steps(&case.steps).await;
        for (_, stream) in std::mem::take(&mut self.streams) {
            self.evidence.push(stream.evidence);
        }
        self.find_evidence();
        result
    }

    /// Gives each mismatch the exchange of its step, if it has none: that of a stream is whole only at the end.
    fn find_evidence(&mut self) {
        for mismatch in &mut self.mismatches {
            let place = mismatch.place.strip_prefix("step ").unwrap_or_default();
            let digits = place.split(|letter: char| !letter.is_ascii_digit()).next();
            let step: Option<usize> = digits.and_then(|digits| digits.parse().ok());
            let of_step = |evidence: &Evidence| Some(evidence.step) == step;
            if mismatch.evidence.is_none() {
                mismatch.evidence = self.evidence.iter().position(of_step);
            }
        }
    }

    async fn run_steps(&mut self, steps: &[Step]) -> Result<(), StopReason> {
        let among = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|known| known == name)
        };
        let (version, binding) = (
            self.interface.dialect.version(),
            self.interface.binding.to_string(),
        );
        for (index, step) in steps.iter().enumerate() {
            if !among(&step.only, version) || !among(&step.bindings, &binding) {
                continue;
            }
            let lacks = |need: &_| self.target.lacks(*need, self.interface);
            if step.needs.iter().any(lacks) {
                continue;
            }
            let has_task = |name: &String| self.names.has(&format!("{name}_task"));
            if !step.given_task.iter().all(has_task) {
                continue;
            }
            let before = self.mismatches.len();
            match step.for_each.as_slice() {
                [] => {
                    self.at = (index + 1, None);
                    self.run_step(step).await?;
                }
                values => {
                    for (turn, value) in values.iter().enumerate() {
                        self.at = (index + 1, Some(turn + 1));
                        let value = self.fill(value)?;
                        self.names.put("it", value);
                        self.run_step(step).await?;
                    }
                }
            }
            let named = step.r#as.is_some() || step.next.is_some();
            if self.mismatches.len() > before && named {
                return Err(StopReason::Unmet);
            }
        }
        Ok(())
    }

    fn run_step<'a>(&'a mut self, step: &'a Step) -> BoxFuture<'a, Result<(), StopReason>> {
        Box::pin(async move {
            if let Some(name) = &step.call {
                return self.call(step, name).await;
            }
            if let Some(name) = &step.stream {
                return self.stream(step, name).await;
            }
            if let Some(http) = &step.http {
                return self.http(step, http).await;
            }
            if let Some(name) = &step.next {
                let name = self.fill_text(name)?;
                return self.next(step, &name).await;
            }
            if let Some(name) = &step.close {
                if let Some(stream) = self.streams.remove(name) {
                    self.evidence.push(stream.evidence);
                }
                return Ok(());
            }
            if let Some(path) = &step.notified {
                return self.notified(step, path).await;
            }
            if let Some(version) = &step.handshake {
                return self.handshake(step, version).await;
            }
            if let Some(value) = &step.see {
                return self.check_known_value(step, value);
            }
            self.together(step).await
        })
    }

    /// Returns the number of the step, from 1.
    pub(super) fn number(&self) -> usize {
        self.at.0
    }

    /// Names a part of the step, like `step 2.1, the answer`.
    pub(super) fn place(&self, what: &str) -> String {
        match self.at {
            (number, None) => format!("step {number}, {what}"),
            (number, Some(turn)) => format!("step {number}.{turn}, {what}"),
        }
    }

    /// Fills a template. A test makes sure that some step before gives every name that it has.
    pub(super) fn fill(&self, template: &Value) -> Result<Value, StopReason> {
        let filled = self.names.fill(template);
        filled.map_err(|problem| self.setup_failed(&problem))
    }

    /// Returns the reason to stop at a step that cannot be made with what the agent answered before.
    pub(super) fn setup_failed(&self, problem: &str) -> StopReason {
        let place = self.place("from an earlier answer of the agent");
        StopReason::SetupFailed(format!("{place}: {problem}"))
    }

    /// Returns a template without the `contextId` of tasks that have none, or with `instead` there: 0.1 and
    /// 1.0 leave it to the agent whether a task has one.
    pub(super) fn without_absent_context_ids(
        &self,
        template: &Value,
        instead: Option<&Value>,
    ) -> Value {
        match template {
            Value::Object(members) => {
                let members = members.iter().filter_map(|(name, value)| {
                    let value = match name.as_str() {
                        "contextId" if self.is_absent_context_id(value) => instead?.clone(),
                        // A member that was left out has the default of its type.
                        "$same" if self.fill(value).is_err() => Value::Null,
                        _ => self.without_absent_context_ids(value, instead),
                    };
                    Some((name.clone(), value))
                });
                Value::Object(members.collect())
            }
            Value::Array(items) => {
                let items = items
                    .iter()
                    .map(|item| self.without_absent_context_ids(item, instead));
                items.collect()
            }
            other => other.clone(),
        }
    }

    /// Returns whether a template names the `contextId` of a known task that has none.
    fn is_absent_context_id(&self, value: &Value) -> bool {
        let path = value
            .as_str()
            .and_then(|text| text.strip_prefix("{{")?.strip_suffix("}}"));
        let Some((path, task)) =
            path.and_then(|path| Some((path, path.strip_suffix(".contextId")?)))
        else {
            return false;
        };
        self.names.find(task).is_ok() && self.names.find(path).is_err()
    }

    pub(super) fn fill_text(&self, template: &str) -> Result<String, StopReason> {
        Ok(match self.fill(&json!(template))? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// Returns the interface of a step: the one under test, or that of the binding that the step names.
    pub(super) fn interface_of(&self, step: &Step) -> Result<&'t Interface, StopReason> {
        let Some(binding) = &step.by else {
            return Ok(self.interface);
        };
        let binding = self.fill_text(binding)?;
        let mut interfaces = self.target.all_interfaces();
        let interface = interfaces.find(|interface| {
            interface.dialect == self.interface.dialect && interface.binding.to_string() == binding
        });
        interface.ok_or_else(|| {
            StopReason::InvalidCase(format!("there is no {binding} in this version"))
        })
    }

    /// Returns the mismatches with a step's expectation; none if the lenient one is met, which is noted.
    pub(super) fn judge_step(
        &mut self,
        step: &Step,
        mut check: impl FnMut(&Self, &Expect) -> Result<Vec<Mismatch>, StopReason>,
    ) -> Result<Vec<Mismatch>, StopReason> {
        let found = check(self, &step.expect)?;
        if found.is_empty() {
            return Ok(found);
        }
        if let Some(lenient) = &step.lenient
            && check(self, lenient)?.is_empty()
        {
            let lenient = found.iter().map(|mismatch| {
                let Mismatch {
                    place,
                    expected,
                    found,
                    ..
                } = mismatch;
                format!("{place}: preferred is {expected}, found {found}")
            });
            self.leniences.extend(lenient);
            return Ok(Vec::new());
        }
        match &step.otherwise {
            Some(reason) => Err(StopReason::NotApplicable(reason.clone())),
            None => Ok(found),
        }
    }

    /// Tries a handshake of a deprecated version of TLS at the place of the card.
    async fn handshake(&mut self, step: &Step, version: &str) -> Result<(), StopReason> {
        let version = self.fill_text(version)?;
        let (url, limit) = (&self.target.place, self.interface.response_timeout);
        let accepted = handshake::is_accepted(url, &version, limit).await;
        let outcome = match accepted.map_err(StopReason::InvalidCase)? {
            true => format!("{version} accepted"),
            false => "refused".to_owned(),
        };
        let value = Value::from(outcome);
        let found = self.judge_step(step, |this, expect| this.check_value(expect, Some(&value)))?;
        self.mismatches.extend(found);
        Ok(())
    }

    /// Checks a known value.
    fn check_known_value(&mut self, step: &Step, value: &Value) -> Result<(), StopReason> {
        // A value that cannot be filled in is absent.
        let value = self.names.fill(value).ok();
        let found = self.judge_step(step, |this, expect| {
            this.check_value(expect, value.as_ref())
        })?;
        self.mismatches.extend(found);
        Ok(())
    }

    /// Waits until the webhook has received what the step expects, or the time is over.
    async fn notified(&mut self, step: &Step, path: &str) -> Result<(), StopReason> {
        let Some(webhooks) = &self.target.webhooks else {
            return Err(StopReason::InvalidCase("there is no webhook".to_owned()));
        };
        let path = self.fill_text(path)?;
        let full = self.interface.delivery_timeout + Duration::from_secs(step.extra_seconds);
        // Nothing signals that no notification will come, so the wait for none has a fixed length.
        let awaits_none = step.expect.notifications == Some(Value::Array(Vec::new()));
        let limit = match awaits_none {
            true => QUIET,
            false => self.interface.patience.limit(NOTIFICATION, full),
        };
        let began = tokio::time::Instant::now();
        let judge = |deliveries: Vec<Value>| {
            let deliveries = deliveries.into_iter();
            let deliveries = deliveries.filter(|delivery| delivery["path"] == path.as_str());
            let list = Value::Array(
                deliveries
                    .map(|delivery| self.interface.judge.with_event(delivery))
                    .collect(),
            );
            let found = self.check_notifications(&step.expect, &list)?;
            Ok((list, found.is_empty() != awaits_none))
        };
        let list = webhooks.wait(&self.key, limit, judge).await?;
        match began.elapsed() < limit {
            _ if awaits_none => {}
            true => self.interface.patience.note_received(NOTIFICATION),
            false => self.interface.patience.note_missed(NOTIFICATION),
        }
        let found =
            self.judge_step(step, |this, expect| this.check_notifications(expect, &list))?;
        let waited = limit.as_secs_f64();
        self.mismatches
            .extend(found.into_iter().map(|mismatch| Mismatch {
                found: format!(
                    "{} within {waited} s (--patience waits longer)",
                    mismatch.found
                ),
                ..mismatch
            }));
        for delivery in list.as_array().into_iter().flatten() {
            self.interface.judge.judge_delivery(self.number(), delivery);
        }
        if let Some(name) = &step.r#as {
            self.names.put(name, list);
        }
        Ok(())
    }
}

/// Time after which a notification that is not to come counts as not sent.
const QUIET: Duration = Duration::from_millis(500);

/// Returns the parent of a URL: `..`, seen from this one.
fn parent(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |end| end + 3);
    match url[scheme..].rfind('/') {
        Some(slash) => &url[..scheme + slash],
        None => url,
    }
}
