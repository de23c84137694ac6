//! Parsed requests of a client, with their violations of the protocol version.

use a2a_transport::binding::grpc::operation_at;
use a2a_transport::binding::rest::Route;
use a2a_transport::binding::{IncomingCall, ReadOptions, grpc, jsonrpc, rest};
use a2a_transport::{Binding, ResponseContext};
use a2a_types::reading::Mode;
use a2a_types::{Content, Operation, Part, ProtocolVersion, Request as A2aRequest, schema};
use http::Method;
use serde_json::{Value, json};

use super::card::{REST, RPC};
use super::socket::Request;
use crate::interface_kind::InterfaceKind;
use crate::lint::{SchemaViolation, schema_violations};

/// Meaning of a request.
#[derive(Clone, Debug)]
pub(super) struct ParsedRequest {
    /// Envelope of the answer; `None` for cards, and if this is not a request of the version.
    pub(super) envelope: Option<ResponseContext>,
    /// The operation by its name in 1.0, `AgentCard`, or nothing.
    pub(super) operation: Option<&'static str>,
    /// Params in protocol 1.0.
    pub(super) params: Value,
    /// The body as JSON; as text if it is not JSON.
    pub(super) body: Value,
    /// Violations of the protocol version.
    pub(super) problems: Vec<String>,
}

/// Reads a request to an agent of one version and binding.
pub(super) fn read(request: &Request, interface: InterfaceKind) -> ParsedRequest {
    let text = || String::from_utf8_lossy(&request.body).into_owned();
    let body = match request.body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&request.body).unwrap_or_else(|_| text().into()),
    };
    let mut parsed = ParsedRequest {
        envelope: None,
        operation: None,
        params: Value::Null,
        body,
        problems: Vec::new(),
    };
    let path = request.path();
    if request.method == "GET"
        && ProtocolVersion::ALL
            .iter()
            .any(|protocol_version| protocol_version.card_path() == path)
    {
        parsed.operation = Some("AgentCard");
        return parsed;
    }
    if is_extended_card(request, interface) {
        let operation = Operation::GetExtendedAgentCard;
        parsed.operation = Some(operation.name());
        parsed.envelope = Some(ResponseContext::new(
            interface.protocol_version,
            Binding::HttpJson,
            operation,
        ));
        return parsed;
    }
    let question = match understand(request, interface, Mode::Strict) {
        Ok(question) => Ok(question),
        Err(problem) => {
            parsed.problems.push(problem);
            understand(request, interface, Mode::Lenient)
        }
    };
    let question = match question {
        Ok(question) if question.envelope.protocol_version == interface.protocol_version => {
            question
        }
        Ok(question) => {
            let protocol_version = question.envelope.protocol_version;
            parsed.problems.push(format!(
                "a request of {protocol_version}, not of {}",
                interface.protocol_version
            ));
            return parsed;
        }
        Err(_) => return parsed,
    };
    let operation = question.envelope.operation;
    if interface.binding == Binding::Grpc {
        parsed
            .problems
            .extend(metadata_problems(request, interface.protocol_version));
    }
    if interface.binding == Binding::JsonRpc {
        parsed.problems.extend(schema_problems(
            interface.protocol_version,
            operation,
            &parsed.body,
        ));
    }
    parsed.problems.extend(file_problems(&question.request));
    parsed.problems.extend(config_problem(&question.request));
    if interface.protocol_version == ProtocolVersion::V1_0 {
        parsed
            .problems
            .extend(invalid_member_names(&parsed.body, "$"));
        parsed.problems.extend(invalid_query_names(request.query()));
    }
    parsed.operation = Some(operation.name());
    parsed.params = canonical(&question.request);
    parsed.envelope = Some(question.envelope);
    parsed
}

/// Returns whether a request is the GET by which 0.2 fetches the extended card.
fn is_extended_card(request: &Request, interface: InterfaceKind) -> bool {
    interface.protocol_version == ProtocolVersion::V0_2
        && request.method == "GET"
        && request
            .path()
            .ends_with(ProtocolVersion::EXTENDED_CARD_PATH)
}

fn understand(
    request: &Request,
    interface: InterfaceKind,
    mode: Mode,
) -> Result<IncomingCall, String> {
    let mut reading = ReadOptions::default();
    reading.mode = mode;
    reading.prefer = Some(interface.protocol_version);
    let version = request.header("a2a-version");
    let read = match interface.binding {
        Binding::JsonRpc if request.method != "POST" => {
            return Err(format!(
                "a JSON-RPC request uses POST, not {}",
                request.method
            ));
        }
        Binding::JsonRpc if mode == Mode::Strict && request.path() != RPC => {
            let path = request.path();
            return Err(format!(
                "the card says that JSON-RPC is at {RPC}, not {path}"
            ));
        }
        Binding::JsonRpc => jsonrpc::read_call(&request.body, version, &reading),
        Binding::Grpc => {
            if let Some(problem) = &request.problem {
                return Err(problem.clone());
            }
            let path = request.path();
            let (operation, protocol_version) =
                operation_at(path).ok_or_else(|| format!("no operation of gRPC is at {path}"))?;
            grpc::read_call(operation, protocol_version, &request.body, &reading)
        }
        _ => {
            let method = Method::from_bytes(request.method.as_bytes());
            let method = method.map_err(|error| error.to_string())?;
            let path = match (request.path().strip_prefix(REST), mode) {
                (Some(path), _) => path,
                (None, Mode::Lenient | Mode::Tolerant) => request.path(),
                (None, Mode::Strict) => {
                    let path = request.path();
                    return Err(format!(
                        "the card says that HTTP+JSON is below {REST}, not {path}"
                    ));
                }
            };
            let protocol_version = version
                .and_then(ProtocolVersion::from_version)
                .or(match mode {
                    Mode::Lenient | Mode::Tolerant => Some(interface.protocol_version),
                    Mode::Strict => None,
                });
            let route = Route::find(&method, path, protocol_version, mode)
                .map_err(|_| format!("no operation has {method} {path}"))?;
            rest::read_call(route, request.query(), &request.body, &reading)
        }
    };
    read.map_err(|refused| refused.error.message)
}

/// Returns the metadata of a call by gRPC that is not as the version and gRPC have it.
fn metadata_problems(request: &Request, protocol_version: ProtocolVersion) -> Vec<String> {
    let problem = |name: &str, expected: &str, is_right: fn(&str, &str) -> bool| {
        let found = request.header(name).unwrap_or("nothing");
        (!is_right(found, expected)).then(|| format!("{name}: expected {expected}, found {found}"))
    };
    let is_media_type = |found: &str, expected: &str| {
        let rest = found.strip_prefix(expected);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ';']))
    };
    let mut problems = vec![
        problem("content-type", "application/grpc", is_media_type),
        problem("te", "trailers", |found, expected| found == expected),
    ];
    // Clients of 0.3 need not name it.
    if protocol_version == ProtocolVersion::V1_0 || request.header("a2a-version").is_some() {
        let version = protocol_version.version();
        problems.push(problem("a2a-version", version, |found, expected| {
            found == expected
        }));
    }
    problems.into_iter().flatten().collect()
}

/// Returns the files whose bytes cannot be decoded; reading a request leaves them as they are.
fn file_problems(request: &A2aRequest) -> Vec<String> {
    let (A2aRequest::SendMessage(params) | A2aRequest::SendStreamingMessage(params)) = request
    else {
        return Vec::new();
    };
    let parts = params.message.parts.iter().enumerate();
    let problem = |(index, part): (usize, &Part)| match &part.content {
        Content::Raw(bytes) => bytes
            .decode()
            .err()
            .map(|error| format!("message.parts[{index}]: {error}")),
        _ => None,
    };
    parts.filter_map(problem).collect()
}

/// Returns a problem if a push notification config is created for no task, which no schema forbids: its
/// `taskId` may be empty.
fn config_problem(request: &A2aRequest) -> Option<String> {
    match request {
        A2aRequest::CreateTaskPushNotificationConfig(config)
            if config.task_id.as_str().is_empty() =>
        {
            Some("params: expected the task of the push notification config, found none".to_owned())
        }
        _ => None,
    }
}

/// Returns the members that 1.0 does not have: the former discriminators (§A.2.1), and names that
/// are not in camelCase (§5.5).
fn invalid_member_names(value: &Value, path: &str) -> Vec<String> {
    let mut odd = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = format!("{path}.{name}");
                if name.contains('_') {
                    odd.push(format!("{path}: names are in camelCase"));
                }
                if name == "kind" && member.is_string() {
                    odd.push(format!("{path}: 1.0 has no such member"));
                }
                // Their content is the caller's own.
                if !matches!(name.as_str(), "data" | "metadata") {
                    odd.extend(invalid_member_names(member, &path));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                odd.extend(invalid_member_names(item, &format!("{path}[{index}]")));
            }
        }
        _ => {}
    }
    odd
}

/// Returns the names in a query that are not in camelCase.
fn invalid_query_names(query: Option<&str>) -> Vec<String> {
    let pairs = query.unwrap_or_default().split('&');
    let names = pairs.filter_map(|pair| pair.split('=').next());
    let odd = names.filter(|name| name.contains('_'));
    odd.map(|name| format!("?{name}: names are in camelCase"))
        .collect()
}

/// Returns the places where the body does not fit the schema of the version.
fn schema_problems(
    protocol_version: ProtocolVersion,
    operation: Operation,
    body: &Value,
) -> Vec<String> {
    let definition = schema::request_definition(protocol_version, operation);
    let schema_violations =
        definition.map(|definition| schema_violations(protocol_version, definition, body));
    let problems = schema_violations
        .into_iter()
        .flatten()
        .flatten()
        .map(|schema_violation| {
            let SchemaViolation {
                path,
                expected,
                found,
                ..
            } = schema_violation;
            format!("{path}: expected {expected}, found {found}")
        });
    problems.collect()
}

/// Returns the params in protocol 1.0.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::merge_patch;

    /// Returns the problems of a request by JSON-RPC.
    fn by_json_rpc(protocol_version: ProtocolVersion, body: &Value) -> Vec<String> {
        let interface = InterfaceKind {
            protocol_version,
            binding: Binding::JsonRpc,
        };
        let request = request(protocol_version, "POST", RPC, &body.to_string());
        read(&request, interface).problems
    }

    fn request(
        protocol_version: ProtocolVersion,
        method: &str,
        target: &str,
        body: &str,
    ) -> Request {
        let version = ("a2a-version".to_owned(), "1.0".to_owned());
        let is_last = protocol_version == ProtocolVersion::V1_0;
        Request {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: is_last.then_some(version).into_iter().collect(),
            body: body.to_owned().into(),
            problem: None,
        }
    }

    /// Checks that a request is good, and that each change makes it a bad one.
    #[track_caller]
    fn check_faults(protocol_version: ProtocolVersion, good: &Value, faults: &[Value]) {
        assert_eq!(by_json_rpc(protocol_version, good), [""; 0]);
        let unseen = faults.iter().filter(|fault| {
            let mut bad = good.clone();
            merge_patch(&mut bad, fault);
            by_json_rpc(protocol_version, &bad).is_empty()
        });
        assert_eq!(
            unseen.collect::<Vec<_>>(),
            [&Value::Null; 0],
            "{protocol_version}"
        );
    }

    #[test]
    fn bad_requests_of_1_0_have_problems() {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
        let good = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        let with = |more: Value| json!({"params": {"message": more}});
        let faults = [
            json!({"method": "message/send"}),
            json!({"method": "sendMessage"}),
            json!({"method": "tasks/send"}),
            json!({"id": true}),
            json!({"id": {"a": 1}}),
            json!({"jsonrpc": "1.0"}),
            json!({"jsonrpc": null}),
            json!({"params": [message]}),
            json!({"params": null}),
            json!({"params": {"message": "hello"}}),
            json!({"params": {"configuration": {"historyLength": -1}}}),
            json!({"params": {"configuration": {"returnImmediately": "yes"}}}),
            json!({"params": {"metadata": []}}),
            with(json!({"role": "user"})),
            with(json!({"role": null})),
            with(json!({"messageId": null})),
            with(json!({"messageId": 7})),
            with(json!({"parts": null})),
            with(json!({"parts": []})),
            with(json!({"parts": {"text": "hello"}})),
            with(json!({"parts": ["hello"]})),
            with(json!({"parts": [{"text": {"text": "hello"}}]})),
            with(json!({"parts": [{"kind": "file", "file": {"uri": "https://h"}}]})),
            with(json!({"parts": [{"text": "a", "data": {}}]})),
            with(json!({"parts": [{"kind": "text", "text": "a"}]})),
            with(json!({"kind": "message"})),
            with(json!({"parts": [{"raw": "no base64!"}]})),
            with(json!({"parts": [{"url": 7}]})),
            with(json!({"contextId": 7})),
        ];
        check_faults(ProtocolVersion::V1_0, &good, &faults);
        let good = json!({"jsonrpc": "2.0", "id": "a", "method": "GetTask", "params": {"id": "t"}});
        let faults = [
            json!({"method": "tasks/get"}),
            json!({"params": {"id": null}}),
            json!({"params": {"id": null, "taskId": "t"}}),
            json!({"params": {"id": 7}}),
            json!({"params": {"historyLength": -3}}),
            json!({"params": {"historyLength": 1.5}}),
            json!({"params": {"history_length": 1}}),
        ];
        check_faults(ProtocolVersion::V1_0, &good, &faults);
    }

    #[test]
    fn bad_requests_of_earlier_versions_have_problems() {
        let message = json!({
            "kind": "message", "messageId": "m", "role": "user",
            "parts": [{"kind": "text", "text": "hello"}],
        });
        let good = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}});
        let with = |more: Value| json!({"params": {"message": more}});
        let faults = [
            json!({"method": "SendMessage"}),
            json!({"method": "tasks/send"}),
            json!({"id": 1.5}),
            json!({"params": {"configuration": {"blocking": "yes"}}}),
            with(json!({"role": "ROLE_USER"})),
            with(json!({"messageId": null})),
            with(json!({"parts": [{"text": "hello"}]})),
            with(json!({"parts": [{"kind": "file", "file": {}}]})),
            with(json!({"parts": [{"kind": "data", "data": "text"}]})),
        ];
        check_faults(ProtocolVersion::V0_3, &good, &faults);
        check_faults(ProtocolVersion::V0_2, &good, &faults);
        let good = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tasks/send",
            "params": {"id": "t", "message": {"role": "user", "parts": [{"type": "text", "text": "hello"}]}},
        });
        let faults = [
            json!({"method": "message/send"}),
            json!({"params": {"id": null}}),
            with(json!({"role": "ROLE_USER"})),
            with(json!({"parts": [{"kind": "text", "text": "hello"}]})),
            with(json!({"parts": null})),
        ];
        check_faults(ProtocolVersion::V0_1, &good, &faults);
    }

    #[test]
    fn bad_requests_by_grpc_have_problems() {
        let interface = InterfaceKind::new(ProtocolVersion::V1_0, Binding::Grpc);
        let headers = [
            ("content-type", "application/grpc+proto"),
            ("te", "trailers"),
            ("a2a-version", "1.0"),
        ];
        let request = |path: &str, changed: (&str, &str)| Request {
            method: "POST".to_owned(),
            target: path.to_owned(),
            headers: headers
                .into_iter()
                .map(|(name, value)| match name == changed.0 {
                    true => (name.to_owned(), changed.1.to_owned()),
                    false => (name.to_owned(), value.to_owned()),
                })
                .collect(),
            body: r#"{"id":"t"}"#.into(),
            problem: None,
        };
        let problems = |request: &Request| read(request, interface).problems;
        let path = "/lf.a2a.v1.A2AService/GetTask";
        let good = request(path, ("", ""));
        assert_eq!(problems(&good), [""; 0]);
        for bad in [
            request("/a2a.v1.A2AService/GetTask", ("", "")),
            request("/lf.a2a.v1.A2AService/FetchTask", ("", "")),
            request(path, ("content-type", "application/grpc-web")),
            request(path, ("content-type", "application/json")),
            request(path, ("te", "gzip")),
            request(path, ("a2a-version", "0.3")),
            Request {
                problem: Some("the message is broken off".to_owned()),
                ..good
            },
        ] {
            assert!(!problems(&bad).is_empty(), "{bad:?}");
        }
    }

    #[test]
    fn push_configs_without_a_task_have_problems() {
        let config = json!({"id": "c", "url": "https://h/"});
        let mut flat = config.clone();
        flat["taskId"] = json!("t");
        let good = json!({"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": flat});
        let no_task = [json!(null), json!("")].map(|task| json!({"params": {"taskId": task}}));
        check_faults(ProtocolVersion::V1_0, &good, &no_task);
        let nested = json!({"taskId": "t", "pushNotificationConfig": config});
        let good = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/pushNotificationConfig/set", "params": nested});
        check_faults(ProtocolVersion::V0_3, &good, &no_task);
        check_faults(ProtocolVersion::V0_2, &good, &no_task);
    }

    #[test]
    fn bad_requests_by_http_have_problems() {
        let message = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]}}"#;
        let problems = |protocol_version, method: &str, target: &str, body: &str| {
            let interface = InterfaceKind {
                protocol_version,
                binding: Binding::HttpJson,
            };
            read(&request(protocol_version, method, target, body), interface).problems
        };
        for (protocol_version, method, target, body) in [
            (ProtocolVersion::V1_0, "POST", "/rest/message:send", message),
            (
                ProtocolVersion::V1_0,
                "GET",
                "/rest/tasks/t?historyLength=3",
                "",
            ),
            (ProtocolVersion::V1_0, "POST", "/rest/tasks/t:cancel", "{}"),
        ] {
            let found = problems(protocol_version, method, target, body);
            assert_eq!(found, [""; 0], "{method} {target}");
        }
        for (protocol_version, method, target, body) in [
            (ProtocolVersion::V1_0, "POST", "/message:send", message),
            (ProtocolVersion::V1_0, "POST", "/rest/message/send", message),
            (ProtocolVersion::V1_0, "PUT", "/rest/message:send", message),
            (ProtocolVersion::V1_0, "GET", "/rest/message:send", ""),
            (ProtocolVersion::V1_0, "POST", "/rest/tasks/t", "{}"),
            (ProtocolVersion::V1_0, "GET", "/rest/tasks/t:cancel", ""),
            (
                ProtocolVersion::V1_0,
                "GET",
                "/rest/tasks/t?historyLength=-3",
                "",
            ),
            (
                ProtocolVersion::V1_0,
                "GET",
                "/rest/tasks/t?historyLength=x",
                "",
            ),
            (
                ProtocolVersion::V1_0,
                "GET",
                "/rest/tasks/t?history_length=3",
                "",
            ),
            (
                ProtocolVersion::V1_0,
                "GET",
                "/rest/tasks?status=working",
                "",
            ),
            (
                ProtocolVersion::V1_0,
                "GET",
                "/rest/tasks?includeArtifacts=True",
                "",
            ),
            (ProtocolVersion::V0_3, "POST", "/rest/message:send", message),
        ] {
            let found = problems(protocol_version, method, target, body);
            assert!(!found.is_empty(), "{method} {target}");
        }
    }
}
