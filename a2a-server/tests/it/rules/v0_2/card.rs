//! Offers of an agent, and access to them.

use a2a_client::Client;
use a2a_server::{BoundServer, ServerBuilder};
use a2a_types::{AgentExtension, ProtocolVersion};
use serde_json::{Value, json};

use super::{configured, say, serve, serve_card};
use crate::rules::recording_agent::RecordingAgent;
use crate::rules::scripted_agent::{BearerNames, card, plain_card, serve_with};
use crate::rules::wire::{code, request};

/// A task has several webhooks; who reads one without saying which gets any of them. Schema since 0.2.5.
#[tokio::test]
async fn a_task_has_several_webhooks() {
    let served = serve().await;
    let id = served.send("ask which").await["id"].take();
    for name in ["a", "b"] {
        let config = json!({"id": name, "url": format!("https://{name}.example/"), "token": "t"});
        let given = json!({"taskId": id, "pushNotificationConfig": config});
        let kept = served
            .rpc("tasks/pushNotificationConfig/set", given.clone())
            .await;
        assert_eq!(kept, Ok(given));
    }
    let url = |kept: &Value| {
        kept["pushNotificationConfig"]["url"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let both = ["https://a.example/", "https://b.example/"];
    let listed = served
        .rpc("tasks/pushNotificationConfig/list", json!({"id": id}))
        .await
        .unwrap();
    assert_eq!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(url)
            .collect::<Vec<_>>(),
        both
    );
    let named = json!({"id": id, "pushNotificationConfigId": "b"});
    let read = served
        .rpc("tasks/pushNotificationConfig/get", named.clone())
        .await
        .unwrap();
    assert_eq!(url(&read), both[1]);
    let any = served
        .rpc("tasks/pushNotificationConfig/get", json!({"id": id}))
        .await
        .unwrap();
    assert!(both.contains(&&*url(&any)), "{any}");
    let deleted = served
        .rpc("tasks/pushNotificationConfig/delete", named)
        .await;
    assert_eq!(deleted, Ok(Value::Null));
    let left = served
        .rpc("tasks/pushNotificationConfig/list", json!({"id": id}))
        .await
        .unwrap();
    assert_eq!(
        left.as_array().unwrap().iter().map(url).collect::<Vec<_>>(),
        both[..1]
    );
}

/// A configuration may leave out the accepted modes, which the schema asked for until 0.2.5. Schema.
#[tokio::test]
async fn accepted_modes_may_be_left_out() {
    let served = serve().await;
    let params = configured(say("echo x"), json!({"historyLength": 0}));
    let task = served.rpc("message/send", params).await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
    assert_eq!(
        task.get("history"),
        None,
        "the rest of the configuration counts"
    );
}

/// Extensions are opted into by a header; the agent activates what it knows, names it, ignores the rest, and
/// refuses requests without an extension that it requires. Topic page Extensions.
#[tokio::test]
async fn extensions_are_opted_into() {
    let extension = |uri: &str, required| AgentExtension {
        uri: uri.to_owned(),
        required,
        ..AgentExtension::default()
    };
    let mut offering = card();
    offering.capabilities.extensions =
        vec![extension("urn:one", false), extension("urn:two/v1", false)];
    let mut demanding = card();
    demanding.capabilities.extensions = vec![extension("urn:must/v1", true)];
    let (offering, demanding) = (serve_card(offering).await, serve_card(demanding).await);
    for (served, wanted, active, refused) in [
        (&offering, "", "", false),
        (&offering, "urn:one", "urn:one", false),
        (
            &offering,
            "urn:unknown, urn:one,urn:two/v1",
            "urn:one, urn:two/v1",
            false,
        ),
        (&offering, "urn:two/v2", "", false),
        (&demanding, "urn:must/v1", "urn:must/v1", false),
        (&demanding, "urn:must/v2", "", true),
        (&demanding, "", "", true),
    ] {
        let asked = request("message/send", say("echo x"));
        let answer = served.post(&[("x-a2a-extensions", wanted)], &asked).await;
        assert_eq!(answer.header("x-a2a-extensions"), active, "{wanted}");
        assert_eq!(
            answer.body["error"].is_object(),
            refused,
            "{wanted}: {answer:?}"
        );
    }
    let named = offering.card_at("/.well-known/agent.json").await;
    assert_eq!(named["capabilities"]["extensions"][0]["uri"], "urn:one");
}

/// Callers show who they are, and get what the card promises, as in 0.1. 0.1 §4.4, §5.5.3, §7.2, §7.5.
#[tokio::test]
async fn callers_are_let_in_and_offered_what_the_card_says() {
    let names = |builder: ServerBuilder| builder.authenticator(BearerNames);
    let prefer = |bound: BoundServer| bound.default_version(ProtocolVersion::V0_2);
    let served = serve_with(plain_card(), names, prefer).await;
    let asked = request("message/send", say("echo x"));
    for (headers, status, challenge) in [
        (&[][..], 401, "Bearer realm=\"a2a\""),
        (&[("authorization", "Bearer mallory")], 403, ""),
        (&[("authorization", "Bearer alice")], 200, ""),
    ] {
        let answer = served.post(headers, &asked).await;
        assert_eq!(
            (answer.status, answer.header("www-authenticate")),
            (status, challenge)
        );
    }
    let served = serve_card(plain_card()).await;
    let id = served.send("ask which").await["id"].take();
    let config = json!({"url": "https://a.example/"});
    let set = json!({"taskId": id, "pushNotificationConfig": config});
    let sends = configured(say("echo x"), json!({"pushNotificationConfig": config}));
    let picture = configured(say("echo x"), json!({"acceptedOutputModes": ["image/png"]}));
    for (method, params, expected) in [
        ("tasks/pushNotificationConfig/set", set, -32003),
        (
            "tasks/pushNotificationConfig/get",
            json!({"id": id}),
            -32003,
        ),
        (
            "tasks/pushNotificationConfig/list",
            json!({"id": id}),
            -32003,
        ),
        ("message/send", sends, -32003),
        ("message/stream", say("echo x"), -32004),
        ("tasks/resubscribe", json!({"id": id}), -32004),
        ("message/send", picture, -32005),
    ] {
        assert_eq!(code(served.rpc(method, params).await), expected, "{method}");
    }
}

/// A card is not rejected for the version of the protocol that it names or leaves out. Schema since 0.2.5, samples.
#[tokio::test]
async fn a_card_may_name_any_version_or_none() {
    for version in [Value::Null, json!("0.2.9"), json!("0.2.5")] {
        let in_card = version.clone();
        let recorder = RecordingAgent::with_card(move |host| {
            let mut card = json!({
                "name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
                "defaultInputModes": [], "defaultOutputModes": [], "url": format!("http://{host}/"),
            });
            if !in_card.is_null() {
                card["protocolVersion"] = in_card.clone();
            }
            card
        });
        let recorder = recorder.await;
        drop(
            Client::connect(&recorder.url())
                .await
                .unwrap()
                .send("x")
                .await,
        );
        let asked = recorder.asked();
        assert_eq!(asked[0].body["method"], "message/send", "{version}");
    }
}
