//! Exchanges by gRPC: messages as JSON, status and trailers.

use serde_json::{Value, json};

use crate::exchanges::{ended, exchange_of};
use crate::harness::{Page, reference};

/// Connects to the reference agent by gRPC, and returns the path of its API.
async fn by_grpc(page: &Page, version: &str) -> String {
    let settings = json!({"version": version, "binding": "GRPC"});
    let agent = page.connect(&reference().await, settings).await;
    format!("/api/agents/{}", agent["id"].as_str().unwrap())
}

/// Returns the JSON in a string.
fn read(text: &Value) -> Value {
    serde_json::from_str(text.as_str().unwrap()).unwrap_or_else(|_| panic!("{text}"))
}

/// Sends a stream's request by the page, which reads the answer to its end; the client may stop reading before the
/// status. Returns the exchange.
async fn stream(page: &Page, agent: &str) -> Value {
    let number = exchange_of(page, agent, "chunks 3", true).await;
    let exchange = page.get(&format!("/api/exchanges/{number}")).await;
    let mut message = read(&exchange["request"]["body"]);
    // The agent recognises a message that is sent twice.
    message["message"]["messageId"] = json!(format!("{agent} again"));
    let again = json!({
        "from": number, "method": "POST", "url": exchange["url"],
        "headers": exchange["request"]["headers"], "body": message.to_string(),
    });
    let sent = page.post("/api/exchanges", again).await;
    ended(page, &sent["number"]).await
}

/// Asks for a task that does not exist, and returns the exchange.
async fn refused(page: &Page, agent: &str) -> Value {
    page.call("GET", &format!("{agent}/tasks/nope"), None)
        .await
        .problem();
    let all = page.get("/api/exchanges").await;
    let last = all["exchanges"].as_array().unwrap().last().unwrap();
    ended(page, &last["number"]).await
}

#[tokio::test]
async fn messages_are_json() {
    let page = Page::open().await;
    for (version, member) in [("1.0", "parts"), ("0.3", "content")] {
        let agent = by_grpc(&page, version).await;
        let number = exchange_of(&page, &agent, "echo hi", false).await;
        let exchange = page.get(&format!("/api/exchanges/{number}")).await;
        assert_eq!(exchange["operation"], "SendMessage");
        assert_eq!(exchange["version"], version);
        assert_eq!(exchange["binding"], "GRPC");
        assert_eq!(exchange["grpcStatus"], "OK");
        assert!(exchange["deviations"].is_null(), "{exchange}");
        let (request, response) = (&exchange["request"], &exchange["response"]);
        let sent = read(&request["body"]);
        assert_eq!(sent["message"][member][0]["text"], "echo hi");
        assert!(read(&response["body"])["task"].is_object(), "{response}");
        assert!(request["frames"].is_null() && response["frames"].is_null());
        assert_eq!(response["httpVersion"], "HTTP/2");
        let trailers = response["trailers"].as_array().unwrap();
        assert!(
            trailers.contains(&json!(["grpc-status", "0"])),
            "{response}"
        );
        assert_eq!(response["grpcStatus"]["name"], "OK");
        // The sizes are those on the wire.
        let length = request["body"].as_str().unwrap().len() as u64;
        assert!(exchange["requestBytes"].as_u64().unwrap() < length);
    }
}

#[tokio::test]
async fn messages_of_a_stream_come_one_by_one() {
    let page = Page::open().await;
    for version in ["1.0", "0.3"] {
        let agent = by_grpc(&page, version).await;
        let exchange = stream(&page, &agent).await;
        let frames = exchange["response"]["frames"].as_array().unwrap();
        assert_eq!(exchange["frames"], frames.len());
        assert!(frames.len() >= 4, "{frames:?}");
        let mut last = exchange["headMs"].as_f64().unwrap();
        for frame in frames {
            assert!(frame["ms"].as_f64().unwrap() >= last, "{frames:?}");
            last = frame["ms"].as_f64().unwrap();
            assert!(read(&frame["data"]).is_object() && frame["problem"].is_null());
        }
        assert!(exchange["deviations"].is_null(), "{exchange}");
        assert_eq!(exchange["grpcStatus"], "OK");
    }
}

#[tokio::test]
async fn an_error_is_shown_with_its_status() {
    let page = Page::open().await;
    for version in ["1.0", "0.3"] {
        let agent = by_grpc(&page, version).await;
        let exchange = refused(&page, &agent).await;
        assert_eq!(exchange["operation"], "GetTask");
        assert_eq!(exchange["status"], 200);
        assert_eq!(exchange["grpcStatus"], "NOT_FOUND");
        let response = &exchange["response"];
        assert_eq!(response["body"], "");
        let status = &response["grpcStatus"];
        assert_eq!(
            (&status["code"], &status["name"]),
            (&json!(5), &json!("NOT_FOUND"))
        );
        // 0.3 names the error in the message.
        let message = status["message"].as_str().unwrap_or_default();
        assert!(message.ends_with("Task not found"), "{message}");
        assert_eq!(status["details"][0]["reason"], "TASK_NOT_FOUND");
    }
}

#[tokio::test]
async fn exports_have_json() {
    let page = Page::open().await;
    let agent = by_grpc(&page, "1.0").await;
    let exchange = stream(&page, &agent).await;
    let number = &exchange["number"];
    let frames = exchange["response"]["frames"].as_array().unwrap();
    let lines: Vec<_> = frames.iter().map(|frame| read(&frame["data"])).collect();
    let is_same = |text: &Value| {
        let text = text.as_str().unwrap().lines();
        let read: Vec<Value> = text
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, lines);
    };

    let archive = page.get(&format!("/api/export/har?numbers={number}")).await;
    let entry = &archive["log"]["entries"][0];
    let (request, response) = (&entry["request"], &entry["response"]);
    assert!(read(&request["postData"]["text"])["message"].is_object());
    assert_eq!(request["bodySize"], exchange["requestBytes"]);
    assert_eq!(response["bodySize"], exchange["responseBytes"]);
    is_same(&response["content"]["text"]);
    for half in [&request["postData"], &response["content"]] {
        let comment = half["comment"].as_str().unwrap();
        assert!(comment.contains("JSON of the messages"), "{comment}");
    }
    let trailers = response["_trailers"].as_array().unwrap();
    assert!(trailers.contains(&json!({"name": "grpc-status", "value": "0"})));

    let recording = page
        .get(&format!("/api/export/recording?numbers={number}"))
        .await;
    is_same(&recording[0]["response"]["body"]);
    assert_eq!(recording[0]["response"]["headers"]["grpc-status"], "0");

    let command = page.get(&format!("/api/exchanges/{number}/curl")).await;
    let command = command["command"].as_str().unwrap();
    assert!(command.starts_with("grpcurl -plaintext "), "{command}");
    let method = " lf.a2a.v1.A2AService/SendStreamingMessage";
    assert!(command.ends_with(method), "{command}");
}

#[tokio::test]
async fn json_that_is_edited_is_sent_as_a_message() {
    let page = Page::open().await;
    let agent = by_grpc(&page, "1.0").await;
    let number = exchange_of(&page, &agent, "echo hi", false).await;
    let exchange = page.get(&format!("/api/exchanges/{number}")).await;
    let edited = |body: String| {
        json!({
            "from": number, "method": "POST", "url": exchange["url"],
            "headers": exchange["request"]["headers"], "body": body,
        })
    };
    let body = exchange["request"]["body"].as_str().unwrap();
    let mut message = read(&json!(body));
    message["message"]["messageId"] = json!("another");
    message["message"]["parts"][0]["text"] = json!("echo bye");
    let sent = page
        .post("/api/exchanges", edited(message.to_string()))
        .await;
    let answer = ended(&page, &sent["number"]).await;
    assert_eq!(answer["source"], "resend");
    assert_eq!(answer["grpcStatus"], "OK", "{answer}");
    assert!(read(&answer["request"]["body"]) == message);
    let text = answer["response"]["body"].as_str().unwrap();
    assert!(text.contains("bye"), "{text}");

    let wrong = Some(edited(r#"{"message": 7}"#.to_owned()));
    let problem = page.call("POST", "/api/exchanges", wrong).await.problem();
    let problem = problem["message"].as_str().unwrap();
    assert!(problem.starts_with("the body cannot be sent"), "{problem}");
}
