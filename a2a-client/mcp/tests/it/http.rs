//! Streamable HTTP.

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
    let begin = async || {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "editor", "version": "1"},
        }});
        let request = Request::builder()
            .method("POST")
            .uri("/mcp")
            .header("host", "127.0.0.1:8100")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::new(Bytes::from(body.to_string())));
        let response = service.call(request.unwrap()).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8_lossy(&body).into_owned()
    };
    for _ in 0..1024 {
        let begun = begin().await;
        assert!(begun.contains("serverInfo"), "{begun}");
    }
    let refused = begin().await;
    assert!(refused.contains("too many sessions"), "{refused}");
    service.shutdown().await;
}
