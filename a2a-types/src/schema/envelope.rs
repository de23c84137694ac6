//! JSON-RPC around the data: requests, responses and errors, as three styles of definitions.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::plain::Definitions;
use super::version::{ErrorRow, Exchange, VersionSchema, of, reference};
use crate::Object;

/// Defines the style of 0.1: one object is both success and failure, and only `method` and `params` are
/// required.
pub(super) fn one_response(schema: &VersionSchema, generator: &mut SchemaGenerator) -> Definitions {
    let id = json!({"type": ["string", "integer"]});
    let mut definitions = Definitions::new();
    let mut define = |name: &str, schema| definitions.insert(name.to_owned(), schema);
    let message = json!({"jsonrpc": version(), "id": id});
    let response = |result: Value| {
        let outcome = json!({"result": result, "error": refer("JSONRPCError")});
        object(joined(&message, outcome), &[])
    };
    for exchange in schema.exchanges {
        let request = joined(&message, call(schema, exchange, generator));
        define(
            exchange.request,
            object(request, &required(&["method"], exchange)),
        );
        define(
            exchange.response,
            response((exchange.result)(generator).into()),
        );
    }
    for row in schema.errors {
        let text = json!({"type": "string", "const": row.kind.message()});
        define(row.name, error(schema, row, text, generator));
    }
    let any_object = Value::from(of::<Object>(generator));
    define("JSONRPCMessage", object(message.clone(), &[]));
    define(
        "JSONRPCRequest",
        object(joined(&message, any_call()), &["method"]),
    );
    define("JSONRPCResponse", response(any_object.clone()));
    define("JSONRPCError", any_error(any_object));
    define("A2ARequest", any_of(requests(schema)));
    definitions
}

/// Defines the style since 0.2: success and failure are two objects, of which a response is either.
pub(super) fn success_or_error(
    schema: &VersionSchema,
    generator: &mut SchemaGenerator,
) -> Definitions {
    let id = json!({"type": ["string", "integer"]});
    let id_or_null = json!({"type": ["string", "integer", "null"]});
    let mut definitions = Definitions::new();
    let mut define = |name: &str, schema| definitions.insert(name.to_owned(), schema);
    let message = json!({"jsonrpc": version(), "id": id_or_null});
    let success = |result: Value| {
        let members = joined(&message, json!({"result": result}));
        object(members, &["jsonrpc", "id", "result"])
    };
    let mut responses = vec![ERROR_RESPONSE.to_owned()];
    for exchange in schema.exchanges {
        let mut request = joined(&message, call(schema, exchange, generator));
        request["id"] = id.clone();
        let members = required(&["jsonrpc", "id", "method"], exchange);
        define(exchange.request, object(request, &members));

        let success_name = exchange.response.replace("Response", "SuccessResponse");
        define(&success_name, success((exchange.result)(generator).into()));
        define(exchange.response, any_of([ERROR_RESPONSE, &success_name]));
        if !responses.contains(&success_name) {
            responses.push(success_name);
        }
    }
    for row in schema.errors {
        let text = json!({"type": "string", "default": row.kind.message()});
        define(row.name, error(schema, row, text, generator));
    }
    let errors: Vec<_> = schema.errors.iter().map(|row| row.name).collect();
    let failure = json!({"error": any_of(["JSONRPCError"].iter().chain(&errors))});
    let failure = object(joined(&message, failure), &["jsonrpc", "id", "error"]);
    define("JSONRPCMessage", object(message.clone(), &["jsonrpc"]));
    let request = joined(&message, any_call());
    define("JSONRPCRequest", object(request, &["jsonrpc", "method"]));
    define("JSONRPCSuccessResponse", success(json!({})));
    define(ERROR_RESPONSE, failure);
    define("JSONRPCResponse", any_of(responses));
    define("JSONRPCError", any_error(json!({})));
    define("A2AError", any_of(errors));
    define("A2ARequest", any_of(requests(schema)));
    definitions
}

/// Defines the style of 1.0, which has no definitions of its own for it: JSON-RPC 2.0 as it is, around the
/// messages of the specification. Details of an error are a list in `data`.
pub(super) fn around_messages(
    schema: &VersionSchema,
    generator: &mut SchemaGenerator,
) -> Definitions {
    let id = json!({"type": ["string", "integer"]});
    let id_or_null = json!({"type": ["string", "integer", "null"]});
    let message = json!({"jsonrpc": version(), "id": id_or_null});
    let mut definitions = Definitions::new();
    let mut define = |name: &str, schema| definitions.insert(name.to_owned(), schema);
    for exchange in schema.exchanges {
        let mut request = joined(&message, call(schema, exchange, generator));
        request["id"] = id.clone();
        let members = match needs_a_member(&request["params"], generator) {
            true => required(&["jsonrpc", "id", "method"], exchange),
            false => vec!["jsonrpc", "id", "method"],
        };
        define(exchange.request, object(request, &members));

        let result = Value::from((exchange.result)(generator));
        let success = joined(&message, json!({ "result": result }));
        let success = object(success, &["jsonrpc", "id", "result"]);
        let response = json!({"anyOf": [refer(ERROR_RESPONSE), success]});
        define(exchange.response, response);
    }
    let failure = joined(&message, json!({"error": refer("JSONRPCError")}));
    define(ERROR_RESPONSE, object(failure, &["jsonrpc", "id", "error"]));
    let details = json!({"type": "array", "items": {"type": "object"}});
    define("JSONRPCError", any_error(details));
    define("JSONRPCRequest", any_of(requests(schema)));
    definitions
}

/// Name of the definition of an error response.
const ERROR_RESPONSE: &str = "JSONRPCErrorResponse";

fn version() -> Value {
    json!({"type": "string", "const": "2.0"})
}

/// Returns the members `method` and `params` of an operation's request.
fn call(schema: &VersionSchema, exchange: &Exchange, generator: &mut SchemaGenerator) -> Value {
    let method = schema.protocol_version.method(exchange.operation);
    let mut members = json!({"method": {"type": "string", "const": method}});
    if let Some(params) = exchange.params {
        members["params"] = params(generator).into();
    }
    members
}

/// Returns the members that a request must have: also the params, if there are any.
fn required<'a>(members: &[&'a str], exchange: &Exchange) -> Vec<&'a str> {
    let params = exchange.params.map(|_| "params");
    members.iter().copied().chain(params).collect()
}

/// Returns whether params have a required member; others may be left out.
fn needs_a_member(params: &Value, generator: &SchemaGenerator) -> bool {
    let name = params["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let definition = name.and_then(|name| generator.definitions().get(name));
    definition.is_some_and(|definition| !definition["required"].is_null())
}

fn any_call() -> Value {
    json!({"method": {"type": "string"}, "params": {"type": "object"}})
}

fn requests(schema: &VersionSchema) -> impl Iterator<Item = &'static str> {
    schema.exchanges.iter().map(|exchange| exchange.request)
}

fn error(
    schema: &VersionSchema,
    row: &ErrorRow,
    message: Value,
    generator: &mut SchemaGenerator,
) -> Value {
    let code = row.kind.code_in(schema.protocol_version);
    let members = json!({
        "code": {"type": "integer", "const": code},
        "message": message,
        "data": (row.data)(generator),
    });
    object(members, &["code", "message"])
}

fn any_error(data: Value) -> Value {
    let members = json!({
        "code": {"type": "integer"},
        "message": {"type": "string"},
        "data": data,
    });
    object(members, &["code", "message"])
}

fn object(members: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": members});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn joined(members: &Value, more: Value) -> Value {
    let both = [members.clone(), more];
    let members = both.into_iter().filter_map(|members| match members {
        Value::Object(members) => Some(members),
        _ => None,
    });
    Value::Object(members.flatten().collect())
}

fn any_of(names: impl IntoIterator<Item = impl AsRef<str>>) -> Value {
    let references: Vec<_> = names.into_iter().map(|name| refer(name.as_ref())).collect();
    json!({ "anyOf": references })
}

fn refer(name: &str) -> Value {
    json!({ "$ref": reference(name) })
}
