//! Extensions.

use a2a_types::AgentExtension;
use serde_json::{Value, json};

use super::capabilities::requiring;
use super::{HTTP_BINDINGS, HttpBinding, put, say, with};
use crate::rules::scripted_agent::{ServedAgent, card, serve, serve_card};

/// The extensions that an answer names as active, and whether it is good.
async fn active(served: &ServedAgent, binding: HttpBinding, wanted: &str) -> (String, bool) {
    let (verb, path, body) = put(binding, "SendMessage", say("echo x"));
    let headers = [("a2a-version", "1.0"), ("a2a-extensions", wanted)];
    let answer = served.http(verb, &path, &headers, body.as_ref()).await;
    let good = answer.status == 200 && answer.body["error"].is_null();
    (answer.header("a2a-extensions").to_owned(), good)
}

/// Extensions are opted into by a header; unknown ones are ignored, another version is another extension, and
/// active ones are named. §4.6.3.
#[tokio::test]
async fn extensions_are_opted_into() {
    let offered = ["urn:one", "urn:two/v1"].map(|uri| AgentExtension {
        uri: uri.to_owned(),
        ..AgentExtension::default()
    });
    let mut offering = card();
    offering.capabilities.extensions = offered.into();
    let offering = serve_card(offering).await;
    let demanding = serve_card(requiring("urn:must/v1")).await;
    for binding in HTTP_BINDINGS {
        for (wanted, named) in [
            ("", ""),
            ("urn:one", "urn:one"),
            ("urn:unknown, urn:one,urn:two/v1", "urn:one, urn:two/v1"),
            ("urn:unknown", ""),
            // Another version is another extension.
            ("urn:two/v2", ""),
        ] {
            let expected = (named.to_owned(), true);
            assert_eq!(
                active(&offering, binding, wanted).await,
                expected,
                "{binding:?} {wanted}"
            );
        }
        for (wanted, named, served) in [
            ("urn:must/v1", "urn:must/v1", true),
            ("urn:must/v2", "", false),
            ("", "", false),
        ] {
            let expected = (named.to_owned(), served);
            assert_eq!(
                active(&demanding, binding, wanted).await,
                expected,
                "{binding:?} {wanted}"
            );
        }
    }
}

/// Extensions speak in metadata and are named in their list; they add no members. Topic page Extensions.
#[tokio::test]
async fn extensions_speak_in_metadata() {
    for binding in HTTP_BINDINGS {
        let served = serve().await;
        let (metadata, extensions) = (json!({"urn:one": {"urgent": [true]}}), json!(["urn:one"]));
        let extended = json!({"metadata": metadata, "extensions": extensions, "urgent": true});
        let sent = served
            .ask(binding, "SendMessage", with(say("extend x"), extended))
            .await
            .unwrap();
        let objects = [&sent["task"]["artifacts"][0], &sent["task"]["history"][0]];
        for object in objects {
            let said = (&object["metadata"], &object["extensions"]);
            assert_eq!(said, (&metadata, &extensions), "{binding:?}: {object}");
            assert_eq!(object["urgent"], Value::Null, "{binding:?}: no new members");
        }
    }
}
