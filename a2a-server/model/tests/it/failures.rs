//! Services that fail, lie, fall silent or do not end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use a2a_model::{Api, ModelAgent};
use a2a_server::{Failure, Turn};
use serde_json::json;

use crate::endpoint::{Endpoint, Script, Step, answer, chunk, end, event, text};
use crate::{APIS, KEY, assert_completed, assert_failed, bounded, model, send, send_in, serve};

/// Checks that a service's response fails the task, what remains of the answer, and that the next message of the
/// context is answered, with the conversation so far.
async fn check(script: impl Fn(Api) -> Script, reason: &str, artifact: &str) {
    for api in APIS {
        let endpoint = Endpoint::start([script(api), answer(api, &["Mild."])]).await;
        let limits = |model: ModelAgent| model.silence(Duration::from_millis(300)).max_attempts(1);
        let client = serve(limits(model(&endpoint, api)).max_output_bytes(1000)).await;
        let task = send(&client, "How is it?").await;
        assert_failed(&task, reason, artifact);
        let context = task.context_id.expect("a task has a context");
        assert_completed(&send_in(&client, &context, "Again?").await, "Mild.");
        let mut received = endpoint.received();
        let expected = match artifact {
            "" => vec!["user How is it?\\nAgain?".to_owned()],
            text => vec![
                "user How is it?".to_owned(),
                format!("assistant {text}"),
                "user Again?".to_owned(),
            ],
        };
        assert_eq!(received.pop().unwrap().messages(), expected, "{reason}");
    }
}

#[tokio::test]
async fn cut_stream_keeps_what_arrived() {
    check(
        |api| Script::stream([text(api, "It is "), Step::Cut]),
        "cut",
        "It is ",
    )
    .await;
    check(|api| Script::stream([text(api, "It is ")]), "cut", "It is ").await;
    let half = || Step::Raw("data: {\"id\": \"r1\", \"choi".to_owned());
    check(
        move |api| Script::stream([text(api, "It is "), half()]),
        "cut",
        "It is ",
    )
    .await;
}

#[tokio::test]
async fn malformed_delta_keeps_what_arrived() {
    let bad = || Step::Raw("data: {\"id\": nothing}\n\n".to_owned());
    check(
        move |api| Script::stream([text(api, "It "), bad(), text(api, "is "), end(api)]),
        "malformed_delta",
        "It ",
    )
    .await;
}

#[tokio::test]
async fn error_event_fails_the_task() {
    let error = || event(json!({"type": "error", "error": {"message": "overloaded"}}));
    check(
        move |api| Script::stream([text(api, "It "), error()]),
        "service",
        "It ",
    )
    .await;
    check(move |_| Script::stream([error()]), "service", "").await;
}

#[tokio::test]
async fn refusals_are_told_apart() {
    check(|_| Script::error(401), "refused", "").await;
    check(|_| Script::error(403), "refused", "").await;
    check(|_| Script::error(400), "rejected", "").await;
    check(|_| Script::error(404), "rejected", "").await;
    check(|_| Script::error(500), "service", "").await;
    check(|_| Script::error(429), "rate_limited", "").await;
    check(|_| Script::error(302), "not_understood", "").await;
}

#[tokio::test]
async fn response_that_is_no_stream_is_not_understood() {
    let page = |_| Script::stream([]).header("content-type", "text/html");
    check(page, "not_understood", "").await;
    let compressed = |_| Script::stream([]).header("content-encoding", "gzip");
    check(compressed, "not_understood", "").await;
}

#[tokio::test]
async fn silence_ends_the_request() {
    check(|_| Script::stream([Step::Hang]), "silence", "").await;
    check(
        |api| Script::stream([text(api, "It is "), Step::Hang]),
        "silence",
        "It is ",
    )
    .await;
}

#[tokio::test]
async fn endless_output_is_cut_at_the_limit() {
    let endless = |api| {
        let Step::Raw(delta) = text(api, "0123456789") else {
            unreachable!()
        };
        Script::stream([Step::Repeat(delta)])
    };
    check(endless, "too_long", &"0123456789".repeat(100)).await;
}

#[tokio::test]
async fn endless_events_without_output_end() {
    let comments = |_| Script::stream([Step::Repeat(format!(": {}\n\n", "x".repeat(60_000)))]);
    check(comments, "too_long", "").await;
    let line = |_| Script::stream([Step::Repeat("data: 0123456789".repeat(4000))]);
    check(line, "too_long", "").await;
    let calls = |api| {
        let call = match api {
            Api::Responses => json!({
                "type": "response.function_call_arguments.delta", "output_index": 0, "delta": "",
            }),
            _ => json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1"}]}}]}),
        };
        Script::stream([Step::Repeat(format!("data: {call}\n\n"))])
    };
    check(calls, "too_long", "").await;
}

#[tokio::test]
async fn answer_that_the_service_shortens_fails_the_task() {
    let short = |api| match api {
        Api::Responses => Script::stream([
            text(api, "It "),
            event(json!({"type": "response.incomplete", "response": {
                "id": "r1", "incomplete_details": {"reason": "max_output_tokens"},
            }})),
        ]),
        _ => Script::stream([
            text(api, "It "),
            event(json!({"choices": [{"delta": {}, "finish_reason": "length"}]})),
            end(api),
        ]),
    };
    check(short, "incomplete", "It ").await;
}

#[tokio::test]
async fn rate_limited_request_is_sent_again() {
    for api in APIS {
        let scripts = [
            Script::error(429).header("retry-after", "1"),
            Script::error(503),
            Script::stream([Step::Cut]),
            answer(api, &["Mild."]),
        ];
        let endpoint = Endpoint::start(scripts).await;
        let client = serve(model(&endpoint, api)).await;
        let begun = Instant::now();
        assert_completed(&send(&client, "How is it?").await, "Mild.");
        assert!(
            begun.elapsed() >= Duration::from_secs(1),
            "the service asked for a second"
        );
        assert_eq!(endpoint.received().len(), 4);
    }
}

#[tokio::test]
async fn attempts_and_delays_are_limited() {
    for (header, requests) in [("0", 4), ("3600", 1)] {
        let endpoint =
            Endpoint::with(move |_| Script::error(429).header("retry-after", header)).await;
        let client = serve(model(&endpoint, Api::ChatCompletions)).await;
        assert_failed(&send(&client, "How is it?").await, "rate_limited", "");
        assert_eq!(endpoint.received().len(), requests);
    }
    let endpoint = Endpoint::with(|_| Script::error(500)).await;
    let client = serve(model(&endpoint, Api::ChatCompletions).max_attempts(2)).await;
    assert_failed(&send(&client, "How is it?").await, "service", "");
    assert_eq!(endpoint.received().len(), 2);
}

#[tokio::test]
async fn request_with_output_is_not_sent_again() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let endpoint = Endpoint::with(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        Script::stream([chunk(json!({"content": "It "})), Step::Cut])
    })
    .await;
    let client = serve(model(&endpoint, Api::ChatCompletions)).await;
    assert_failed(&send(&client, "How is it?").await, "cut", "It ");
    assert_eq!(requests.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn service_that_does_not_listen_is_unreachable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let model = ModelAgent::new(url, "tiny").backoff(Duration::from_millis(1));
    let client = serve(model).await;
    assert_failed(
        &bounded(send(&client, "How is it?")).await,
        "unreachable",
        "",
    );
}

/// Services may repeat it, also where an error is cut.
#[tokio::test]
async fn no_error_has_a_part_of_the_api_key() {
    let event = || {
        let text = format!("no, {}{KEY}", "x".repeat(290));
        let error = json!({"type": "error", "error": {"message": text}}).to_string();
        Step::Raw(format!("data: {}\n\n", error.replace('/', "\\/")))
    };
    for api in APIS {
        let endpoint = Endpoint::start([Script::error(400), Script::stream([event()])]).await;
        let model = model(&endpoint, api).max_attempts(1);
        let agent = move |turn: Turn| {
            let model = model.clone();
            async move {
                let error = model.answer(&turn).await.unwrap_err();
                let text = error.to_string();
                Ok::<_, Failure>(turn.artifact("error").text(text).complete_task().await?)
            }
        };
        let client = serve(agent).await;
        for _ in 0..2 {
            let text = send(&client, "How is it?").await.text();
            assert!(text.contains("no, xxx"), "{text}");
            assert!(!text.contains(&KEY[..5]), "{text}");
        }
    }
}

#[test]
fn settings_are_checked() {
    let check = |url: &str, key: &str| {
        let checked = ModelAgent::new(url, "tiny").api_key(key).check();
        checked
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(check("https://models.example/v1/", "key"), "");
    assert_eq!(
        check("https://models.example/my-chat/completions", "key"),
        ""
    );
    for (url, key, problem) in [
        ("models.example", "key", "base URL"),
        ("ftp://models.example", "key", "base URL"),
        (
            "https://models.example/v1/chat/completions",
            "key",
            "path of the API",
        ),
        ("https://models.example/v1?key=s3cret", "key", "base URL"),
        ("https://ada:s3cret@models.example/v1", "key", "credentials"),
        ("https://models.example/v1", "", "API key is empty"),
        ("https://models.example/v1", "s3cret\n", "API key has"),
    ] {
        let error = check(url, key);
        assert!(
            error.contains(problem) && !error.contains("s3cret"),
            "{url}: {error}"
        );
    }
}
