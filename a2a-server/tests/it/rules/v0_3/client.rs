//! Operations, versions and deliveries of the client.

use a2a_client::{Client, ProtocolVersion};
use serde_json::{Value, json};

use crate::rules::recording_agent::{RecordingAgent, ScriptedAnswer, ask_everything, client_of};
use crate::rules::scripted_agent::serve;
use crate::rules::wire::{code, unused_address};

fn card(url: &str, transport: &str, additional: Value) -> Value {
    json!({
        "name": "n", "description": "d", "version": "1", "protocolVersion": "0.3.0",
        "capabilities": {}, "skills": [], "defaultInputModes": [], "defaultOutputModes": [],
        "url": url, "preferredTransport": transport, "additionalInterfaces": additional,
    })
}

/// The card names the transport at its URL; no URL has two; the client uses the URL of the transport. §5.6.1,
/// §5.6.3, §5.6.4.
#[tokio::test]
async fn the_client_uses_the_url_of_the_transport() {
    for (preferred, expected) in [
        ("JSONRPC", "/main"),
        ("HTTP+JSON", "/main/v1/message:send"),
        // We do not speak it, so the next interface is used.
        ("SLIMRPC", "/other/v1/message:send"),
    ] {
        let recorder = RecordingAgent::with_card(move |host| {
            let at = |path: &str| format!("http://{host}{path}");
            let other = json!([{"url": at("/other"), "transport": "HTTP+JSON"}]);
            card(&at("/main"), preferred, other)
        });
        let recorder = recorder.await;
        drop(client_of(&recorder).await.send("x").await);
        let asked = recorder.asked();
        let places: Vec<_> = asked.iter().map(|asked| &*asked.path).collect();
        assert_eq!(places, [expected], "{preferred}");
    }
}

/// Transports are not negotiated; a client should fall back to another one of the card. §3.4.2.
#[tokio::test]
async fn the_client_falls_back_to_another_transport() {
    let unused = unused_address();
    let recorder = RecordingAgent::with_card(move |host| {
        let other = json!([{"url": format!("http://{host}/other"), "transport": "HTTP+JSON"}]);
        card(&format!("http://{unused}/"), "JSONRPC", other)
    });
    let recorder = recorder.await;
    drop(client_of(&recorder).await.send("x").await);
    let asked = recorder.asked();
    let places: Vec<_> = asked.iter().map(|asked| &*asked.path).collect();
    assert_eq!(places, ["/other/v1/message:send"]);
}

/// Methods are named by category and action; methods of extensions have a name space. §3.5.5.
#[tokio::test]
async fn methods_are_categories_and_actions() {
    let recorder = RecordingAgent::new(|_| ScriptedAnswer::nothing()).await;
    ask_everything(&Client::at(&recorder.url(), ProtocolVersion::V0_3).unwrap()).await;
    let asked = recorder.asked();
    // A refused subscription is followed by a look at the task.
    assert_eq!(asked.len(), 12);
    for asked in asked {
        let method = asked.body["method"].as_str().unwrap();
        let words: Vec<_> = method.split('/').collect();
        let is_word = |word: &&str| {
            word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.chars().all(|letter| letter.is_ascii_alphabetic())
        };
        assert!(words.len() >= 2 && words.iter().all(is_word), "{method}");
    }
    // A method of an extension is in a name space of its own, and not ours.
    let extension = serve()
        .await
        .rpc("example.com/search/find", json!({}))
        .await;
    assert_eq!(code(extension), -32601);
}
