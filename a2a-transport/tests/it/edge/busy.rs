//! `Retry-After` of agents that are too busy.

use a2a_transport::http::HttpService;
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::ErrorKind;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// An agent that always fails with the same error.
struct FailingAgent(ErrorKind);

impl Transport for FailingAgent {
    fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(std::future::ready(Err(self.0.into())))
    }
}

/// Calls an agent that always fails with `kind`. Returns the status, `Retry-After` and the body.
async fn ask(kind: ErrorKind, request: Request<Full<Bytes>>) -> (u16, Option<String>, Value) {
    let response = HttpService::new(FailingAgent(kind)).handle(request).await;
    let (head, body) = response.into_parts();
    let again = head.headers.get("retry-after");
    let again = again.map(|value| value.to_str().unwrap().to_owned());
    let body = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    (head.status.as_u16(), again, body)
}

fn json_rpc(method: &str) -> Request<Full<Bytes>> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "t"}});
    let request = Request::post("/").header("content-type", "application/json");
    request.body(Full::from(body.to_string())).unwrap()
}

fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).unwrap()
}

#[tokio::test]
async fn an_agent_that_is_busy_says_when_to_ask_again() {
    let info = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"});
    let busy = StatusCode::SERVICE_UNAVAILABLE.as_u16();
    let again = Some("1".to_owned());
    for (request, status, details) in [
        (json_rpc("tasks/get"), 200, Value::Null),
        (json_rpc("GetTask"), 200, info.clone()),
        (get("/rest/tasks/t"), busy, info),
        (get("/v1/tasks/t"), busy, Value::Null),
        (get("/agent/authenticatedExtendedCard"), busy, Value::Null),
    ] {
        let place = request.uri().clone();
        let response = ask(ErrorKind::Unavailable, request).await;
        assert_eq!((response.0, &response.1), (status, &again), "{place}");
        let error = &response.2["error"];
        let list = error.get("data").or(error.get("details"));
        let last = list.and_then(|list| list.as_array()?.last()).cloned();
        assert_eq!(last.unwrap_or_default(), details, "{place}");
    }
    for request in [json_rpc("GetTask"), get("/rest/tasks/t")] {
        assert_eq!(ask(ErrorKind::TaskNotFound, request).await.1, None);
    }
}
