//! An agent with scripts and foreign addresses in every text, and the server that they point at.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::HeaderName;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::harness::router;

/// A server that counts the connections to it, and allows every page to read its answer.
pub(super) struct Trap {
    pub(super) url: String,
    connections: Arc<AtomicUsize>,
}

impl Trap {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                stream.write_all(ANSWER).await.ok();
            }
        });
        Self { url, connections }
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Starts the agent, and returns its URL.
pub(super) async fn hostile(trap: &str) -> String {
    let trap = trap.to_owned();
    router(|url| {
        let card = card(&trap, url);
        let reply = async move |Json(request): Json<Value>| reply(&trap, &request);
        let card = get(async move || Json(card));
        Router::new()
            .route("/.well-known/agent-card.json", card)
            .fallback(post(reply))
    })
    .await
}

/// Returns a text that would run and load something, if any of it were read as HTML.
pub(super) fn text(trap: &str, place: &str) -> String {
    format!(
        "{place}<script>globalThis.ran = '{place}'; alert(1)</script>\
        <img src=\"{trap}/{place}.png\" onerror=\"globalThis.ran = '{place}'\">\
        <svg onload=\"globalThis.ran = '{place}'\"></svg><iframe src=\"javascript:parent.ran = '{place}'\"></iframe>\
        <link rel=\"stylesheet\" href=\"{trap}/{place}.css\"><base href=\"{trap}\">\"'></title></textarea>"
    )
}

/// Returns Markdown with links and images, besides such a text.
fn markdown(trap: &str, place: &str) -> String {
    let html = text(trap, place);
    format!(
        "# {html}\n\n![image]({trap}/{place}-image.png) [script](javascript:globalThis.ran=1) \
        [data](data:text/html,<script>opener.ran=1</script>) [blank]({trap} \"t\\\" onmouseover='globalThis.ran=1'\")\n\n\
        <{trap}/auto> {trap}/bare\n\n> {html}\n\n- [ ] {html}\n\n| a |\n|---|\n| {html} |\n\n\
        ```html\" onload=\"globalThis.ran=1\n{html}\n```\n"
    )
}

fn card(trap: &str, url: &str) -> Value {
    let text = |place: &str| text(trap, place);
    json!({
        "name": text("name"),
        "description": text("description"),
        "version": text("version"),
        "provider": {"organization": text("organization"), "url": "javascript:globalThis.ran = 'provider'"},
        "iconUrl": format!("{trap}/icon.svg"),
        "documentationUrl": "data:text/html,<script>globalThis.ran = 'documentation'</script>",
        "supportedInterfaces": [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": format!("{trap}/rest"), "protocolBinding": text("binding"), "protocolVersion": text("protocol")},
        ],
        "capabilities": {
            "streaming": true,
            "extensions": [{"uri": text("extension"), "description": text("extension"), "params": {"key": text("params")}}],
        },
        "defaultInputModes": [text("input")],
        "defaultOutputModes": [text("output")],
        "skills": [{
            "id": text("skill-id"),
            "name": text("skill-name"),
            "description": markdown(trap, "skill-description"),
            "tags": [text("tag")],
            "examples": [text("example")],
        }],
        "securitySchemes": {
            "\"><script>globalThis.ran = 'scheme'</script>": {"apiKeySecurityScheme":
                {"name": "X-Key", "location": "header", "description": text("scheme")}},
        },
        "signatures": [{
            "protected": STANDARD.encode(json!({"alg": "ES256", "kid": text("kid"), "jku": format!("{trap}/keys")}).to_string()),
            "signature": "AAAA",
            "header": {"note": text("header")},
        }],
    })
}

fn reply(trap: &str, request: &Value) -> Response {
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    let task = task(trap);
    match request["method"].as_str().unwrap() {
        "ListTasks" => {
            let page =
                json!({"tasks": [task], "nextPageToken": "", "pageSize": 50, "totalSize": 1});
            Json(answer(page)).into_response()
        }
        "GetTask" => Json(answer(task)).into_response(),
        "SendStreamingMessage" if request.to_string().contains("show") => {
            let event = |event: Value| format!("data: {}\n\n", answer(event));
            let status = json!({"statusUpdate":
                {"taskId": task["id"], "contextId": task["contextId"], "status": task["status"]}});
            let headers = [
                ("content-type", "text/event-stream".to_owned()),
                ("x-note", text(trap, "response")),
                ("link", format!("<{trap}/link.css>; rel=preload; as=style")),
            ]
            .map(|(name, value)| (HeaderName::from_static(name), value));
            let events = event(json!({"task": task})) + &event(status);
            (headers, events).into_response()
        }
        _ => {
            let error = json!({"code": -32603, "message": text(trap, "error"), "data": [{"note": text(trap, "data")}]});
            Json(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).into_response()
        }
    }
}

fn task(trap: &str) -> Value {
    let message = |place: &str| {
        json!({
            "messageId": text(trap, place),
            "role": "ROLE_AGENT",
            "parts": [{"text": markdown(trap, place)}, {"data": {text(trap, "key"): text(trap, "value")}}],
            "metadata": {text(trap, "key"): text(trap, "metadata")},
        })
    };
    let status = json!({"state": "TASK_STATE_COMPLETED", "message": message("status"), "timestamp": "2026-01-01T00:00:00Z"});
    json!({
        "id": "\"><script>globalThis.ran = 'task'</script>/../x",
        "contextId": "'><img src=x onerror=\"globalThis.ran = 'context'\">",
        "status": status,
        "history": [message("history")],
        "artifacts": [{
            "artifactId": "\"><svg onload=\"globalThis.ran = 'artifact'\">",
            "name": text(trap, "artifact-name"),
            "description": text(trap, "artifact-description"),
            "parts": parts(trap),
        }],
        "metadata": {"note": text(trap, "task-metadata")},
    })
}

/// Returns parts of every kind.
fn parts(trap: &str) -> Value {
    let file = |media_type: &str, content: &str| {
        let name = text(trap, "file");
        json!({"raw": STANDARD.encode(content), "mediaType": media_type, "filename": name})
    };
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"40\" onload=\"parent.ran = 'svg'\">\
        <script>parent.ran = 'svg'</script><style>@import url({trap}/svg.css);</style>\
        <image href=\"{trap}/svg.png\" width=\"9\" height=\"9\"/><rect width=\"40\" height=\"40\" fill=\"green\"/></svg>"
    );
    let html = text(trap, "html");
    json!([
        {"text": markdown(trap, "artifact")},
        {"text": html, "mediaType": "text/html"},
        {"text": format!("{{\"key\": {}}}", json!(html)), "mediaType": "application/json"},
        {"data": {"html": html, "__proto__": {"ran": 1}, "url": "javascript:globalThis.ran = 1"}},
        file("image/svg+xml", &svg),
        file("text/html", &html),
        file("text/markdown", &markdown(trap, "file")),
        file("audio/mpegurl", &format!("#EXTM3U\n#EXTINF:9,\n{trap}/sound.mp3\n")),
        file(&text(trap, "media-type").replace("image", "x"), "content"),
        {"url": format!("{trap}/file.png"), "mediaType": "image/png", "filename": text(trap, "file-name")},
        {"url": "javascript:globalThis.ran = 'part'", "mediaType": "image/png"},
    ])
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n\
    Content-Length: 2\r\nConnection: close\r\n\r\nok";
