//! The profile of trpc-agent-go at the caller's end: what our client makes of agents that speak it,
//! our own and the framework's.
//!
//! The scenes come from `a2a-types`: what our server writes, and what agents of the framework send.
//! Here they come over a socket, in the envelopes and without, under the framework's names of events.

mod fixture;
mod profile_agent;

use a2a_client::{Client, Error, Event, Retries, SendMessageResponse, StreamExt};
use a2a_types::extension::trpc::{LlmResponses, Step, Version};
use a2a_types::{AgentCard, Part, ProtocolVersion, Task};
use serde_json::{Value, json};

use crate::profile::fixture::Fixture;
use crate::profile::profile_agent::{Envelopes, ProfileAgent};

fn card(declared: Option<&str>) -> AgentCard {
    let mut card = AgentCard::new("Weather", "Knows the weather");
    if let Some(version) = declared {
        let params = json!({"version": version}).as_object().cloned();
        let mut extension = Version::CURRENT.extension();
        extension.params = params;
        card.capabilities.extensions = vec![extension];
    }
    card
}

fn client(peer: &ProfileAgent, declared: Option<&str>) -> Client {
    let client = Client::with_card(peer.transport(), card(declared).into());
    client.retries(Retries::none())
}

/// The responses match the golden file of each scene.
#[tokio::test]
async fn every_stream_is_understood_as_its_scene_says() {
    let mut count = 0;
    for scene in Fixture::all() {
        for envelopes in [Envelopes::Sealed, Envelopes::Bare] {
            let peer = ProfileAgent::start(scene.results.clone(), scene.streams, envelopes).await;
            let client = client(&peer, Some("0.1"));
            let found = match scene.streams {
                true => {
                    let mut updates = client.send("What is the weather?").steps().follow();
                    while let Some(event) = updates.next().await {
                        event.unwrap_or_else(|error| panic!("{}: {error}", scene.name));
                    }
                    fixture::shown(updates.llm_responses().unwrap())
                }
                false => {
                    let answer = client.send("What is the weather?").steps().await.unwrap();
                    fixture::shown(&LlmResponses::of_answer(&answer))
                }
            };
            assert_eq!(found, scene.responses, "{} {envelopes:?}", scene.name);
            count += 1;
        }
    }
    assert!(count >= 60, "only {count} plays");
}

fn texts(task: &Task) -> Vec<String> {
    let text = |artifact: &a2a_types::Artifact| {
        let texts = artifact
            .parts
            .iter()
            .filter(|part| Step::of(part).is_none());
        texts.filter_map(Part::as_text).collect()
    };
    task.artifacts.iter().map(text).collect()
}

async fn followed(client: &Client) -> (Vec<Event>, Option<Task>, bool) {
    let mut updates = client.send("What is the weather?").follow();
    let mut events = Vec::new();
    while let Some(event) = updates.next().await {
        events.push(event.unwrap());
    }
    let typed = updates.llm_responses().is_some();
    (events, updates.task().cloned(), typed)
}

/// Chunks that do not say so are appended if the agent declared the profile, in a version that we
/// understand; by the plain rule each takes the place of the one before.
#[tokio::test]
async fn chunks_are_appended_only_for_an_agent_that_declared_the_profile() {
    let scene = Fixture::named("peer-document");
    let whole = ["", "The current temperature is mild."];
    let last = ["", " temperature is mild."];
    for (declared, expected) in [
        (Some("0.1"), whole),
        (Some("0.3"), whole),
        (Some("1.0"), last),
        (Some("soon"), last),
        (None, last),
    ] {
        let peer = ProfileAgent::start(scene.results.clone(), true, Envelopes::Bare).await;
        let (_, task, typed) = followed(&client(&peer, declared)).await;
        assert_eq!(texts(&task.unwrap()), expected, "{declared:?}");
        assert_eq!(typed, expected == whole, "{declared:?}");
    }
}

/// Keep-alive events of the framework are not returned, and the task is the fold of the events that
/// are.
#[tokio::test]
async fn keep_alive_events_are_left_out() {
    let scene = Fixture::named("peer-tool-call");
    let peer = ProfileAgent::start(scene.results.clone(), true, Envelopes::Sealed).await;
    let (events, task, _) = followed(&client(&peer, Some("0.1"))).await;
    // There are ten results: two have no content, one repeats another.
    assert_eq!(events.len(), scene.results.len() - 3, "{events:#?}");
    let task = task.unwrap();
    assert_eq!(texts(&task), ["", "The temperature is mild."]);
    let steps = task.artifacts[0].parts.iter().filter_map(Step::of);
    assert_eq!(steps.count(), 2);
}

#[track_caller]
fn declared(peer: &ProfileAgent) -> Option<Value> {
    let asked = &peer.asked()[0];
    let metadata = &asked.body["params"]["message"]["metadata"];
    metadata.get("interaction_spec_version").cloned()
}

/// The profile is declared to agents that declare it, if the caller wants steps.
#[tokio::test]
async fn steps_are_asked_for() {
    let scene = Fixture::named("answer-reasoning");
    for (card, wants, expected) in [
        (Some("0.1"), true, Some(json!("0.1"))),
        (Some("0.1"), false, None),
        (Some("2.0"), true, None),
        (None, true, None),
    ] {
        let peer = ProfileAgent::start(scene.results.clone(), false, Envelopes::Sealed).await;
        let sending = client(&peer, card).send("hello").user_id("user_12345");
        let sending = if wants { sending.steps() } else { sending };
        sending.await.unwrap();
        assert_eq!(declared(&peer), expected, "{card:?} {wants}");
        assert_eq!(peer.asked()[0].header("x-user-id"), Some("user_12345"));
    }
    let peer = ProfileAgent::start(scene.results, false, Envelopes::Sealed).await;
    client(&peer, None).send("hello").await.unwrap();
    assert_eq!(peer.asked()[0].header("x-user-id"), None);
}

/// A user id that is not a valid header value is left out.
#[tokio::test]
async fn a_user_id_that_is_not_a_header_value_is_left_out() {
    let scene = Fixture::named("answer-reasoning");
    let peer = ProfileAgent::start(scene.results, false, Envelopes::Sealed).await;
    client(&peer, None)
        .send("hello")
        .user_id("a\r\nb: c")
        .await
        .unwrap();
    assert_eq!(peer.asked()[0].header("x-user-id"), None);
    assert_eq!(peer.asked()[0].header("b"), None);
}

/// A stream that ends without the task's last status has ended well if a message was its answer, and
/// was cut off otherwise.
#[tokio::test]
async fn a_stream_without_an_end_is_whole_only_after_a_message() {
    let mut message = Fixture::named("peer-message").results;
    message.pop();
    let submitted = Fixture::named("peer-tool-call").results[0].clone();
    for results in [message.clone(), vec![submitted, message[0].clone()]] {
        let peer = ProfileAgent::start(results, true, Envelopes::Sealed).await;
        let client = Client::with_card(peer.transport(), card(Some("0.1")).into());
        let mut updates = client.send("hello").follow();
        while let Some(event) = updates.next().await {
            event.unwrap();
        }
        assert_eq!(updates.llm_responses().unwrap().text(), "It is mild.");
        assert_eq!(updates.reconnections(), 0);
        assert_eq!(peer.asked().len(), 1);
    }
    let mut cut = Fixture::named("peer-tool-call").results;
    cut.pop();
    let peer = ProfileAgent::start(cut, true, Envelopes::Sealed).await;
    let mut updates = client(&peer, Some("0.1")).send("hello").follow();
    let mut last = None;
    while let Some(event) = updates.next().await {
        last = Some(event);
    }
    assert!(matches!(last, Some(Err(Error::Unfinished))), "{last:?}");
}

/// Messages that say nothing, of which agents of the framework send many, do no harm.
#[tokio::test]
async fn an_answer_with_empty_messages_is_taken() {
    let scene = Fixture::named("peer-answer");
    let peer = ProfileAgent::start(scene.results, false, Envelopes::Sealed).await;
    let answer = client(&peer, Some("0.1")).send("hello").await.unwrap();
    let SendMessageResponse::Task(task) = &answer else {
        panic!("{answer:?}");
    };
    assert_eq!(task.history.len(), 3);
    assert_eq!(LlmResponses::of_answer(&answer).text(), "It is mild.");
    assert_eq!(task.context_id.as_ref().map(|id| id.as_str()), Some("c"));
    assert_eq!(peer.protocol_version(), ProtocolVersion::V0_2);
}
