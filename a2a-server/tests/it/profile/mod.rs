//! The profile of trpc-agent-go at the agent's end: callers that declared it get steps as its document
//! shows them, other clients of the framework get the form that it keeps whole, and all other callers get
//! plain A2A.
//!
//! `golden/*.txt` hold what goes over the wire; `A2A_REWRITE=1` rewrites them.

mod claims;
mod hidden_steps;
mod step_agent;
mod wire;

use std::path::Path;

use a2a_server::Server;
use serde_json::json;

use crate::profile::step_agent::{StepAgent, card, plain_card};
use crate::profile::wire::JsonCaller;

/// Every request to the agent, in every reply format, once and as a stream.
#[tokio::test]
async fn every_answer_is_as_its_golden_file_says() {
    let mut failures = Vec::new();
    for command in [
        "tool",
        "parallel",
        "reasoning",
        "two calls",
        "code",
        "whole",
        "ask",
        "reply",
        "note",
        "fail",
    ] {
        let found = in_every_manner(command).await;
        let name = command.replace(' ', "-");
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/it/profile/golden/{name}.txt"));
        if std::env::var_os("A2A_REWRITE").is_some() {
            std::fs::write(&path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            failures.push(format!(
                "{}\nexpected\n{expected}\nfound\n{found}",
                path.display()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

async fn in_every_manner(command: &str) -> String {
    let mut text = String::new();
    for (title, declares, agent, hides, declared) in [
        ("a caller that declared the profile", true, "", false, true),
        ("steps are hidden", true, "", true, true),
        (
            "the card does not declare the profile",
            true,
            "",
            false,
            false,
        ),
        (
            "a client of the framework that declared nothing",
            false,
            "trpc-a2a-go-client/0.1",
            false,
            true,
        ),
        ("anybody else", false, "", false, true),
    ] {
        let card = if declared { card() } else { plain_card() };
        let server = Server::builder(card, StepAgent).merge_chunks(false);
        let server = if hides { server.hide_steps() } else { server };
        let caller = JsonCaller::of(server.build().unwrap()).await;
        let mut message = json!({
            "kind": "message", "messageId": "msg-001", "role": "user", "contextId": "ctx-001",
            "parts": [{"kind": "text", "text": command}],
        });
        if declares {
            message["metadata"] =
                json!({"interaction_spec_version": "0.1", "invocation_id": "inv-001"});
        }
        for method in ["message/send", "message/stream"] {
            let request = json!({
                "jsonrpc": "2.0", "id": "req-001", "method": method, "params": {"message": message},
            });
            message["messageId"] = json!("msg-002");
            let answers = caller.ask(&request, agent).await;
            text.push_str(&format!("# {title}: {method}\n"));
            for answer in wire::with_made_up_things_named(answers) {
                text.push_str(&format!("{answer}\n"));
            }
        }
    }
    text
}

/// The header `User-Agent` alone selects no format.
#[tokio::test]
async fn a_client_of_the_framework_gets_the_profile_only_by_card_or_message() {
    for (declares, names, is_message) in [
        (false, false, false),
        (true, false, true),
        (false, true, true),
        (true, true, true),
    ] {
        let card = if declares { card() } else { plain_card() };
        let caller = JsonCaller::of(Server::builder(card, StepAgent).build().unwrap()).await;
        let text = json!([{"kind": "text", "text": "reasoning"}]);
        let mut older = json!({"kind": "message", "messageId": "m", "role": "user", "parts": text});
        let mut newest =
            json!({"messageId": "n", "role": "ROLE_USER", "parts": [{"text": "reasoning"}]});
        if names {
            for message in [&mut older, &mut newest] {
                message["metadata"] = json!({"interaction_spec_version": "0.1"});
            }
        }
        let client = "trpc-a2a-go-client/0.1";
        let ask = |method, message| {
            let params = json!({"message": message});
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        };
        let answers = caller.ask(&ask("message/send", older), client).await;
        let kind = if is_message { "message" } else { "task" };
        assert_eq!(answers[0]["result"]["kind"], kind, "{}", answers[0]);
        let answers = caller.ask(&ask("SendMessage", newest), client).await;
        assert!(answers[0]["result"][kind].is_object(), "{}", answers[0]);
    }
}

/// Another major version is answered in plain A2A, another minor one as ours.
#[tokio::test]
async fn a_version_that_is_not_understood_gets_plain_answers() {
    let caller = JsonCaller::of(Server::builder(card(), StepAgent).build().unwrap()).await;
    for (version, kind) in [
        ("0.1", "message"),
        ("0.4", "message"),
        ("1.0", "task"),
        ("x", "task"),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
            "kind": "message", "messageId": format!("of {version}"), "role": "user",
            "parts": [{"kind": "text", "text": "reasoning"}],
            "metadata": {"interaction_spec_version": version},
        }}});
        let answer = &caller.ask(&request, "").await[0];
        assert_eq!(answer["result"]["kind"], kind, "{version}: {answer}");
    }
}

/// The profile may be asked for as an extension, too, in either spelling of the header.
#[tokio::test]
async fn an_extension_that_is_wanted_is_active_and_named() {
    let caller = JsonCaller::of(Server::builder(card(), StepAgent).build().unwrap()).await;
    for (id, header, kind) in [
        ("1", "X-A2A-Extensions", "message"),
        ("2", "A2A-Extensions", "message"),
        ("3", "X-Something-Else", "task"),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
            "kind": "message", "messageId": id, "role": "user",
            "parts": [{"kind": "text", "text": "reasoning"}],
        }}});
        let answer = &caller
            .ask_with(&request, &[(header, "urn:x, trpc-a2a-version")])
            .await[0];
        assert_eq!(answer["result"]["kind"], kind, "{header}: {answer}");
    }
}
