//! Effects of the operations in both bindings.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::rules::scripted_agent::{
    BearerNames, card, plain_card, serve, serve_card, serve_to_names, serve_with,
};
use crate::rules::v0_2::{configured, say, say_to, state, with};
use crate::rules::wire::{code, request, texts};

/// An agent speaks at least one of three transports of equal rank, which do the same. §3.1, §3.4.1.
#[tokio::test]
async fn the_transports_do_the_same() {
    let served = serve().await;
    for command in ["echo x", "assemble", "ask which", "reject no", "reply hi"] {
        let by_json_rpc = served.send(command).await;
        let by_http_json = served
            .rest("POST", "/v1/message:send", Some(&say(command)))
            .await;
        assert_eq!(by_http_json.status, 200, "{command}");
        assert_eq!(
            said(&by_json_rpc),
            said(unwrapped(&by_http_json.body)),
            "{command}"
        );

        let stream = served.rpc_stream("message/stream", say(command)).await;
        let by_json_rpc = stream.rest().await;
        let stream = served
            .stream("POST", "/v1/message:stream", &[], Some(&say(command)))
            .await;
        let by_http_json = stream.rest().await;
        let by_json_rpc: Vec<_> = by_json_rpc.iter().map(said).collect();
        let by_http_json: Vec<_> = by_http_json
            .iter()
            .map(|event| said(unwrapped(event)))
            .collect();
        assert_eq!(by_json_rpc, by_http_json, "{command}");
    }
    let refused = served.rpc("tasks/get", json!({"id": "unknown"})).await;
    let answer = served.rest("GET", "/v1/tasks/unknown", None).await;
    assert_eq!((code(refused), answer.status), (-32001, 404));
    assert_eq!(answer.body["code"], -32001);
}

/// Returns a task, message or event without the name of its kind, which ProtoJSON puts around it.
fn unwrapped(answer: &Value) -> &Value {
    let names = ["task", "message", "statusUpdate", "artifactUpdate"];
    let inner = names
        .iter()
        .find_map(|name| answer.get(*name).filter(|_| answer.get("kind").is_none()));
    inner.unwrap_or(answer)
}

/// Returns state and texts, in words that both bindings have.
fn said(of: &Value) -> (String, Vec<&str>) {
    let state = state(of)
        .trim_start_matches("TASK_STATE_")
        .to_ascii_lowercase();
    (state.replace('_', "-"), texts(of))
}

/// Sending, reading and canceling are always there, whatever the card promises. §11.1.2.
#[tokio::test]
async fn sending_reading_and_canceling_are_always_there() {
    let served = serve_card(plain_card()).await;
    let asked = served.send("ask which").await;
    let read = served
        .rpc("tasks/get", json!({"id": asked["id"]}))
        .await
        .unwrap();
    assert_eq!(read["id"], asked["id"]);
    let canceled = served
        .rpc("tasks/cancel", json!({"id": asked["id"]}))
        .await
        .unwrap();
    assert_eq!(state(&canceled), "canceled");

    let asked = served
        .rest("POST", "/v1/message:send", Some(&say("ask which")))
        .await
        .body;
    let path = format!("/v1/tasks/{}", unwrapped(&asked)["id"].as_str().unwrap());
    let read = served.rest("GET", &path, None).await;
    assert_eq!(state(&read.body), "TASK_STATE_INPUT_REQUIRED");
    let canceled = served
        .rest("POST", &format!("{path}:cancel"), Some(&json!({})))
        .await;
    assert_eq!(
        (canceled.status, state(&canceled.body)),
        (200, "TASK_STATE_CANCELLED")
    );
}

/// The server names a new task. Schema.
#[tokio::test]
async fn the_server_names_tasks() {
    let served = serve().await;
    let by_json_rpc = served.send("echo x").await["id"].take();
    let by_http_json = served
        .rest("POST", "/v1/message:send", Some(&say("echo x")))
        .await
        .body;
    let by_http_json = unwrapped(&by_http_json)["id"].clone();
    assert!(by_json_rpc.is_string() && by_http_json.is_string() && by_json_rpc != by_http_json);
    let chosen = with(say("echo x"), json!({"taskId": "mine"}));
    let answer = served.rest("POST", "/v1/message:send", Some(&chosen)).await;
    assert_eq!((answer.status, &answer.body["code"]), (404, &json!(-32001)));
    assert_eq!(code(served.rpc("message/send", chosen).await), -32001);
}

/// The extended card: 401 to callers who are not known, an error of its own if there is none. §11.1.3.
#[tokio::test]
async fn the_extended_card_is_for_callers_who_are_known() {
    const METHOD: &str = "agent/getAuthenticatedExtendedCard";
    let mut promising = card();
    promising.capabilities.extended_agent_card = Some(true);
    let longer = a2a_types::AgentCard::new("ScriptedAgent", "The longer card");
    let missing = serve_to_names(promising.clone()).await;
    let build = |builder: a2a_server::ServerBuilder| builder.extended_card(longer.clone());
    let names = |builder: a2a_server::ServerBuilder| build(builder).authenticator(BearerNames);
    let there = serve_with(promising.clone(), names, |bound| bound).await;
    // Without an authenticator no caller is known.
    let open = serve_with(promising, build, |bound| bound).await;
    let asked = request(METHOD, json!({}));
    for (served, who, status, description, code) in [
        (&there, "Bearer alice", 200, "The longer card", 0),
        (&there, "", 401, "", 0),
        (&there, "Bearer mallory", 403, "", 0),
        (&open, "", 401, "", 0),
        (&missing, "Bearer alice", 200, "", -32007),
    ] {
        let headers = [("authorization", who)];
        let by_json_rpc = served.post(&headers, &asked).await;
        let by_http_json = served.get("/v1/card", &headers).await;
        let label = format!("{who} {status}: {by_json_rpc:?} {by_http_json:?}");
        assert_eq!(by_json_rpc.status, status, "{label}");
        let found = by_json_rpc.body["result"]["description"]
            .as_str()
            .unwrap_or_default();
        assert_eq!(found, description, "{label}");
        assert_eq!(
            by_http_json.status,
            if code == 0 { status } else { 400 },
            "{label}"
        );
        for answer in [&by_json_rpc, &by_http_json] {
            assert_eq!(
                answer.header("www-authenticate").is_empty(),
                status != 401,
                "{label}"
            );
        }
        if code != 0 {
            let codes = (
                &by_json_rpc.body["error"]["code"],
                &by_http_json.body["code"],
            );
            assert_eq!(codes, (&json!(code), &json!(code)), "{label}");
        } else if status == 200 {
            assert_eq!(by_http_json.body["description"], description, "{label}");
        }
    }
}

/// In ProtoJSON a history length of 0 cannot be distinguished from none, and so means all. Proto.
#[tokio::test]
async fn a_protojson_history_length_of_0_is_unset() {
    let served = serve().await;
    let asked = served.send("ask which").await;
    let path = format!("/v1/tasks/{}?historyLength=", asked["id"].as_str().unwrap());
    for (length, kept) in [(0, 3), (1, 1)] {
        let mut params = json!({
            "message": {"messageId": format!("m-{length}"), "role": "ROLE_USER", "content": [{"text": "ask more"}]},
            "configuration": {"historyLength": length, "blocking": true},
        });
        let task = served.send("ask which").await;
        params["message"]["taskId"] = task["id"].clone();
        let sent = served
            .rest("POST", "/v1/message:send", Some(&params))
            .await
            .body;
        assert_eq!(
            texts(&sent["task"]["history"]).len(),
            kept,
            "{length}: {sent}"
        );
        let read = served
            .rest("GET", &format!("{path}{length}"), None)
            .await
            .body;
        assert_eq!(texts(&read["history"]), ["ask which"], "{length}: {read}");
    }
    let plain = configured(say_to(&asked, "ask more"), json!({"historyLength": 0}));
    let sent = served
        .rest("POST", "/v1/message:send", Some(&plain))
        .await
        .body;
    assert_eq!(
        texts(&unwrapped(&sent)["history"]),
        [""; 0],
        "the other JSON has no such trouble"
    );
}

/// Tasks are listed by last change, the caller's own only, without artifacts unless asked for, with an empty token
/// at the end. Schema after 0.3.0.
#[tokio::test]
async fn tasks_are_listed() {
    let served = serve_to_names(card()).await;
    let headers = [("authorization", "Bearer alice")];
    let mut ids = Vec::new();
    for _ in 0..3 {
        let answer = served
            .post(&headers, &request("message/send", say("echo x")))
            .await;
        ids.push(answer.body["result"]["id"].clone());
    }
    // The first changes last.
    let asked = served
        .post(&headers, &request("message/send", say("ask which")))
        .await;
    let list = async |by_json_rpc: bool, who: &str, query: Value| {
        let headers = [("authorization", who)];
        match by_json_rpc {
            true => served
                .post(&headers, &request("tasks/list", query))
                .await
                .body["result"]
                .take(),
            false => {
                let query = query.as_object().unwrap().iter();
                let pairs: Vec<_> = query
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let path = format!("/v1/tasks?{}", pairs.join("&").replace('"', ""));
                served.get(&path, &headers).await.body
            }
        }
    };
    ids.push(asked.body["result"]["id"].clone());
    for by_json_rpc in [true, false] {
        let first = list(by_json_rpc, "Bearer alice", json!({"pageSize": 3})).await;
        let tasks = first["tasks"].as_array().unwrap();
        let times = tasks
            .iter()
            .map(|task| task["status"]["timestamp"].as_str().unwrap());
        assert!(
            times
                .collect::<Vec<_>>()
                .is_sorted_by(|one, next| one >= next),
            "{first}"
        );
        assert!(
            tasks.iter().all(|task| task.get("artifacts").is_none()),
            "{first}"
        );
        let token = first["nextPageToken"].clone();
        assert_ne!(token, "", "{first}");
        let next = json!({"pageSize": 3, "pageToken": token});
        let last = list(by_json_rpc, "Bearer alice", next).await;
        assert_eq!(last["nextPageToken"], "", "{last}");
        let both = [&first, &last]
            .into_iter()
            .flat_map(|page| page["tasks"].as_array().unwrap());
        let listed: BTreeSet<_> = both.map(|task| task["id"].as_str().unwrap()).collect();
        assert_eq!(listed, ids.iter().map(|id| id.as_str().unwrap()).collect());
        let whole = list(
            by_json_rpc,
            "Bearer alice",
            json!({"includeArtifacts": true}),
        )
        .await;
        assert_eq!(
            texts(&whole).iter().filter(|text| **text == "x").count(),
            3,
            "{whole}"
        );
        let his = list(by_json_rpc, "Bearer bob", json!({})).await;
        assert_eq!(
            (&his["tasks"], &his["nextPageToken"]),
            (&json!([]), &json!("")),
            "{his}"
        );
    }
}
