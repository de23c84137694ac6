//! Streams, cards, requests and credentials of the client.

use a2a_client::{Binding, Client, Error, HttpTransport, ProtocolVersion, StreamExt};
use a2a_types::ErrorKind;
use serde_json::{Value, json};

use crate::rules::recording_agent::{
    RecordedRequest, RecordingAgent, ScriptedAnswer, ask_everything, client_of,
};

/// A card that offers these interfaces: binding, version, path and tenant.
fn card(host: &str, interfaces: &[(&str, &str, &str, &str)]) -> Value {
    let interfaces = interfaces.iter().map(|(binding, version, path, tenant)| {
        let url = format!("http://{host}{path}");
        let mut one = json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
        if !tenant.is_empty() {
            one["tenant"] = (*tenant).into();
        }
        one
    });
    json!({
        "name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [],
        "supportedInterfaces": interfaces.collect::<Vec<_>>(),
    })
}

/// A stream may end with the task once more. §11.7.
#[tokio::test]
async fn a_last_snapshot_is_taken() {
    let task =
        |state: &str| json!({"task": {"id": "t", "contextId": "c", "status": {"state": state}}});
    let update =
        json!({"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}});
    let mut last = task("TASK_STATE_COMPLETED");
    last["task"]["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "x"}]}]);
    let events = [
        task("TASK_STATE_WORKING"),
        json!({"statusUpdate": update}),
        last,
    ];
    let recorder = RecordingAgent::new(move |asked| asked.results(&events)).await;
    let client = Client::at(&recorder.url(), ProtocolVersion::V1_0).unwrap();
    let updates: Vec<_> = client.stream("x").await.unwrap().collect().await;
    let names = updates.iter().map(|update| json!(update.as_ref().unwrap()));
    let names: Vec<_> = names
        .map(|event| event.as_object().unwrap().keys().next().unwrap().clone())
        .collect();
    // Only the differences from the known task.
    assert_eq!(names, ["task", "statusUpdate", "artifactUpdate"]);
}

/// All requests that an agent gets with both bindings of 1.0.
async fn all_requests() -> Vec<RecordedRequest> {
    let recorder = RecordingAgent::new(|_| ScriptedAnswer::nothing()).await;
    for binding in [Binding::JsonRpc, Binding::HttpJson] {
        let transport = HttpTransport::new(&recorder.url(), ProtocolVersion::V1_0).unwrap();
        ask_everything(&Client::new(transport.binding(binding))).await;
    }
    recorder.asked()
}

/// A version is major and minor; a patch number should not be sent and does not matter. §3.6.
#[tokio::test]
async fn no_patch_number_is_sent() {
    for asked in all_requests().await {
        assert_eq!(asked.header("a2a-version"), Some("1.0"), "{asked:?}");
    }
}

/// A client names its version in every request, in a header or a parameter. §3.6.1.
#[tokio::test]
async fn every_request_names_its_version() {
    let asked = all_requests().await;
    // A refused subscription is followed by a look at the task.
    assert_eq!(asked.len(), 24);
    assert!(
        asked
            .iter()
            .all(|asked| asked.header("a2a-version").is_some()),
        "{asked:?}"
    );
    let recorder = RecordingAgent::new(|_| ScriptedAnswer::nothing()).await;
    let client = Client::at(&recorder.url(), ProtocolVersion::V0_3).unwrap();
    ask_everything(&client).await;
    let asked = recorder.asked();
    assert_eq!(asked.len(), 12);
    assert!(
        asked
            .iter()
            .all(|asked| asked.header("a2a-version").is_none()),
        "{asked:?}"
    );
}

/// A client should not silently fall back to an older version. §3.6.3.
#[tokio::test]
async fn a_client_does_not_fall_back() {
    let recorder = RecordingAgent::new(|asked: &RecordedRequest| {
        let both = [("JSONRPC", "1.0", "/", ""), ("JSONRPC", "0.3", "/old", "")];
        match asked.path.contains(".well-known") {
            true => ScriptedAnswer::json(card(asked.header("host").unwrap(), &both)),
            false => asked.error(json!({"code": -32009, "message": "not that version"})),
        }
    });
    let recorder = recorder.await;
    let refused = client_of(&recorder).await.send("x").await;
    let kind = match &refused {
        Err(Error::Agent(error)) => Some(error.kind),
        _ => None,
    };
    assert_eq!(kind, Some(ErrorKind::VersionNotSupported), "{refused:?}");
    let asked = recorder.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].path, "/");
}

/// Returns the tenant that a request names.
fn tenant(asked: &RecordedRequest) -> Option<String> {
    let body = [&asked.body["tenant"], &asked.body["params"]["tenant"]];
    let in_body = body.into_iter().find_map(|tenant| tenant.as_str());
    let in_query = asked
        .path
        .split(['?', '&'])
        .find_map(|pair| pair.strip_prefix("tenant="));
    in_body.or(in_query).map(str::to_owned)
}

/// A client repeats the tenant of the interface in every request, as a member, a parameter or the begin of the
/// path. §8.3.2, proto.
#[tokio::test]
async fn every_request_repeats_the_tenant() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        for name in ["acme", ""] {
            let recorder =
                RecordingAgent::with_card(move |host| card(host, &[(binding, "1.0", "/", name)]));
            let recorder = recorder.await;
            ask_everything(&client_of(&recorder).await).await;
            let asked = recorder.asked();
            // A refused subscription is followed by a look at the task.
            assert_eq!(asked.len(), 12, "{binding}");
            let expected = Some(name.to_owned()).filter(|name| !name.is_empty());
            for asked in asked {
                assert_eq!(tenant(&asked), expected, "{binding}: {asked:?}");
            }
        }
    }
}

/// The first interface that the client speaks wins; the card lists all, in order of preference. §8.3.2.
#[tokio::test]
async fn the_first_interface_that_is_spoken_wins() {
    const SLIM: (&str, &str, &str, &str) = ("SLIMRPC", "1.0", "/slim", "");
    const FUTURE: (&str, &str, &str, &str) = ("JSONRPC", "9.0", "/future", "");
    const REST: (&str, &str, &str, &str) = ("HTTP+JSON", "1.0", "/rest", "");
    const RPC: (&str, &str, &str, &str) = ("JSONRPC", "1.0", "/rpc", "");
    const OLD: (&str, &str, &str, &str) = ("JSONRPC", "0.3", "/old", "");
    for (order, expected) in [
        ([SLIM, FUTURE, REST, RPC, OLD], "/rest/message:send"),
        ([SLIM, FUTURE, RPC, REST, OLD], "/rpc"),
        ([OLD, RPC, REST, SLIM, FUTURE], "/old"),
    ] {
        let recorder = RecordingAgent::with_card(move |host| card(host, &order)).await;
        drop(client_of(&recorder).await.send("x").await);
        let asked = recorder.asked();
        let places: Vec<_> = asked
            .iter()
            .map(|asked| (&*asked.verb, &*asked.path))
            .collect();
        assert_eq!(places, [("POST", expected)]);
    }
}
