//! One call in every protocol version and binding.

use std::collections::BTreeMap;

use a2a_client::recorder::{Exchange, RecordedRequest, RecordedResponse};
use a2a_conformance::recorded;
use a2a_jsonrpc::Limits;
use a2a_transport::Binding;
use a2a_transport::binding::{EventReader, read_reply};
use a2a_types::Request;
use a2a_types::reading::Mode;
use http::StatusCode;
use serde_json::{Value, json};

use crate::exchanges::exchange_of;
use crate::harness::{Page, document, reference};

const FORMS: [(&str, &str); 8] = [
    ("0.1", "JSONRPC"),
    ("0.2", "JSONRPC"),
    ("0.3", "JSONRPC"),
    ("0.3", "HTTP+JSON"),
    ("0.3", "GRPC"),
    ("1.0", "JSONRPC"),
    ("1.0", "HTTP+JSON"),
    ("1.0", "GRPC"),
];

fn headers(form: &Value) -> BTreeMap<String, String> {
    let pairs: Vec<(String, String)> = serde_json::from_value(form["headers"].clone()).unwrap();
    pairs.into_iter().collect()
}

fn text(form: &Value, member: &str) -> String {
    form[member]
        .as_str()
        .unwrap_or_else(|| panic!("{member} in {form}"))
        .to_owned()
}

/// Reads both halves of a form back, and returns the request.
fn read(request: &Value, response: &Value) -> Request {
    let (version, binding) = (&request["version"], &request["binding"]);
    let exchange = Exchange {
        request: RecordedRequest {
            method: text(request, "method"),
            url: format!("http://h{}", text(request, "path")),
            headers: headers(request),
            body: text(request, "body"),
        },
        response: Some(RecordedResponse {
            status: response["status"].as_u64().unwrap().try_into().unwrap(),
            headers: headers(response),
            body: text(response, "body"),
        }),
        failure: None,
    };
    if binding == "GRPC" {
        return read_grpc(&exchange);
    }
    let found = recorded::check(&exchange);
    // 0.1 names no conversation in its events, which ProtoJSON of 0.3 must.
    let repairs = found
        .mended
        .iter()
        .filter(|repair| !repair.contains("EMPTYID"));
    assert!(
        found.passes() && repairs.count() == 0,
        "{version} {binding}: {found:?}"
    );
    let call = exchange.request.read_call().unwrap();
    assert_eq!(call.envelope.binding.as_str(), binding);
    // Several versions spell some calls alike.
    let is_same = call.envelope.protocol_version.version() == version;
    assert!(
        is_same || call.envelope.ambiguous || version == "0.2",
        "{version}: {call:?}"
    );
    call.request
}

/// Reads both halves by gRPC, and returns the request.
fn read_grpc(exchange: &Exchange) -> Request {
    let call = exchange.request.read_call().unwrap();
    assert_eq!(call.envelope.binding, Binding::Grpc);
    assert!(call.repairs.is_empty(), "{:?}", call.repairs);
    let response = exchange.response.as_ref().unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(response.headers["content-type"], "application/grpc+proto");
    assert_eq!(response.headers["grpc-status"], "0");
    let limits = Limits::default();
    let mut reader = EventReader::new(call.envelope.clone(), Mode::Lenient, limits);
    for line in response.body.lines() {
        match call.envelope.operation.is_stream() {
            true => drop(reader.read(line.as_bytes()).unwrap()),
            false => {
                let (envelope, line) = (&call.envelope, line.as_bytes());
                read_reply(envelope, StatusCode::OK, line, Mode::Lenient, &limits).unwrap();
            }
        }
    }
    call.request
}

#[tokio::test]
async fn a_call_of_each_version_is_read_back_from_all() {
    let page = Page::open().await;
    let url = reference().await;
    for (version, binding) in FORMS {
        let settings = json!({"version": version, "binding": binding});
        let agent = page.connect(&url, settings).await;
        let agent = format!("/api/agents/{}", agent["id"].as_str().unwrap());
        for (order, streams) in [("chunks 2", true), ("echo hi", false), ("fail no", false)] {
            let number = exchange_of(&page, &agent, order, streams).await;
            let versions = page.get(&format!("/api/exchanges/{number}/versions")).await;
            let [requests, responses] =
                ["request", "response"].map(|half| versions[half].as_array().unwrap());
            let forms = |half: &[Value]| -> Vec<(String, String)> {
                half.iter()
                    .map(|form| (text(form, "version"), text(form, "binding")))
                    .collect()
            };
            let expected = FORMS.map(|(version, binding)| (version.to_owned(), binding.to_owned()));
            assert_eq!(forms(requests), expected);
            assert_eq!(forms(responses), expected);
            for (request, response) in requests.iter().zip(responses) {
                match read(request, response) {
                    Request::SendMessage(sent) | Request::SendStreamingMessage(sent) => {
                        assert_eq!(sent.message.text(), order, "{request}");
                    }
                    other => panic!("{other:?}"),
                }
                if request["binding"] != "GRPC" {
                    let is_stream = headers(response)["content-type"] == "text/event-stream";
                    assert_eq!(is_stream, streams, "{response}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_version_without_the_operation_says_so() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    page.get(&format!("{agent}/tasks")).await;
    let all = page.get("/api/exchanges").await;
    let number = &all["exchanges"].as_array().unwrap().last().unwrap()["number"];
    let versions = page.get(&format!("/api/exchanges/{number}/versions")).await;
    for half in ["request", "response"] {
        let oldest = &versions[half][0];
        assert!(
            oldest["error"].as_str().unwrap().contains("0.1"),
            "{oldest}"
        );
        let by_grpc = &versions[half][4];
        assert!(
            by_grpc["error"].as_str().unwrap().contains("0.3"),
            "{by_grpc}"
        );
        assert!(versions[half][7]["body"].is_string());
    }
}

#[tokio::test]
async fn an_answer_that_is_none_leaves_the_request() {
    let page = Page::open().await;
    let settings = json!({"noCard": true, "version": "1.0"});
    let agent = page.connect(&document("nonsense").await, settings).await;
    let path = format!("/api/agents/{}/tasks/t", agent["id"].as_str().unwrap());
    page.call("GET", &path, None).await.problem();
    let versions = page.get("/api/exchanges/1/versions").await;
    assert!(
        versions["request"][0]["body"]
            .as_str()
            .unwrap()
            .contains("tasks/get")
    );
    let problem = versions["response"][0]["error"].as_str().unwrap();
    assert!(
        problem.starts_with("the answer cannot be read"),
        "{problem}"
    );

    let agent = page.path_of(&reference().await).await;
    page.get(&agent).await;
    let all = page.get("/api/exchanges").await;
    let card = all["exchanges"].as_array().unwrap().last().unwrap();
    assert_eq!(card["operation"], "GetAgentCard");
    let path = format!("/api/exchanges/{}/versions", card["number"]);
    assert_eq!(
        page.call("GET", &path, None).await.status,
        StatusCode::CONFLICT
    );
}
