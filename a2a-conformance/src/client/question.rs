//! What a request asks, and what is wrong with how it is asked.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use a2a_transport::binding::rest::Route;
use a2a_transport::binding::{Question, Reading, jsonrpc, rest};
use a2a_transport::{Binding, Envelope};
use a2a_types::reading::Mode;
use a2a_types::{Dialect, Operation, Request as A2aRequest, schema};
use http::Method;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::card::{REST, RPC};
use super::case::Way;
use super::socket::Request;

/// What a request asks.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// How to answer; none of what is no request of the generation.
    pub(super) envelope: Option<Envelope>,
    /// The operation by its name in 1.0, `AgentCard`, or nothing.
    pub(super) operation: Option<&'static str>,
    /// What it is asked with, in the words of 1.0.
    pub(super) params: Value,
    /// The body as JSON; as text if it is none.
    pub(super) body: Value,
    /// What is not as the generation has it.
    pub(super) problems: Vec<String>,
}

/// Reads a request that was sent to an agent that speaks one way.
pub(super) fn read(request: &Request, way: Way) -> Asked {
    let text = || String::from_utf8_lossy(&request.body).into_owned();
    let body = match request.body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&request.body).unwrap_or_else(|_| text().into()),
    };
    let mut asked = Asked {
        envelope: None,
        operation: None,
        params: Value::Null,
        body,
        problems: Vec::new(),
    };
    let path = request.path();
    if request.method == "GET"
        && Dialect::ALL
            .iter()
            .any(|dialect| dialect.card_path() == path)
    {
        asked.operation = Some("AgentCard");
        return asked;
    }
    if is_extended_card(request, way) {
        let operation = Operation::GetExtendedAgentCard;
        asked.operation = Some(operation.name());
        asked.envelope = Some(Envelope::new(way.dialect, Binding::HttpJson, operation));
        return asked;
    }
    let question = match understand(request, way, Mode::Strict) {
        Ok(question) => Ok(question),
        Err(problem) => {
            asked.problems.push(problem);
            understand(request, way, Mode::Lenient)
        }
    };
    let question = match question {
        Ok(question) if question.envelope.dialect == way.dialect => question,
        Ok(question) => {
            let dialect = question.envelope.dialect;
            asked
                .problems
                .push(format!("a request of {dialect}, not of {}", way.dialect));
            return asked;
        }
        Err(_) => return asked,
    };
    let operation = question.envelope.operation;
    if way.binding == Binding::JsonRpc {
        asked
            .problems
            .extend(schema_problems(way.dialect, operation, &asked.body));
    }
    asked.operation = Some(operation.name());
    asked.params = canonical(&question.request);
    asked.envelope = Some(question.envelope);
    asked
}

/// 0.2 fetches the extended card by GET.
fn is_extended_card(request: &Request, way: Way) -> bool {
    way.dialect == Dialect::V0_2
        && request.method == "GET"
        && request.path().ends_with(Dialect::EXTENDED_CARD_PATH)
}

fn understand(request: &Request, way: Way, mode: Mode) -> Result<Question, String> {
    let reading = Reading {
        mode,
        prefer: Some(way.dialect),
        ..Reading::default()
    };
    let version = request.header("a2a-version");
    let read = match way.binding {
        Binding::JsonRpc if request.method != "POST" => {
            return Err(format!("JSON-RPC is asked by POST, not {}", request.method));
        }
        Binding::JsonRpc if mode == Mode::Strict && request.path() != RPC => {
            let path = request.path();
            return Err(format!(
                "the card says that JSON-RPC is at {RPC}, not {path}"
            ));
        }
        Binding::JsonRpc => jsonrpc::read_call(&request.body, version, &reading),
        Binding::HttpJson => {
            let method = Method::from_bytes(request.method.as_bytes());
            let method = method.map_err(|error| error.to_string())?;
            let path = match (request.path().strip_prefix(REST), mode) {
                (Some(path), _) => path,
                (None, Mode::Lenient) => request.path(),
                (None, Mode::Strict) => {
                    let path = request.path();
                    return Err(format!(
                        "the card says that HTTP+JSON is below {REST}, not {path}"
                    ));
                }
            };
            let asked = version.and_then(Dialect::from_version).or(match mode {
                Mode::Lenient => Some(way.dialect),
                Mode::Strict => None,
            });
            let route = Route::find(&method, path, asked, mode)
                .map_err(|_| format!("nothing is asked by {method} {path}"))?;
            rest::read_call(route, request.query(), &request.body, &reading)
        }
    };
    read.map_err(|refused| refused.error.message)
}

/// Where the body is not as the schema of the generation has it.
fn schema_problems(dialect: Dialect, operation: Operation, body: &Value) -> Vec<String> {
    let Some(validator) = validator(dialect, operation) else {
        return Vec::new();
    };
    let errors = validator.iter_errors(body);
    errors
        .map(|error| format!("${}: {error}", error.instance_path()))
        .collect()
}

/// The schema of a request, read once for all.
fn validator(dialect: Dialect, operation: Operation) -> Option<Arc<Validator>> {
    type Kept = HashMap<(Dialect, Operation), Option<Arc<Validator>>>;
    static ALL: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    // Every change is one insertion, so a panic elsewhere leaves the map whole.
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let made = all.entry((dialect, operation)).or_insert_with(|| {
        let name = schema::request_definition(dialect, operation)?;
        let schema = schema::definition(dialect, name)?;
        Some(Arc::new(jsonschema::validator_for(&schema).ok()?))
    });
    made.clone()
}

/// The params in the words of 1.0.
fn canonical(request: &A2aRequest) -> Value {
    match request {
        A2aRequest::SendMessage(params) | A2aRequest::SendStreamingMessage(params) => json!(params),
        A2aRequest::GetTask(params) => json!(params),
        A2aRequest::ListTasks(params) => json!(params),
        A2aRequest::CancelTask(params) => json!(params),
        A2aRequest::SubscribeToTask(params) => json!(params),
        A2aRequest::CreateTaskPushNotificationConfig(params) => json!(params),
        A2aRequest::GetTaskPushNotificationConfig(params) => json!(params),
        A2aRequest::ListTaskPushNotificationConfigs(params) => json!(params),
        A2aRequest::DeleteTaskPushNotificationConfig(params) => json!(params),
        A2aRequest::GetExtendedAgentCard(params) => json!(params),
    }
}
