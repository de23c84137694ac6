//! Requirements of the command-line specification that no other test covers, each with an agent that behaves as it
//! needs.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, a2a, ask, check, http_get, lines, text};

/// Returns a card with these interfaces; `capabilities` and `more` are merged into it.
fn card(interfaces: Value, capabilities: Value, more: Value) -> Value {
    let mut card = json!({"name": "n", "description": "d", "version": "1", "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [], "capabilities": capabilities,
        "supportedInterfaces": interfaces});
    for (name, value) in more.as_object().unwrap() {
        card[name] = value.clone();
    }
    card
}

fn interface(url: &str, binding: &str) -> Value {
    json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"})
}

fn task(state: &str) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": state}})
}

fn message(text: &str) -> Value {
    json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]})
}

/// Returns an agent by JSON-RPC with this card that answers calls as given.
fn agent(
    capabilities: Value,
    more: Value,
    answer: impl Fn(&Value) -> Value + Send + 'static,
) -> ScriptedAgent {
    ScriptedAgent::new(move |url, call| match call["method"].as_str() {
        Some(_) => answer(call),
        None => card(
            json!([interface(url, "JSONRPC")]),
            capabilities.clone(),
            more.clone(),
        ),
    })
}

/// Returns what follows a label in the output.
fn field<'o>(output: &'o str, label: &str) -> &'o str {
    let label = format!("{label}: ");
    let found = output.lines().find_map(|line| line.strip_prefix(&*label));
    found.unwrap_or_else(|| panic!("no field {label} in {output}"))
}

#[test]
fn a_card_is_found_by_host_url_and_file() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("card.json");
    let document = lines(&["card", "get", &agent.url, "-o", "json"], "").remove(0);
    std::fs::write(&file, document.to_string()).unwrap();
    let host = agent
        .url
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let well_known = format!("{}.well-known/agent-card.json", agent.url);
    let path = file.to_str().unwrap();
    let url = format!("file://{path}");
    for reference in [host, &agent.url, &well_known, path, &url] {
        check(&["card", "get", "-a", reference], 0, &["Name: Echo"]);
        check(&["send", "-a", reference, "hello"], 0, &["  hello"]);
    }
}

#[test]
fn a_card_is_validated_on_request() {
    let valid = Agent::named("echo");
    check(
        &["card", "get", &valid.url, "--validate"],
        0,
        &["the card is valid"],
    );
    let agent = agent(json!({}), json!({"version": null}), |_| json!({}));
    check(&["card", "get", &agent.url], 0, &["Name: n"]);
    let expected = ["A2ACLI_ERR_CARD_INVALID", "$.version"];
    check(&["card", "get", &agent.url, "--validate"], 1, &expected);
}

/// Identifiers are the server's: the tool sends only the ones that it was given.
#[test]
fn an_interaction_is_continued_by_what_the_caller_names() {
    let agent = agent(
        json!({}),
        json!({}),
        |_| json!({"result": {"task": task("TASK_STATE_INPUT_REQUIRED")}}),
    );
    let url = &*agent.url;
    let sent = |options: &[&str]| {
        agent.requests();
        let output = check(&[&["send", url, "hi"], options].concat(), 0, &[]);
        let call = agent.requests().pop().unwrap().body;
        (output, call["params"]["message"].clone())
    };
    let (output, begun) = sent(&[]);
    assert_eq!(
        (field(&output, "Task"), field(&output, "Context")),
        ("t", "c")
    );
    assert_eq!(
        (&begun["taskId"], &begun["contextId"]),
        (&Value::Null, &Value::Null)
    );
    let (_, in_context) = sent(&["--context-id", "c"]);
    assert_eq!(
        (&in_context["taskId"], &in_context["contextId"]),
        (&Value::Null, &json!("c"))
    );
    let (_, in_task) = sent(&["--task-id", "t"]);
    assert_eq!(
        (&in_task["taskId"], &in_task["contextId"]),
        (&json!("t"), &Value::Null)
    );
    let (_, in_both) = sent(&["--task-id", "t", "--context-id", "c"]);
    assert_eq!(
        (&in_both["taskId"], &in_both["contextId"]),
        (&json!("t"), &json!("c"))
    );
    check(&["send", url, "hi", "--continue"], 2, &["--continue"]);
}

#[test]
fn a_task_that_is_refused_is_tried_once() {
    let agent = agent(
        json!({}),
        json!({}),
        |_| json!({"error": {"code": -32001, "message": "Task not found"}}),
    );
    let expected = ["TaskNotFoundError", "--debug"];
    check(
        &["send", &agent.url, "hi", "--task-id", "gone"],
        1,
        &expected,
    );
    assert_eq!(agent.requests().len(), 2, "the card, and one message");
}

/// The command that is printed for going on works as it stands.
#[test]
fn the_next_command_is_printed() {
    let agent = Agent::named("joke");
    let output = check(
        &["send", "-a", &agent.url, "a joke"],
        0,
        &["State: INPUT_REQUIRED"],
    );
    let next = field(&output, "Next").replace("<reply>", "chickens");
    let words: Vec<_> = next.split(' ').map(|word| word.trim_matches('"')).collect();
    assert_eq!(words[..2], ["a2a", "send"]);
    check(&words[1..], 0, &["State: COMPLETED", "cross the road"]);
}

#[test]
fn a_stream_is_not_begun_where_the_card_denies_it() {
    let agent = agent(json!({"streaming": false}), json!({}), |call| {
        assert_eq!(call["method"], "SendMessage");
        json!({"result": {"message": message("whole")}})
    });
    let url = &*agent.url;
    check(
        &["send", url, "hi", "--stream"],
        0,
        &["does not stream", "  whole"],
    );
    agent.requests();
    check(
        &["task", "subscribe", url, "t"],
        1,
        &["UnsupportedOperationError"],
    );
    let push = ["task", "push-config", "list", url, "t"];
    check(&push, 1, &["PushNotificationNotSupportedError"]);
    check(
        &["card", "get", url, "--extended"],
        1,
        &["UnsupportedOperationError"],
    );
    assert_eq!(agent.requests().len(), 3, "three cards, and no call");
}

/// With `--stream -o json` each line is one object, and an error is the last of them.
#[test]
fn a_stream_is_json_lines_and_ends_with_its_error() {
    let agent = agent(
        json!({"streaming": true}),
        json!({}),
        |call| match call["params"]["message"]["parts"][0]["text"].as_str() {
            Some("good") => json!({"events": [
                {"task": task("TASK_STATE_WORKING")},
                {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}},
            ]}),
            _ => json!({"error": {"code": -32004, "message": "This operation is not supported"}}),
        },
    );
    let send = |word: &str| lines(&["send", &agent.url, word, "--stream", "-o", "json"], "");
    let good = send("good");
    assert!(good.len() >= 2, "{good:?}");
    assert_eq!(good[0]["task"]["id"], "t");
    let last = good.last().unwrap();
    assert!(last.to_string().contains("TASK_STATE_COMPLETED"), "{last}");
    let bad = send("bad");
    assert_eq!(
        bad.last().unwrap()["error"]["code"],
        "UnsupportedOperationError"
    );
}

/// A stream that ends early does not end the wait: the task is looked at until it has ended.
#[test]
fn a_broken_stream_is_made_up_for_by_polling() {
    let looks = AtomicU32::new(0);
    let agent = agent(
        json!({"streaming": true}),
        json!({}),
        move |call| match call["method"].as_str().unwrap() {
            "SendStreamingMessage" => json!({"events": [{"task": task("TASK_STATE_WORKING")}]}),
            "GetTask" if looks.fetch_add(1, Ordering::Relaxed) > 0 => {
                json!({"result": task("TASK_STATE_COMPLETED")})
            }
            "GetTask" => json!({"result": task("TASK_STATE_WORKING")}),
            _ => json!({"error": {"code": -32004, "message": "This operation is not supported"}}),
        },
    );
    let output = check(
        &["send", &agent.url, "hi", "--stream"],
        0,
        &["State: COMPLETED"],
    );
    assert!(!output.contains("error"), "{output}");
    let methods: Vec<_> = agent.requests();
    let sent = methods
        .iter()
        .filter(|request| request.body["method"] == "SendStreamingMessage");
    assert_eq!(sent.count(), 1, "the message is not sent again");
}

/// The same error has the same name by each binding.
#[test]
fn errors_have_the_protocols_names_by_each_binding() {
    let agent = Agent::named("reference");
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let transport = ["--transport", binding];
        check(
            &[&["send", &agent.url, "echo hello"], &transport[..]].concat(),
            0,
            &["  hello"],
        );
        let get = ["task", "get", &agent.url, "nothing", "-o", "json"];
        let error = lines(&[&get[..], &transport].concat(), "").remove(0)["error"].take();
        assert_eq!(error["code"], "TaskNotFoundError", "{binding}");
        assert!(error["hint"].is_string(), "{error}");
    }
}

#[test]
fn interfaces_are_used_in_the_order_of_the_card_with_their_tenant() {
    let agent = ScriptedAgent::new(|url, call| match call["method"].as_str() {
        Some(_) => json!({"result": {"message": message("by JSON-RPC")}}),
        None if call["message"].is_object() => json!({"message": message("by HTTP+JSON")}),
        None => {
            let mut rest = interface(&format!("{url}rest"), "HTTP+JSON");
            rest["tenant"] = json!("acme");
            let unknown = interface(&format!("{url}x"), "CARRIER-PIGEON");
            card(
                json!([unknown, rest, interface(url, "JSONRPC")]),
                json!({}),
                json!({}),
            )
        }
    });
    let url = &*agent.url;
    check(&["send", url, "hi"], 0, &["by HTTP+JSON"]);
    let call = agent.requests().pop().unwrap();
    assert!(
        call.head.contains("acme") || call.body["tenant"] == "acme",
        "{}",
        call.head
    );
    let preferred = ["--transport", "GRPC-WEB"];
    check(
        &[&["send", url, "hi"], &preferred[..]].concat(),
        2,
        &["expected JSONRPC"],
    );
    let preferred = ["--transport", "JSONRPC", "--transport", "HTTP+JSON"];
    check(
        &[&["send", url, "hi"], &preferred[..]].concat(),
        0,
        &["by JSON-RPC"],
    );
    let call = agent.requests().pop().unwrap();
    assert!(call.body["params"].get("tenant").is_none(), "{}", call.body);
    assert!(
        call.head.to_lowercase().contains("a2a-version: 1.0"),
        "{}",
        call.head
    );
}

#[test]
fn an_agent_is_called_by_grpc() {
    let agent = Agent::named("reference");
    let services = [
        ("1.0", "lf.a2a.v1.A2AService"),
        ("0.3", "a2a.v1.A2AService"),
    ];
    for (version, service) in services {
        let options = ["--transport", "GRPC", "--a2a-version", version, "--debug"];
        let send = |text: &'static str, more: &[&'static str]| {
            [&["send", &*agent.url, text], &options[..], more]
                .concat()
                .join("\n")
        };
        let run = |arguments: String, code: i32, expected: &[&str]| {
            check(&arguments.split('\n').collect::<Vec<_>>(), code, expected)
        };
        let output = run(send("echo hello", &[]), 0, &["State: COMPLETED", "hello"]);
        assert!(output.contains("Task: "), "{output}");
        run(send("chunks a b", &["--stream"]), 0, &["COMPLETED"]);
        let task = [
            &["task", "get", "nope", "--agent-card", &agent.url],
            &options[..],
        ]
        .concat();
        check(
            &task,
            1,
            &[&format!("/{service}/GetTask"), "Task not found"],
        );
    }
}

#[test]
fn debug_shows_messages_of_grpc_as_json() {
    let agent = Agent::named("reference");
    let options = ["--transport", "GRPC", "--debug"];
    let debug = |arguments: &[&str], code: i32, expected: &[&str]| {
        check(&[arguments, &options[..]].concat(), code, expected)
    };
    let sent = r#"> {"message":{"messageId":"#;
    let answer = r#"< {"task":{"id":"#;
    let status = ["< grpc-status: 0", "< (OK)"];
    let expected = [&[sent, answer][..], &status].concat();
    debug(&["send", &agent.url, "echo hello"], 0, &expected);
    let chunks = ["send", &*agent.url, "chunks a b", "--stream"];
    debug(&chunks, 0, &[sent, r#"< {"artifactUpdate":"#]);
    let expected = [
        r#"> {"id":"nope"}"#,
        "< grpc-status: 5",
        "< (NOT_FOUND: Task not found)",
        r#""reason":"TASK_NOT_FOUND""#,
    ];
    let get = ["task", "get", "nope", "--agent-card", &agent.url];
    debug(&get, 1, &expected);
}

#[test]
fn defaults_and_dangers_are_in_the_help() {
    let help = check(
        &["--help"],
        0,
        &["Defaults, and the options that change them"],
    );
    for default in [
        "--transport",
        "--a2a-version",
        "--async",
        "--output",
        "--verbose",
        "--insecure",
    ] {
        assert!(help.contains(default), "{default}");
    }
    let help = check(&["send", "--help"], 0, &["[default: 2s]"]);
    let help: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for credential in ["A2ACLI_BEARER is safer", "A2ACLI_API_KEY is safer"] {
        assert!(help.contains(credential), "{help}");
    }
    let parameter = help.split("--svc-param").nth(1).unwrap();
    assert!(
        !parameter
            .split("--extension")
            .next()
            .unwrap()
            .contains("uthenticat"),
        "{parameter}"
    );
    check(&["help"], 0, &["Usage: a2a"]);
    check(&["help", "send"], 0, &["Usage: a2a send"]);
    check(&["-v"], 0, &["a2a 0."]);
    for shell in ["bash", "zsh", "fish"] {
        check(&["completion", shell], 0, &["a2a"]);
    }
}

/// One skill, which leaves the commands to the program's help.
#[test]
fn there_is_one_short_skill() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/skill");
    let files = std::fs::read_dir(directory).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.iter().filter(|name| *name == "SKILL.md").count(), 1);
    let skill = std::fs::read_to_string(format!("{directory}/SKILL.md")).unwrap();
    assert!(
        skill.split_whitespace().count() < 400,
        "it costs tokens whenever it is read"
    );
    assert!(skill.contains("a2a help") && skill.contains("--help"));
    for normative in ["MUST", "SHALL", "A2ACLI_SEND"] {
        assert!(!skill.contains(normative), "{normative}");
    }
}

#[test]
fn tasks_are_listed_in_pages_by_state_and_context() {
    let agent = Agent::named("reference");
    let url = &*agent.url;
    let first = check(&["send", url, "echo 1"], 0, &[]);
    check(&["send", url, "echo 2"], 0, &[]);
    check(&["send", url, "fail 3"], 0, &[]);
    let list = |options: &[&str]| {
        lines(
            &[&["task", "list", url, "-o", "json"], options].concat(),
            "",
        )
        .remove(0)
    };
    let page = list(&["--page-size", "2"]);
    assert_eq!(page["tasks"].as_array().unwrap().len(), 2);
    let token = page["nextPageToken"].as_str().unwrap();
    let rest = list(&["--page-size", "2", "--page-token", token]);
    assert_eq!(rest["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(
        list(&["--status", "failed"])["tasks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let of_context = list(&["--context-id", field(&first, "Context")]);
    assert_eq!(of_context["tasks"][0]["id"], field(&first, "Task"));
    assert_eq!(of_context["tasks"].as_array().unwrap().len(), 1);
}

/// A subscription begins with the whole task, and no other call is made for it.
#[test]
fn a_subscription_begins_with_the_task() {
    let agent = agent(json!({"streaming": true}), json!({}), |call| {
        assert_eq!(call["method"], "SubscribeToTask");
        json!({"events": [
            {"task": task("TASK_STATE_WORKING")},
            {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}},
        ]})
    });
    let subscribe = [
        "task",
        "subscribe",
        &agent.url,
        "t",
        "--stream",
        "-o",
        "json",
    ];
    let events = lines(&subscribe, "");
    assert_eq!(events[0]["task"]["id"], "t");
    assert_eq!(
        events[1]["statusUpdate"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    assert_eq!(agent.requests().len(), 2, "the card and the subscription");
}

/// The task that waits for the user's consent goes on where it was, by a subscription or by a message.
#[test]
fn a_task_that_waits_for_authentication_goes_on() {
    let agent = agent(json!({"streaming": true}), json!({}), |call| {
        let update = |state: &str| {
            json!({"statusUpdate": {"taskId": "t", "contextId": "c",
                "status": {"state": state, "message": message("log in at https://login.example")}}})
        };
        match call["method"].as_str().unwrap() {
            "SubscribeToTask" => json!({"events": [{"task": task("TASK_STATE_AUTH_REQUIRED")},
                update("TASK_STATE_WORKING"), update("TASK_STATE_COMPLETED")]}),
            _ if call["params"]["message"]["taskId"] == "t" => {
                json!({"result": {"task": task("TASK_STATE_COMPLETED")}})
            }
            _ => {
                let mut waiting = task("TASK_STATE_AUTH_REQUIRED");
                waiting["status"]["message"] = message("log in at https://login.example");
                json!({"result": {"task": waiting}})
            }
        }
    });
    let send = ["send", "-a", &agent.url, "buy it"];
    let expected = [
        "State: AUTH_REQUIRED",
        "  log in at https://login.example",
        "warning: the task is AUTH_REQUIRED",
        "follow the task: a2a task subscribe --agent-card",
    ];
    let output = check(&send, 0, &expected);
    let next = field(&output, "Next").replace("<reply>", "done");
    let words: Vec<_> = next.split(' ').map(|word| word.trim_matches('"')).collect();
    check(&words[1..], 0, &["State: COMPLETED"]);
    check(
        &["task", "subscribe", "-a", &agent.url, "t"],
        0,
        &["State: COMPLETED"],
    );
}

/// The extended card is fetched with a credential only if the public card names a scheme for it; a card never is.
#[test]
fn a_card_is_fetched_with_credentials_only_for_a_declared_scheme() {
    let key = json!({"httpAuthSecurityScheme": {"scheme": "bearer"}});
    let declared =
        json!({"securitySchemes": {"k": key}, "securityRequirements": [{"schemes": {"k": {}}}]});
    for (more, is_sent) in [(declared, true), (json!({}), false)] {
        let agent = agent(json!({"extendedAgentCard": true}), more, |_| {
            let interfaces = json!([interface("http://127.0.0.1:1/", "JSONRPC")]);
            json!({"result": card(interfaces, json!({}), json!({"name": "extended"}))})
        });
        let output = a2a()
            .args(["card", "get", &agent.url, "--extended"])
            .env("A2ACLI_BEARER", "s3cret")
            .output()
            .unwrap();
        let output = text(&output.stdout) + &text(&output.stderr);
        assert!(output.contains("Name: extended"), "{output}");
        let requests = agent.requests();
        let has_token = |head: &str| head.to_lowercase().contains("authorization: bearer s3cret");
        assert!(!has_token(&requests[0].head), "the public card");
        assert_eq!(
            has_token(&requests[1].head),
            is_sent,
            "{}",
            requests[1].head
        );
    }
}

/// Some platforms show the card to authenticated callers only.
#[test]
fn a_card_that_needs_credentials_gets_them_on_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let document = card(json!([interface(&url, "JSONRPC")]), json!({}), json!({})).to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
            let head = head.to_lowercase();
            let is_known =
                head.contains("authorization: bearer s3cret") && head.contains("x-team: a");
            let (status, body) = match is_known {
                true => ("200 OK", &*document),
                false => ("401 Unauthorized", "{}"),
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
            );
            let response = format!("{head}content-length: {length}\r\n\r\n{body}");
            let _ = stream.get_mut().write_all(response.as_bytes());
        }
    });
    let get = [
        "card",
        "get",
        &url,
        "--bearer",
        "s3cret",
        "--svc-param",
        "x-team: a",
    ];
    check(
        &get,
        3,
        &["A2ACLI_ERR_CARD_NOT_FOUND", "--card-credentials"],
    );
    check(
        &[&get[..], &["--card-credentials"]].concat(),
        0,
        &["Name: n"],
    );
    let sent = ["card", "get", &url, "--card-credentials"];
    let wrong = [&sent[..], &["--bearer", "wrong"]].concat();
    check(&wrong, 4, &["A2ACLI_ERR_AUTH_FAILED", "did not accept"]);
    // Its place is on the card.
    let key = [&sent[..], &["--api-key", "k"]].concat();
    check(&key, 2, &["before the card is read"]);
}

#[test]
fn extensions_are_declared() {
    let required = json!([{"uri": "https://example.com/x", "required": true}]);
    let agent = agent(
        json!({"extensions": required}),
        json!({}),
        |_| json!({"result": {"message": message("hello")}}),
    );
    let extension = ["--extension", "https://example.com/x"];
    check(
        &[&["send", &agent.url, "hi"], &extension[..]].concat(),
        0,
        &["  hello"],
    );
    let call = agent.requests().pop().unwrap().head.to_lowercase();
    assert!(
        call.contains("a2a-extensions: https://example.com/x"),
        "{call}"
    );
}

#[test]
fn manual_pages_are_written_for_all_commands() {
    let directory = TempDir::new().unwrap();
    let pages = directory.path().join("man1");
    check(&["man", pages.to_str().unwrap()], 0, &[]);
    for page in [
        "a2a.1",
        "a2a-send.1",
        "a2a-task-list.1",
        "a2a-gateway.1",
        "a2a-card-sign.1",
    ] {
        let page = std::fs::read_to_string(pages.join(page)).expect(page);
        assert!(
            page.contains(".SH NAME") && page.contains("OPTIONS"),
            "{page}"
        );
    }
}

#[test]
fn the_demo_server_serves() {
    let agent = Agent::demo();
    check(
        &["send", &agent.url, "a joke"],
        0,
        &["State: INPUT_REQUIRED"],
    );
}

#[cfg(feature = "conformance")]
#[test]
fn an_agent_is_checked() {
    let broken = agent(json!({}), json!({}), |_| json!({"result": {"nothing": 1}}));
    let run = check(&["conformance", &broken.url], 1, &["Failed: ", "Result: "]);
    assert!(run.contains("a2a-conformance"), "{run}");
    let own = Agent::named("echo");
    let run = check(&["conformance", &own.url], 0, &["Passed: ", "Result: "]);
    assert!(!run.contains("Failed: "), "{run}");
}

#[cfg(feature = "conformance")]
#[test]
fn an_agent_that_wants_credentials_is_checked_with_them() {
    let files = TempDir::new().unwrap();
    let keys = files.path().join("keys");
    std::fs::write(&keys, "a-key-of-the-test-0123456789 ann\n").unwrap();
    let keys = keys.to_str().unwrap();
    let closed = Agent::begin(&["echo", "--address", "127.0.0.1:0", "--api-key-file", keys]);
    let key = ["--api-key", "a-key-of-the-test-0123456789"];
    let arguments = ["conformance", &closed.url];
    let run = check(&[&arguments[..], &key].concat(), 0, &["Passed: "]);
    let passed = |run: &str| run.matches("Passed: ").count();
    let without = text(&ask(&arguments, "").stdout);
    assert!(passed(&without) < passed(&run), "{without}\n{run}");
}

/// Each code of the registry is provoked.
#[test]
fn every_error_code_is_emitted() {
    let keys = TempDir::new().unwrap();
    let file = keys.path().join("keys");
    std::fs::write(&file, "a-key-of-the-test-0123456789 ann\n").unwrap();
    let closed = Agent::begin(&[
        "echo",
        "--address",
        "127.0.0.1:0",
        "--api-key-file",
        file.to_str().unwrap(),
    ]);
    let reference = Agent::named("reference");
    let invalid = ScriptedAgent::new(|_, _| json!({"hello": 1}));
    let missing = format!("{}nothing.json", closed.url);
    for (arguments, code) in [
        (&["send"][..], "USAGE"),
        (&["card", "get", &missing], "CARD_NOT_FOUND"),
        (&["card", "get", &invalid.url], "CARD_INVALID"),
        (&["card", "get", "http://127.0.0.1:1"], "UNREACHABLE"),
        (&["send", &closed.url, "hi"], "CREDENTIALS_MISSING"),
        (
            &["send", &closed.url, "hi", "--api-key", "wrong"],
            "AUTH_FAILED",
        ),
        (
            &["send", &reference.url, "wait", "--timeout", "1s"],
            "TIMEOUT",
        ),
        (&["webhook", "listen", "192.0.2.1:1"], "INTERNAL"),
    ] {
        let error = lines(&[arguments, &["-o", "json"]].concat(), "").remove(0);
        assert_eq!(
            error["error"]["code"],
            format!("A2ACLI_ERR_{code}"),
            "{arguments:?}"
        );
    }
}

/// An error on the command line names its place and the expected value.
#[test]
fn command_line_errors_name_place_and_expected_value() {
    let page = ScriptedAgent::html("<title>Sign in</title>");
    let files = TempDir::new().unwrap();
    let file = files.path().join("not.pem");
    std::fs::write(&file, "root:x:0").unwrap();
    let file = file.to_str().unwrap();
    let send = ["send", &page.url, "hi", "--no-card", "--a2a-version", "1.0"];
    for (arguments, code, expected) in [
        (
            &["card", "get", &page.url][..],
            1,
            &["text/html", "Sign in", "is not an agent"][..],
        ),
        (&send, 1, &["text/html", "Sign in", "is not an agent"]),
        (
            &["card", "get", "http://127.0.0.1:99999"],
            2,
            &["expected a port from 0 to 65535"],
        ),
        (&["card", "get", "http://"], 2, &["cannot call `http://`"]),
        (
            &["card", "get", &page.url, "--ca", file],
            2,
            &["--ca", file, "PEM"],
        ),
        (
            &["card", "get", &page.url, "--timeout", "0"],
            2,
            &["--timeout", "more than no time"],
        ),
    ] {
        check(arguments, code, expected);
    }
    // A server refuses a body that is too large while it is still sent.
    let agent = Agent::named("echo");
    let large = files.path().join("large.bin");
    std::fs::write(&large, vec![0; 20 << 20]).unwrap();
    let expected = [
        "the body is larger than 4194304 bytes",
        "InvalidRequestError",
    ];
    check(
        &["send", &agent.url, "hi", "--file", large.to_str().unwrap()],
        1,
        &expected,
    );
    // A variable that is empty is not set.
    let output = a2a()
        .args(["send", &agent.url, "hi"])
        .env("A2ACLI_API_KEY", "")
        .output();
    assert!(output.unwrap().status.success());
}

/// A proxy passes on the name that callers used, which --public-url allows.
#[test]
fn a_server_behind_a_proxy_answers_by_its_public_name() {
    let public = "https://agent.example/joke/";
    let agent = Agent::begin(&["joke", "--address", "127.0.0.1:0", "--public-url", public]);
    let address = agent.url.split('/').nth(2).unwrap();
    let get = |host: &str| http_get(address, host, "/.well-known/agent-card.json");
    let card = get("agent.example");
    assert!(
        card.starts_with("HTTP/1.1 200") && card.contains(public),
        "{card}"
    );
    assert!(get("other.example").starts_with("HTTP/1.1 403"));
}
