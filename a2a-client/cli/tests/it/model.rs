//! `a2a serve model`, against a scripted service.

use serde_json::json;
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, check};

fn serve(options: &[&str]) -> Agent {
    Agent::begin(&[&["model", "--address", "127.0.0.1:0"], options].concat())
}

#[test]
fn language_model_is_an_agent() {
    let service = ScriptedAgent::new(|_, _| {
        let chunk = |text: &str| json!({"choices": [{"delta": {"content": text}}]}).to_string();
        json!({"events": [chunk("It is "), chunk("mild."), "[DONE]"]})
    });
    let directory = TempDir::new().unwrap();
    let system = directory.path().join("system.txt");
    std::fs::write(&system, "Be brief.").unwrap();
    let system = system.to_str().unwrap();
    let base = format!("{}v1", service.url);
    let options = [
        "--base-url",
        &base,
        "--model",
        "lab/tiny",
        "--system",
        system,
    ];
    let agent = serve(&options);
    let card = ["Name: tiny", "Answers with the language model lab/tiny"];
    check(&["card", "get", &agent.url], 0, &card);
    let answer = [
        "State: COMPLETED",
        "Artifact: answer\nText:\n  It is mild.\n",
    ];
    check(&["send", &agent.url, "How is it?"], 0, &answer);
    let requests = service.requests();
    assert!(requests[0].head.starts_with("POST /v1/chat/completions "));
    assert_eq!(requests[0].body["model"], "lab/tiny");
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is it?"},
    ]);
    assert_eq!(requests[0].body["messages"], messages);
}

#[test]
fn model_may_be_called_by_responses() {
    let service = ScriptedAgent::new(|_, _| {
        let delta = json!({"type": "response.output_text.delta", "delta": "Mild."});
        let completed = json!({"type": "response.completed", "response": {"id": "r1"}});
        json!({"events": [delta.to_string(), completed.to_string()]})
    });
    let options = [
        "--base-url",
        &service.url,
        "--model",
        "tiny",
        "--api",
        "responses",
    ];
    let agent = serve(
        &[
            &options[..],
            &["--api-key-env", "PATH", "--images", "--files"],
        ]
        .concat(),
    );
    check(
        &["send", &agent.url, "How is it?"],
        0,
        &["State: COMPLETED", "  Mild."],
    );
    let request = &service.requests()[0];
    assert!(
        request.head.starts_with("POST /responses "),
        "{}",
        request.head
    );
    let key = std::env::var("PATH").unwrap();
    assert!(
        request
            .head
            .contains(&format!("authorization: Bearer {key}"))
    );
}

#[test]
fn failure_of_the_model_is_told_without_details() {
    let agent = serve(&[
        "--base-url",
        "http://127.0.0.1:1/secret",
        "--model",
        "tiny",
        "--silence",
        "1s",
    ]);
    let output = check(
        &["send", &agent.url, "hello"],
        0,
        &["FAILED", "The language model cannot be reached."],
    );
    assert!(
        !output.contains("secret") && !output.contains("127.0.0.1:1/"),
        "{output}"
    );
}

/// Checks that `a2a serve` refuses options.
#[track_caller]
fn check_refused(options: &[&str], expected: &[&str]) {
    check(&[&["serve"], options].concat(), 2, expected);
}

#[test]
fn options_of_a_model_are_checked() {
    let base = ["--base-url", "http://127.0.0.1:1/v1"];
    let with_base = |options: &[&'static str]| [options, &base].concat();
    check_refused(&["model"], &["--base-url <URL>", "--model <NAME>"]);
    check_refused(&with_base(&["model"]), &["--model <NAME>"]);
    check_refused(
        &with_base(&["joke", "--model", "tiny"]),
        &["--base-url", "a2a serve model"],
    );
    check_refused(&["joke", "--model", "tiny"], &["--base-url <URL>"]);
    check_refused(&["joke", "--images"], &["--base-url <URL>"]);
    check_refused(&with_base(&["--exec", "cat"]), &["--exec", "--base-url"]);
    let model = with_base(&["model", "--model", "tiny"]);
    let with_model = |options: &[&'static str]| [&model, options].concat();
    let no_key = with_model(&["--api-key-env", "A2A_NO_SUCH_VARIABLE"]);
    check_refused(
        &no_key,
        &["--api-key-env A2A_NO_SUCH_VARIABLE", "not found"],
    );
    check_refused(
        &with_model(&["--api", "grpc"]),
        &["chat-completions", "responses"],
    );
    check_refused(&with_model(&["--max-output", "much"]), &["--max-output"]);
    let no_file = [&["serve"], &*with_model(&["--system", "/nonexistent"])].concat();
    check(&no_file, 2, &["--system /nonexistent", "No such file"]);
    let url = "https://ada:s3cret@127.0.0.1/v1";
    let with_password = ["serve", "model", "--model", "tiny", "--base-url", url];
    let output = check(&with_password, 2, &["base URL has credentials"]);
    assert!(!output.contains("s3cret"), "{output}");
}
