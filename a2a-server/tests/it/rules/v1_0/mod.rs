//! Version 1.0: each rule by JSON-RPC and by HTTP+JSON.

mod access;
mod blocking;
mod capabilities;
mod card;
mod client;
mod extensions;
mod lifecycle;
mod list;
mod push;
mod streams;
mod versions;

use serde_json::{Map, Value, json};

use crate::rules::scripted_agent::ServedAgent;
use crate::rules::wire::{Events, Headers, outcome, request, unique};

/// Form of a request in HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HttpBinding {
    JsonRpc,
    HttpJson,
}

pub(crate) const HTTP_BINDINGS: [HttpBinding; 2] = [HttpBinding::JsonRpc, HttpBinding::HttpJson];

/// Verb and path of every operation on HTTP+JSON, specification 1.0 §11.3: a member in braces
/// stands in the path, not in the body or the query.
const PLACES: [(&str, &str, &str); 11] = [
    ("SendMessage", "POST", "/message:send"),
    ("SendStreamingMessage", "POST", "/message:stream"),
    ("GetTask", "GET", "/tasks/{id}"),
    ("ListTasks", "GET", "/tasks"),
    ("CancelTask", "POST", "/tasks/{id}:cancel"),
    ("SubscribeToTask", "POST", "/tasks/{id}:subscribe"),
    (
        "CreateTaskPushNotificationConfig",
        "POST",
        "/tasks/{taskId}/pushNotificationConfigs",
    ),
    (
        "GetTaskPushNotificationConfig",
        "GET",
        "/tasks/{taskId}/pushNotificationConfigs/{id}",
    ),
    (
        "ListTaskPushNotificationConfigs",
        "GET",
        "/tasks/{taskId}/pushNotificationConfigs",
    ),
    (
        "DeleteTaskPushNotificationConfig",
        "DELETE",
        "/tasks/{taskId}/pushNotificationConfigs/{id}",
    ),
    ("GetExtendedAgentCard", "GET", "/extendedAgentCard"),
];

/// A request over HTTP: verb, path and body.
fn put(binding: HttpBinding, method: &str, params: Value) -> (&'static str, String, Option<Value>) {
    if binding == HttpBinding::JsonRpc {
        return ("POST", "/".to_owned(), Some(request(method, params)));
    }
    let (_, verb, template) = PLACES
        .into_iter()
        .find(|(name, ..)| *name == method)
        .unwrap();
    let Value::Object(mut members) = params else {
        panic!("params are an object")
    };
    let mut path = template.to_owned();
    for member in ["id", "taskId"] {
        let place = format!("{{{member}}}");
        if path.contains(&place) {
            let value = members.remove(member).unwrap();
            path = path.replace(&place, value.as_str().unwrap());
        }
    }
    match verb {
        "POST" => (verb, path, Some(Value::Object(members))),
        _ => (verb, path + &query(members), None),
    }
}

fn query(members: Map<String, Value>) -> String {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let pairs = members
        .iter()
        .map(|(name, value)| format!("{name}={}", text(value)));
    let pairs: Vec<_> = pairs.collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("?{}", pairs.join("&"))
    }
}

impl ServedAgent {
    /// Sends a request of 1.0, and returns the result, or the reason of the error.
    pub(crate) async fn ask(
        &self,
        binding: HttpBinding,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        self.ask_with(&[], binding, method, params).await
    }

    /// Sends a request of 1.0 as the caller `who`.
    pub(crate) async fn ask_as(
        &self,
        who: &str,
        binding: HttpBinding,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        let credentials = format!("Bearer {who}");
        self.ask_with(&[("authorization", &credentials)], binding, method, params)
            .await
    }

    /// Asks in 1.0 with further headers.
    pub(crate) async fn ask_with(
        &self,
        headers: Headers<'_>,
        binding: HttpBinding,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        let (verb, path, body) = put(binding, method, params);
        let headers = [&[("a2a-version", "1.0")], headers].concat();
        let answer = self.http(verb, &path, &headers, body.as_ref()).await;
        let answer = match binding {
            HttpBinding::JsonRpc => outcome(answer.body),
            HttpBinding::HttpJson if answer.status == 200 => Ok(answer.body),
            HttpBinding::HttpJson => Err(answer.body["error"].clone()),
        };
        answer.map_err(|error| {
            let details = if binding == HttpBinding::JsonRpc {
                &error["data"]
            } else {
                &error["details"]
            };
            details[0]["reason"]
                .as_str()
                .unwrap_or_else(|| panic!("{error}"))
                .to_owned()
        })
    }

    /// Asks for a stream in 1.0.
    pub(crate) async fn follow(&self, binding: HttpBinding, method: &str, params: Value) -> Stream {
        let (verb, path, body) = put(binding, method, params);
        let events = self
            .stream(verb, &path, &[("a2a-version", "1.0")], body.as_ref())
            .await;
        Stream { binding, events }
    }

    /// Sends a text, and returns the resulting task.
    pub(crate) async fn task(&self, binding: HttpBinding, text: &str) -> Value {
        self.ask(binding, "SendMessage", say(text)).await.unwrap()["task"].take()
    }
}

/// The events of a stream in 1.0, each `{task}`, `{message}`, `{statusUpdate}` or `{artifactUpdate}`.
pub(crate) struct Stream {
    binding: HttpBinding,
    events: Events,
}

impl Stream {
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let event = self.events.next().await?;
        let event = if self.binding == HttpBinding::JsonRpc {
            outcome(event).unwrap()
        } else {
            event
        };
        assert_eq!(event.as_object().map(Map::len), Some(1), "{event}");
        Some(event)
    }

    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// Reads on until the task is in a state.
    pub(crate) async fn until(&mut self, state: &str) -> Value {
        loop {
            let event = self
                .next()
                .await
                .expect("the stream goes on until that state");
            if state_of(&event) == state {
                return event;
            }
        }
    }
}

/// Returns the state in an event, empty if it has none.
pub(crate) fn state_of(event: &Value) -> &str {
    let updates = [&event["task"], &event["statusUpdate"]];
    let state = updates
        .into_iter()
        .find_map(|update| update["status"]["state"].as_str());
    state.unwrap_or_default()
}

/// The params of a first message.
pub(crate) fn say(text: &str) -> Value {
    json!({"message": {"messageId": unique(), "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// The params of a message to a task.
pub(crate) fn say_to(task: &Value, text: &str) -> Value {
    with(say(text), json!({"taskId": task["id"]}))
}

/// The same params with further members of the message.
pub(crate) fn with(mut params: Value, members: Value) -> Value {
    let Value::Object(members) = members else {
        panic!("members are an object")
    };
    params["message"].as_object_mut().unwrap().extend(members);
    params
}

/// The same params with a configuration.
pub(crate) fn configured(mut params: Value, configuration: Value) -> Value {
    params["configuration"] = configuration;
    params
}
