//! A case that is under way.

use std::collections::BTreeMap;

use a2a_transport::BoxFuture;
use a2a_types::Operation;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::lane::Lane;
use super::stream::Streaming;
use super::target::Target;
use crate::case::{Case, Expect, Names, Profile, Step};
use crate::run::{Evidence, Mismatch};

/// A case that is under way.
pub(super) struct Conversation<'t> {
    pub(super) target: &'t Target,
    pub(super) lane: &'t Lane,
    pub(super) names: Names,
    pub(super) streams: BTreeMap<String, Streaming>,
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
pub(super) enum Stop {
    /// The protocol version has no such operation.
    NotSpoken,
    /// The case does not apply to this agent, for this reason.
    NotApplicable(String),
    /// The case itself is wrong, for this reason.
    Nonsense(String),
    /// A step on which later steps depend was not met.
    Unmet,
}

impl<'t> Conversation<'t> {
    pub(super) fn new(target: &'t Target, lane: &'t Lane, prompt: &str) -> Self {
        let key = Uuid::new_v4().simple().to_string();
        let mut names = Names::default();
        let methods = Operation::ALL.iter().filter_map(|operation| {
            let method = lane.dialect.method(*operation)?;
            Some((operation.name().to_owned(), Value::from(method)))
        });
        let values = [
            ("prompt", prompt.into()),
            ("random", Uuid::new_v4().to_string().into()),
            ("url", lane.url.clone().into()),
            ("parent", parent(&lane.url).into()),
            ("tenant", lane.tenant.clone().unwrap_or_default().into()),
            ("version", lane.dialect.version().into()),
            ("method", Value::Object(methods.collect::<Map<_, _>>())),
            ("card", target.document.clone()),
            ("card_url", target.place.clone().into()),
            ("card_path", lane.dialect.card_path().into()),
            ("base", target.base().into()),
        ];
        for (name, value) in values {
            names.put(name, value);
        }
        if let Some(webhooks) = &target.webhooks {
            names.put("webhook", webhooks.url(&key).into());
            names.put("webhook_port", webhooks.port().into());
            names.put("key", key.clone().into());
        }
        Self {
            target,
            lane,
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

    /// Takes all steps, until one that others depend on is not met.
    pub(super) async fn hold(&mut self, case: &Case) -> Result<(), Stop> {
        self.is_instrumented = case.profile == Profile::Instrumented;
        let held = self.hold_steps(&case.steps).await;
        for (_, stream) in std::mem::take(&mut self.streams) {
            self.evidence.push(stream.evidence);
        }
        held
    }

    async fn hold_steps(&mut self, steps: &[Step]) -> Result<(), Stop> {
        let among = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|known| known == name)
        };
        let (version, binding) = (self.lane.dialect.version(), self.lane.binding.to_string());
        for (index, step) in steps.iter().enumerate() {
            if !among(&step.only, version) || !among(&step.bindings, &binding) {
                continue;
            }
            let before = self.mismatches.len();
            match step.for_each.as_slice() {
                [] => {
                    self.at = (index + 1, None);
                    self.take(step).await?;
                }
                values => {
                    for (turn, value) in values.iter().enumerate() {
                        self.at = (index + 1, Some(turn + 1));
                        let value = self.fill(value)?;
                        self.names.put("it", value);
                        self.take(step).await?;
                    }
                }
            }
            let named = step.r#as.is_some() || step.next.is_some();
            if self.mismatches.len() > before && named {
                return Err(Stop::Unmet);
            }
        }
        Ok(())
    }

    fn take<'a>(&'a mut self, step: &'a Step) -> BoxFuture<'a, Result<(), Stop>> {
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
            if let Some(value) = &step.see {
                return self.see(step, value);
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

    pub(super) fn fill(&self, template: &Value) -> Result<Value, Stop> {
        self.names.fill(template).map_err(Stop::Nonsense)
    }

    /// Returns a template without the `contextId` of tasks that have none, or with `instead` there: 0.1 and
    /// 1.0 leave it to the agent whether a task has one.
    pub(super) fn as_told(&self, template: &Value, instead: Option<&Value>) -> Value {
        match template {
            Value::Object(members) => {
                let members = members.iter().filter_map(|(name, value)| {
                    let value = match name.as_str() {
                        "contextId" if self.is_untold(value) => instead?.clone(),
                        // A member that was left out has the default of its type.
                        "$same" if self.fill(value).is_err() => Value::Null,
                        _ => self.as_told(value, instead),
                    };
                    Some((name.clone(), value))
                });
                Value::Object(members.collect())
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.as_told(item, instead));
                items.collect()
            }
            other => other.clone(),
        }
    }

    /// Returns whether a template names the `contextId` of a known task that has none.
    fn is_untold(&self, value: &Value) -> bool {
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

    pub(super) fn fill_text(&self, template: &str) -> Result<String, Stop> {
        Ok(match self.fill(&json!(template))? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// Returns the lane of a step: the one under test, or that of the binding that the step names.
    pub(super) fn lane_of(&self, step: &Step) -> Result<&'t Lane, Stop> {
        let Some(binding) = &step.by else {
            return Ok(self.lane);
        };
        let binding = self.fill_text(binding)?;
        let mut lanes = self.target.all_lanes();
        let lane = lanes
            .find(|lane| lane.dialect == self.lane.dialect && lane.binding.to_string() == binding);
        lane.ok_or_else(|| Stop::Nonsense(format!("there is no {binding} in this version")))
    }

    /// Returns the mismatches with a step's expectation; none if the lenient one is met, which is noted.
    pub(super) fn settle(
        &mut self,
        step: &Step,
        mut check: impl FnMut(&Self, &Expect) -> Result<Vec<Mismatch>, Stop>,
    ) -> Result<Vec<Mismatch>, Stop> {
        let found = check(self, &step.expect)?;
        if found.is_empty() {
            return Ok(found);
        }
        if let Some(lenient) = &step.lenient
            && check(self, lenient)?.is_empty()
        {
            let told = found.iter().map(|mismatch| {
                let Mismatch {
                    place,
                    expected,
                    found,
                    ..
                } = mismatch;
                format!("{place}: preferred is {expected}, found {found}")
            });
            self.leniences.extend(told);
            return Ok(Vec::new());
        }
        match &step.otherwise {
            Some(reason) => Err(Stop::NotApplicable(reason.clone())),
            None => Ok(found),
        }
    }

    /// Checks a value that is already known.
    fn see(&mut self, step: &Step, value: &Value) -> Result<(), Stop> {
        // A value that cannot be filled in is absent.
        let value = self.names.fill(value).ok();
        let found = self.settle(step, |this, expect| {
            this.check_value(expect, value.as_ref())
        })?;
        self.mismatches.extend(found);
        Ok(())
    }

    /// Waits until the webhook has received what the step expects, or the time is over.
    async fn notified(&mut self, step: &Step, path: &str) -> Result<(), Stop> {
        let Some(webhooks) = &self.target.webhooks else {
            return Err(Stop::Nonsense("there is no webhook".to_owned()));
        };
        let path = self.fill_text(path)?;
        let patience = self.lane.delivery_patience;
        let judge = |told: Vec<Value>| {
            let told = told.into_iter();
            let told = told.filter(|delivery| delivery["path"] == path.as_str());
            let list = Value::Array(told.map(|delivery| self.lane.told(delivery)).collect());
            let found = self.check_notifications(&step.expect, &list)?;
            Ok((list, found.is_empty()))
        };
        let list = webhooks.wait(&self.key, patience, judge).await?;
        let found = self.settle(step, |this, expect| this.check_notifications(expect, &list))?;
        let waited = patience.as_secs_f64();
        self.mismatches
            .extend(found.into_iter().map(|mismatch| Mismatch {
                found: format!(
                    "{} within {waited} s (--patience waits longer)",
                    mismatch.found
                ),
                ..mismatch
            }));
        for delivery in list.as_array().into_iter().flatten() {
            self.lane.judge_delivery(self.number(), delivery);
        }
        if let Some(name) = &step.r#as {
            self.names.put(name, list);
        }
        Ok(())
    }
}

/// Returns the parent of a URL: `..`, seen from this one.
fn parent(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |end| end + 3);
    match url[scheme..].rfind('/') {
        Some(slash) => &url[..scheme + slash],
        None => url,
    }
}
