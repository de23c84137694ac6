//! State of a running case.

use std::collections::BTreeMap;

use a2a_types::Operation;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::event_stream::EventStream;
use super::interface::Interface;
use super::target::Target;
use crate::case::{Expect, Step, Variables};
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
    pub(super) at: (usize, Option<usize>),
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
    /// A step that later steps depend on was not met.
    Unmet,
}

impl<'t> CaseRun<'t> {
    pub(super) fn new(target: &'t Target, interface: &'t Interface, prompt: &str) -> Self {
        let key = Uuid::new_v4().simple().to_string();
        let mut names = Variables::default();
        let methods = Operation::ALL.iter().filter_map(|operation| {
            let method = interface.protocol_version.method(*operation)?;
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
            ("version", interface.protocol_version.version().into()),
            ("method", Value::Object(methods.collect::<Map<_, _>>())),
            ("card", target.document.clone()),
            ("card_url", target.place.clone().into()),
            ("card_path", interface.protocol_version.card_path().into()),
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

    /// Keeps a result under the name that a step gives it, and the id of its task under `NAME_task`.
    pub(super) fn put_result(&mut self, name: &str, value: Value, task: Option<Value>) {
        self.names.put(name, value);
        if let Some(task) = task {
            self.names.put(&format!("{name}_task"), task);
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
            interface.protocol_version == self.interface.protocol_version
                && interface.binding.to_string() == binding
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
}

/// Returns the parent of a URL: `..`, seen from this one.
fn parent(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |end| end + 3);
    match url[scheme..].rfind('/') {
        Some(slash) => &url[..scheme + slash],
        None => url,
    }
}
