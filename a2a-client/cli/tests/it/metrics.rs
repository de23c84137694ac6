//! `a2a serve --metrics`.

use crate::{Agent, check, http_get};

#[test]
fn metrics_are_served_to_prometheus() {
    let place = "127.0.0.1:0";
    let agent = Agent::begin(&["echo", "--address", place, "--metrics", place]);
    check(&["send", &agent.url, "hello"], 0, &["hello"]);
    let url = agent.metrics.as_deref().expect("the URL of the metrics");
    let (_, place) = url.split_once("://").unwrap();
    let (address, path) = place.split_once('/').unwrap();
    let scrape = |host: &str| http_get(address, host, &format!("/{path}"));
    let answer = scrape(address);
    for line in [
        "HTTP/1.1 200 OK",
        "# HELP a2a_server_running_turns Runs of the agent's turns that are in progress.",
        "# TYPE a2a_server_requests_total counter",
        r#"a2a_server_requests_total{operation="SendMessage",protocol_version="1.0",binding="JSONRPC",outcome="answered"} 1"#,
        r#"a2a_server_request_duration_seconds_bucket{operation="SendMessage",protocol_version="1.0",binding="JSONRPC",le="+Inf"} 1"#,
    ] {
        assert!(answer.lines().any(|it| it == line), "{line}: {answer}");
    }
    assert!(scrape("rebound.example").starts_with("HTTP/1.1 403 "));
}
