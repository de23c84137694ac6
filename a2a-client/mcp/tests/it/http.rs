//! Streamable HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::service::Service;
use serde_json::json;

use crate::editor::{TOOL, reference};

async fn post(request: http::request::Builder) -> (StatusCode, String) {
    let (bridge, _) = reference();
    let service = bridge.build().unwrap().into_http_service(["127.0.0.1"]);
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": TOOL, "arguments": {"message": "echo hello"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "editor", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}
            }
        }
    });
    let request = request
        .method("POST")
        .uri("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", TOOL)
        .body(Full::new(Bytes::from(body.to_string())));
    let response = service.call(request.unwrap()).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn a_tool_is_called_by_http() {
    let (status, body) = post(Request::builder().header("host", "127.0.0.1:8100")).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert!(body.contains(r#""text":"hello""#), "{body}");
}

#[tokio::test]
async fn other_hosts_and_pages_in_browsers_are_refused() {
    let (status, body) = post(Request::builder().header("host", "evil.example")).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{body}");
    let request = Request::builder()
        .header("host", "127.0.0.1:8100")
        .header("origin", "https://evil.example");
    let (status, body) = post(request).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{body}");
}

#[tokio::test]
async fn sessions_are_limited_and_end_with_the_service() {
    let (bridge, _) = reference();
    let service = bridge.build().unwrap().into_http_service(["127.0.0.1"]);
    let send = async |request: http::request::Builder, body: String| {
        let request = request
            .uri("/mcp")
            .header("host", "127.0.0.1:8100")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::new(Bytes::from(body)));
        service.call(request.unwrap()).await.unwrap()
    };
    let begin = async || {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "editor", "version": "1"},
        }});
        let response = send(Request::post("/"), body.to_string()).await;
        let session = response.headers().get("mcp-session-id").cloned();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (session, String::from_utf8_lossy(&body).into_owned())
    };
    for _ in 0..1023 {
        let (_, begun) = begin().await;
        assert!(begun.contains("serverInfo"), "{begun}");
    }
    let session = begin().await.0.unwrap();
    let (_, refused) = begin().await;
    assert!(refused.contains("too many sessions"), "{refused}");

    let end = Request::delete("/").header("mcp-session-id", &session);
    assert!(send(end, String::new()).await.status().is_success());
    let session = loop {
        // The session ends in the background.
        let (session, begun) = begin().await;
        if begun.contains("serverInfo") {
            break session.unwrap();
        }
        tokio::task::yield_now().await;
    };
    let stream = Request::get("/").header("mcp-session-id", &session);
    let stream = send(stream, String::new()).await;
    assert_eq!(stream.status(), StatusCode::OK);
    service.shutdown().await;
    let ended = stream.into_body().collect();
    let ended = tokio::time::timeout(Duration::from_secs(10), ended).await;
    assert!(ended.is_ok(), "the stream does not end");
}
