//! Requests that are edited and sent again.

use http::StatusCode;
use http::header::HeaderMap;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::exchanges::ended;
use crate::harness::Page;

/// Starts a server that answers with what it was sent, and returns its URL.
pub(crate) async fn mirror() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = async |method: http::Method, uri: http::Uri, headers: HeaderMap, body: String| {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let headers: Vec<_> = headers.collect();
        let uri = uri.to_string();
        json!({"method": method.as_str(), "uri": uri, "headers": headers, "body": body}).to_string()
    };
    let router = axum::Router::new().fallback(answer);
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

/// Returns what the mirror was sent.
fn reflected(exchange: &Value) -> Value {
    serde_json::from_str(exchange["response"]["body"].as_str().unwrap()).unwrap()
}

/// Makes an exchange with a bearer token with the mirror, and returns it.
async fn original(page: &Page, url: &str) -> Value {
    let settings = json!({"noCard": true, "version": "1.0", "headers": [["X-Key", "sesame"]]});
    let agent = page.connect(url, settings).await;
    let path = format!("/api/agents/{}/tasks/t", agent["id"].as_str().unwrap());
    page.call("GET", &path, None).await.problem();
    let exchange = page.get("/api/exchanges/1").await;
    assert!(
        reflected(&exchange)["headers"]
            .to_string()
            .contains("sesame")
    );
    exchange
}

#[tokio::test]
async fn masked_values_go_to_their_origin_only() {
    let page = Page::open().await;
    let (url, other) = (mirror().await, mirror().await);
    let original = original(&page, &url).await;
    let edited = |url: &str| {
        json!({
            "from": 1, "method": "PUT", "url": format!("{url}/edited?x=1"), "body": "new",
            "headers": [["x-key", "***"], ["x-added", "yes"], ["content-length", "99"]],
        })
    };
    let sent = page.post("/api/exchanges", edited(&url)).await;
    let exchange = ended(&page, &sent["number"]).await;
    assert_eq!(exchange["source"], "resend");
    assert_eq!(exchange["agent"], original["agent"]);
    let seen = reflected(&exchange);
    assert_eq!(
        (&seen["method"], &seen["uri"]),
        (&json!("PUT"), &json!("/edited?x=1"))
    );
    assert_eq!(seen["body"], "new");
    let headers = seen["headers"].as_array().unwrap();
    for header in [
        json!(["x-key", "sesame"]),
        json!(["x-added", "yes"]),
        json!(["content-length", "3"]),
    ] {
        assert!(headers.contains(&header), "{header} in {headers:?}");
    }
    let shown = exchange["request"]["headers"].as_array().unwrap();
    assert!(shown.contains(&json!(["x-key", "***"])), "{shown:?}");
    // An exchange that was sent again can be sent once more.
    let mut again = edited(&url);
    again["from"] = sent["number"].clone();
    let again = page.post("/api/exchanges", again).await;
    assert!(
        reflected(&ended(&page, &again["number"]).await)["headers"]
            .to_string()
            .contains("sesame")
    );

    let before = page.get("/api/exchanges").await["exchanges"]
        .as_array()
        .unwrap()
        .len();
    for place in [other.clone(), url.replace("127.0.0.1", "localhost")] {
        let refused = page
            .call("POST", "/api/exchanges", Some(edited(&place)))
            .await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert!(
            refused.problem()["message"]
                .as_str()
                .unwrap()
                .contains("x-key")
        );
    }
    let mut without = edited(&url);
    without["from"] = Value::Null;
    let refused = page.call("POST", "/api/exchanges", Some(without)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let after = page.get("/api/exchanges").await["exchanges"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(before, after, "nothing was sent");

    // Requests to another origin have the values that the page gives.
    let mut given = edited(&other);
    given["headers"] = json!([["x-key", "mine"]]);
    let sent = page.post("/api/exchanges", given).await;
    let exchange = ended(&page, &sent["number"]).await;
    assert!(
        exchange.get("agent").is_none(),
        "the connections of the agent are its own"
    );
    assert!(reflected(&exchange)["headers"].to_string().contains("mine"));
}

#[tokio::test]
async fn a_secret_within_a_value_is_sent_again_as_it_was() {
    let page = Page::open().await;
    let url = mirror().await;
    let first = json!({"method": "GET", "url": format!("{url}/a;key=s3cret/b?x=1&sig=s3cret"),
        "headers": [["referer", "http://h/?code=s3cret"], ["x-team", "blue"]]});
    let sent = page.post("/api/exchanges", first).await;
    let shown = ended(&page, &sent["number"]).await;
    assert!(!shown["request"].to_string().contains("s3cret"), "{shown}");
    assert!(!shown["url"].to_string().contains("s3cret"), "{shown}");
    let again = json!({"from": sent["number"], "method": "GET", "url": shown["url"],
        "headers": shown["request"]["headers"]});
    let again = page.post("/api/exchanges", again).await;
    let seen = reflected(&ended(&page, &again["number"]).await);
    assert_eq!(seen["uri"], "/a;key=s3cret/b?x=1&sig=s3cret");
    let headers = seen["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["referer", "http://h/?code=s3cret"])));
    let elsewhere =
        json!({"from": sent["number"], "method": "GET", "url": format!("{url}/c;key=***/b")});
    let refused = page.call("POST", "/api/exchanges", Some(elsewhere)).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn invalid_requests_are_refused() {
    let page = Page::open().await;
    for request in [
        json!({"method": "a b", "url": "http://127.0.0.1:1/"}),
        json!({"method": "GET", "url": "/relative"}),
        json!({"method": "GET", "url": "file:///etc/passwd"}),
        json!({"method": "GET", "url": "http://127.0.0.1:1/", "headers": [["a b", ""]]}),
        json!({"method": "GET", "url": "http://127.0.0.1:1/", "headers": [["a", "b\nc"]]}),
        json!({"method": "GET", "url": "http://127.0.0.1:1/?key=***"}),
    ] {
        let refused = page
            .call("POST", "/api/exchanges", Some(request.clone()))
            .await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{request}");
        refused.problem();
    }
    let unknown = json!({"from": 7, "method": "GET", "url": "http://127.0.0.1:1/"});
    let unknown = page.call("POST", "/api/exchanges", Some(unknown)).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let closed = json!({"method": "GET", "url": "http://127.0.0.1:1/"});
    let sent = page.post("/api/exchanges", closed).await;
    let exchange = ended(&page, &sent["number"]).await;
    assert_eq!(exchange["state"], "failed");
    assert!(exchange["failure"].is_string(), "{exchange}");
}
