//! One step of a case.

use std::collections::BTreeMap;
use std::time::Duration;

use a2a_transport::{BoxFuture, Error};
use a2a_types::{Operation, Request};
use http::header::HeaderMap;
use serde_json::{Value, json};
use uuid::Uuid;

use super::judge::error_kind;
use super::lane::{Answered, Lane, Outcome, Outgoing, set_header};
use super::stream::Streaming;
use crate::case::{Case, Expect, Http, Names, Step, Until, pattern};
use crate::run::{Evidence, Mismatch};

/// A case that is under way.
pub(super) struct Conversation<'l> {
    lane: &'l Lane,
    names: Names,
    streams: BTreeMap<String, Streaming>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) mismatches: Vec<Mismatch>,
}

/// Why a case could not go on.
pub(super) enum Stop {
    /// The generation has no such operation.
    NotSpoken,
    /// The case says something that makes no sense.
    Nonsense(String),
    /// A step that others need did not come to what it should have.
    Unmet,
}

impl<'l> Conversation<'l> {
    pub(super) fn new(lane: &'l Lane, prompt: &str) -> Self {
        let mut names = Names::default();
        names.put("prompt", prompt.into());
        names.put("random", Uuid::new_v4().to_string().into());
        names.put("url", lane.url.clone().into());
        Self {
            lane,
            names,
            streams: BTreeMap::new(),
            evidence: Vec::new(),
            mismatches: Vec::new(),
        }
    }

    /// Takes all steps, until one that others build on is not what it should be.
    pub(super) async fn hold(&mut self, case: &Case) -> Result<(), Stop> {
        for (index, step) in case.steps.iter().enumerate() {
            if !step.only.is_empty()
                && !step
                    .only
                    .iter()
                    .any(|name| name == self.lane.dialect.version())
            {
                continue;
            }
            let before = self.mismatches.len();
            self.take(index + 1, step).await?;
            let named = step.r#as.is_some() || step.next.is_some();
            if self.mismatches.len() > before && named {
                return Err(Stop::Unmet);
            }
        }
        for (_, stream) in std::mem::take(&mut self.streams) {
            self.evidence.push(stream.evidence);
        }
        Ok(())
    }

    fn take<'a>(&'a mut self, number: usize, step: &'a Step) -> BoxFuture<'a, Result<(), Stop>> {
        Box::pin(async move {
            if let Some(name) = &step.call {
                return self.call(number, step, name).await;
            }
            if let Some(name) = &step.stream {
                return self.stream(number, step, name).await;
            }
            if let Some(http) = &step.http {
                return self.http(number, step, http).await;
            }
            if let Some(name) = &step.next {
                return self.next(number, step, name).await;
            }
            if let Some(name) = &step.close {
                if let Some(stream) = self.streams.remove(name) {
                    self.evidence.push(stream.evidence);
                }
                return Ok(());
            }
            self.together(number, step).await
        })
    }

    async fn call(&mut self, number: usize, step: &Step, name: &str) -> Result<(), Stop> {
        let deadline = tokio::time::Instant::now() + self.lane.patience;
        loop {
            let (outgoing, envelope) = self.write(step, name)?;
            let answered = self
                .lane
                .ask(number, outgoing, &envelope, step.caller)
                .await;
            let found = self.check(number, &step.expect, &answered)?;
            let late = tokio::time::Instant::now() >= deadline;
            if step.eventually && !found.is_empty() && !late {
                tokio::time::sleep(BREATH).await;
                continue;
            }
            self.note(step, answered, found);
            return Ok(());
        }
    }

    async fn http(&mut self, number: usize, step: &Step, http: &Http) -> Result<(), Stop> {
        let path = self.fill(&json!(http.path))?;
        let path = path.as_str().unwrap_or_default();
        let url = match path.strip_prefix("//") {
            // From the origin.
            Some(path) => format!("{}/{path}", origin(&self.lane.url)),
            None if path.is_empty() => self.lane.url.clone(),
            None => format!("{}{path}", self.lane.url.trim_end_matches('/')),
        };
        let body = match (&http.body, &http.repeat) {
            (None, None) => None,
            (_, Some((before, times, after))) => {
                let piece = http
                    .body
                    .as_ref()
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                Some(format!("{before}{}{after}", piece.repeat(*times)).into_bytes())
            }
            (Some(Value::String(text)), None) => {
                let text = self.fill(&json!(text))?;
                Some(text.as_str().unwrap_or_default().as_bytes().to_vec())
            }
            (Some(value), None) => Some(self.fill(value)?.to_string().into_bytes()),
        };
        let mut headers = self.lane.usual_headers(body.is_some());
        self.add_headers(step, &mut headers)?;
        let outgoing = Outgoing {
            method: http.method.clone().unwrap_or_else(|| "POST".to_owned()),
            url,
            headers,
            body,
        };
        let (mut answered, body) = self.lane.exchange(number, outgoing, step.caller).await;
        if answered.evidence.failure.is_none() {
            // Errors are read like those of any operation.
            let envelope = a2a_transport::Envelope {
                id: Some(a2a_jsonrpc::Id::Null),
                ..a2a_transport::Envelope::new(
                    self.lane.dialect,
                    self.lane.binding,
                    Operation::GetTask,
                )
            };
            answered.outcome = self.lane.read(&envelope, answered.status, &body);
        }
        let found = self.check(number, &step.expect, &answered)?;
        self.note(step, answered, found);
        Ok(())
    }

    fn note(&mut self, step: &Step, answered: Answered, found: Vec<Mismatch>) {
        let shown = self.evidence.len();
        self.evidence.push(answered.evidence);
        self.mismatches
            .extend(found.into_iter().map(|mismatch| Mismatch {
                evidence: Some(shown),
                ..mismatch
            }));
        if let Some(name) = &step.r#as {
            let value = match answered.outcome {
                Outcome::Result(value) => value,
                _ => answered.json.unwrap_or_default(),
            };
            let id = task_of(&value).map(|task| task["id"].clone());
            self.names.put(name, value);
            if let Some(id) = id {
                self.names.put(&format!("{name}_task"), id);
            }
            self.names.put(&format!("{name}_headers"), answered.headers);
        }
    }

    async fn stream(&mut self, number: usize, step: &Step, name: &str) -> Result<(), Stop> {
        let (outgoing, envelope) = self.write(step, name)?;
        let mut stream = self
            .lane
            .follow(number, outgoing, envelope, step.caller)
            .await;
        self.read_on(number, step, &mut stream).await?;
        match &step.r#as {
            Some(name) => drop(self.streams.insert(name.clone(), stream)),
            None => self.evidence.push(stream.evidence),
        }
        Ok(())
    }

    async fn next(&mut self, number: usize, step: &Step, name: &str) -> Result<(), Stop> {
        let Some(mut stream) = self.streams.remove(name) else {
            return Err(Stop::Nonsense(format!("there is no stream `{name}`")));
        };
        self.read_on(number, step, &mut stream).await?;
        self.streams.insert(name.to_owned(), stream);
        Ok(())
    }

    async fn read_on(
        &mut self,
        number: usize,
        step: &Step,
        stream: &mut Streaming,
    ) -> Result<(), Stop> {
        let until = step.until.unwrap_or(Until::End);
        let (events, problem) = stream.read(self.lane, until).await;
        let place = |what: &str| format!("step {number}, {what}");
        let mut found = Vec::new();
        let expect = &step.expect;
        let wanted_error = expect.error.is_some();
        match (&stream.refused, wanted_error) {
            (Some(Outcome::Error { kind, .. }), true) => {
                let wanted = expect.error.clone().unwrap_or_default();
                found.extend(self.check_error(&wanted, &format!("{kind:?}"), &place("the error")));
            }
            (Some(refused), _) => found.push(Mismatch {
                place: place("the answer"),
                expected: if wanted_error { "an error" } else { "a stream" }.to_owned(),
                found: told(refused),
                evidence: None,
            }),
            (None, true) => found.push(Mismatch {
                place: place("the answer"),
                expected: format!("the error {}", expect.error.clone().unwrap_or_default()),
                found: format!("a stream: {}", Value::Array(events.clone())),
                evidence: None,
            }),
            (None, false) => {}
        }
        if let Some(problem) = problem
            && stream.refused.is_none()
        {
            found.push(Mismatch {
                place: place("the stream"),
                expected: match until {
                    Until::Events(count) => format!("{count} events more"),
                    Until::End => "the end".to_owned(),
                },
                found: problem,
                evidence: None,
            });
        }
        let folded = serde_json::to_value(&stream.folded).unwrap_or_default();
        let values = [
            ("events", &expect.events, Value::Array(events)),
            ("the task as told", &expect.folded, folded.clone()),
            ("HTTP status", &expect.status, stream.status.into()),
            ("headers", &expect.headers, stream.headers.clone()),
        ];
        for (what, wanted, value) in values {
            if let Some(wanted) = wanted {
                let wanted = self.fill(wanted)?;
                found.extend(pattern::mismatches(&wanted, Some(&value), &place(what)));
            }
        }
        if let Some(wanted) = expect.closed
            && wanted != stream.closed
        {
            found.push(Mismatch {
                place: place("the stream"),
                expected: if wanted { "closed" } else { "open" }.to_owned(),
                found: if stream.closed { "closed" } else { "open" }.to_owned(),
                evidence: None,
            });
        }
        self.mismatches.extend(found);
        if let Some(name) = step.r#as.as_ref().or(step.next.as_ref()) {
            let id = stream.folded.as_ref().map(|task| task.id.to_string());
            let value = json!({"events": stream.events, "task": folded});
            self.names.put(name, value);
            if let Some(id) = id {
                self.names.put(&format!("{name}_task"), id.into());
            }
        }
        Ok(())
    }

    /// Steps at once: each is a call, and each is judged for itself.
    async fn together(&mut self, number: usize, step: &Step) -> Result<(), Stop> {
        let mut asked = Vec::new();
        for step in &step.together {
            let name = step.call.as_deref().unwrap_or_default();
            let (outgoing, envelope) = self.write(step, name)?;
            asked.push((step, outgoing, envelope));
        }
        let lane = self.lane;
        let asking = asked
            .into_iter()
            .map(|(step, outgoing, envelope)| async move {
                (
                    step,
                    lane.ask(number, outgoing, &envelope, step.caller).await,
                )
            });
        for (step, answered) in futures_util::future::join_all(asking).await {
            let found = self.check(number, &step.expect, &answered)?;
            self.note(step, answered, found);
        }
        Ok(())
    }

    fn write(&self, step: &Step, name: &str) -> Result<(Outgoing, a2a_transport::Envelope), Stop> {
        let params = self.fill(&step.params)?;
        let request = request(name, params).map_err(Stop::Nonsense)?;
        let id = step.id.as_ref().map(|id| self.fill(id)).transpose()?;
        let written = self.lane.write(request, id.as_ref());
        let (mut outgoing, envelope) = written.map_err(|error| match error {
            Error::NotSupported { .. } => Stop::NotSpoken,
            error => Stop::Nonsense(error.to_string()),
        })?;
        self.add_headers(step, &mut outgoing.headers)?;
        Ok((outgoing, envelope))
    }

    fn add_headers(&self, step: &Step, headers: &mut HeaderMap) -> Result<(), Stop> {
        for (name, value) in &step.headers {
            let value = self.fill(&json!(value))?;
            let value = value.as_str().unwrap_or_default();
            set_header(headers, name, value).map_err(Stop::Nonsense)?;
        }
        Ok(())
    }

    fn fill(&self, template: &Value) -> Result<Value, Stop> {
        self.names.fill(template).map_err(Stop::Nonsense)
    }

    /// Everything that is not what it should be.
    fn check(
        &self,
        number: usize,
        expect: &Expect,
        answered: &Answered,
    ) -> Result<Vec<Mismatch>, Stop> {
        let place = |what: &str| format!("step {number}, {what}");
        let mut found = Vec::new();
        if let Outcome::Nothing(problem) = &answered.outcome {
            found.push(Mismatch {
                place: place("the answer"),
                expected: "an answer".to_owned(),
                found: problem.clone(),
                evidence: None,
            });
            return Ok(found);
        }
        let result = match &answered.outcome {
            Outcome::Result(value) => Some(value),
            _ => None,
        };
        let wants_result =
            expect.task.is_some() || expect.message.is_some() || expect.result.is_some();
        match (&expect.error, &answered.outcome) {
            (Some(wanted), Outcome::Error { kind, .. }) => {
                found.extend(self.check_error(wanted, &format!("{kind:?}"), &place("the error")));
            }
            (Some(wanted), other) => found.push(Mismatch {
                place: place("the answer"),
                expected: format!("the error {wanted}"),
                found: told(other),
                evidence: None,
            }),
            (None, other) if wants_result && result.is_none() => found.push(Mismatch {
                place: place("the answer"),
                expected: "a result".to_owned(),
                found: told(other),
                evidence: None,
            }),
            (None, _) => {}
        }
        let milliseconds = u64::try_from(answered.took.as_millis())
            .unwrap_or(u64::MAX)
            .into();
        let status = answered.status.into();
        let message = result.and_then(|value| value.get("message"));
        let mut values = vec![
            ("HTTP status", &expect.status, Some(&status)),
            ("headers", &expect.headers, Some(&answered.headers)),
            ("the body", &expect.body, answered.json.as_ref()),
            ("milliseconds", &expect.milliseconds, Some(&milliseconds)),
        ];
        if result.is_some() {
            values.push(("the task", &expect.task, result.and_then(task_of)));
            values.push(("the message", &expect.message, message));
            values.push(("the result", &expect.result, result));
        }
        for (what, wanted, value) in values {
            if let Some(wanted) = wanted {
                let wanted = self.fill(wanted)?;
                found.extend(pattern::mismatches(&wanted, value, &place(what)));
            }
        }
        Ok(found)
    }

    fn check_error(&self, wanted: &Value, kind: &str, place: &str) -> Option<Mismatch> {
        let named = |wanted: &Value| {
            let name = wanted.as_str().unwrap_or_default();
            let code = |name| error_kind(name).map(|kind| kind.code_in(self.lane.dialect));
            // Older generations have fewer codes.
            name == kind || name == "any" || (code(name).is_some() && code(name) == code(kind))
        };
        let holds = match wanted {
            Value::Array(names) => names.iter().any(named),
            name => named(name),
        };
        (!holds).then(|| Mismatch {
            place: place.to_owned(),
            expected: wanted.to_string(),
            found: kind.to_owned(),
            evidence: None,
        })
    }
}

/// The task of a result: it itself, or what is in it.
fn task_of(result: &Value) -> Option<&Value> {
    match result.get("task") {
        Some(task) => Some(task),
        None => result.get("status").map(|_| result),
    }
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Result(value) => {
            let text = value.to_string();
            format!("the result {}", text.chars().take(300).collect::<String>())
        }
        Outcome::Error { kind, message } => format!("the error {kind:?}: {message}"),
        Outcome::Unreadable(problem) => format!("something else: {problem}"),
        Outcome::Nothing(problem) => problem.clone(),
    }
}

fn origin(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |end| end + 3);
    let end = url[scheme..]
        .find('/')
        .map_or(url.len(), |slash| scheme + slash);
    &url[..end]
}

/// A request of an operation.
fn request(name: &str, mut params: Value) -> Result<Request, String> {
    if params.is_null() {
        params = json!({});
    }
    if let Some(message) = params.get_mut("message").and_then(Value::as_object_mut) {
        message.entry("role").or_insert_with(|| "ROLE_USER".into());
        let id = || Value::from(Uuid::new_v4().to_string());
        message.entry("messageId").or_insert_with(id);
    }
    let bad = |error: serde_json::Error| format!("the params of {name}: {error}");
    macro_rules! read {
        ($($operation:ident)*) => {
            match name {
                $(stringify!($operation) => {
                    serde_json::from_value(params).map(Request::$operation).map_err(bad)
                })*
                _ => Err(format!("`{name}` is no operation")),
            }
        };
    }
    read!(SendMessage SendStreamingMessage GetTask ListTasks CancelTask SubscribeToTask
        CreateTaskPushNotificationConfig GetTaskPushNotificationConfig
        ListTaskPushNotificationConfigs DeleteTaskPushNotificationConfig GetExtendedAgentCard)
}

/// How soon it is asked again.
const BREATH: Duration = Duration::from_millis(30);
