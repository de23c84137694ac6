//! Answers in the chat that grow.

use std::future::pending;

use a2a_types::AgentCard;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use super::browse;
use super::paced::Paced;
use super::window::Window;
use crate::harness::router;

/// The answer in the chat.
pub(super) const ARTIFACT: &str = "[data-row=task] .artifact-body";

/// Connects to an agent and sends it a message in the chat.
async fn ask(window: &Window, url: &str, text: &str) {
    window.connect(url).await;
    window.go("/chat").await;
    say(window, text).await;
}

/// Sends a message in the chat that is shown.
pub(super) async fn say(window: &Window, text: &str) {
    window.fill("[data-field=message]", text).await;
    window.click("[data-action=send]").await;
}

/// Waits until there is one artifact in the chat, with exactly this text.
pub(super) async fn see_exactly(window: &Window, text: &str) {
    let script = "const found = document.querySelectorAll(arguments[0]); \
        return found.length === 1 && found[0].innerText.trim() === arguments[1]";
    window.until(script, json!([ARTIFACT, text])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_1000_chunks_is_shown_as_it_grows() {
    browse(async |window| {
        let (agent, url) = Paced::start(1000).await;
        ask(window, &url, "count").await;
        for (more, chunks) in [(1, 1), (399, 400), (599, 999)] {
            agent.allow(more);
            see_exactly(window, &Paced::text(chunks)).await;
            window
                .see("[data-row=task][data-live=true] [data-action=stop]")
                .await;
        }
        agent.allow(1);
        window
            .see("[data-row=task][data-state=completed][data-live=false]")
            .await;
        see_exactly(window, &Paced::text(1000)).await;
        window
            .see_none("[data-action=stop], [data-action=cancel]")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_canceled_in_the_middle() {
    browse(async |window| {
        let (agent, url) = Paced::start(1000).await;
        ask(window, &url, "count").await;
        agent.allow(10);
        see_exactly(window, &Paced::text(10)).await;
        window.click("[data-row=task] [data-action=cancel]").await;
        window
            .see("[data-row=task][data-state=canceled][data-live=false]")
            .await;
        see_exactly(window, &Paced::text(10)).await;
        window
            .see_none("[data-action=resume], [data-action=cancel]")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_stopped_is_resumed_without_a_gap() {
    browse(async |window| {
        let (agent, url) = Paced::start(100).await;
        ask(window, &url, "count").await;
        agent.allow(10);
        see_exactly(window, &Paced::text(10)).await;
        window.click("[data-row=task] [data-action=stop]").await;
        window
            .see_text("[data-row=task][data-live=false]", "You stopped following")
            .await;
        // The task goes on without a follower.
        agent.allow(60);
        window.click("[data-row=task] [data-action=resume]").await;
        see_exactly(window, &Paced::text(70)).await;
        window.see("[data-row=task][data-live=true]").await;
        agent.allow(30);
        window.see("[data-row=task][data-state=completed]").await;
        see_exactly(window, &Paced::text(100)).await;
        assert_eq!(window.count("[data-row=task]").await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_an_agent_is_given_up() {
    browse(async |window| {
        let silent = router(|url| {
            let card = json!(AgentCard::new("Silent", "Never answers").at(url));
            Router::new()
                .route("/.well-known/agent-card.json", get(Json(card)))
                .fallback(pending::<String>)
        });
        ask(window, &silent.await, "hello").await;
        window.click(".waiting [data-action=stop]").await;
        window.see_text(".turn", "You stopped waiting").await;
        window.see_none(".waiting").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_stream_has_the_events_of_a_task_that_waited_for_an_authorization() {
    browse(async |window| {
        for (order, action) in [
            ("authorize and count", "wait"),
            ("authorize first", "answer"),
        ] {
            let (agent, url) = Paced::start(100).await;
            ask(window, &url, order).await;
            let form = "[data-form=auth-required]";
            window
                .click(&format!("{form} [data-action={action}]"))
                .await;
            for chunks in [30, 60] {
                agent.allow(30);
                see_exactly(window, &Paced::text(chunks)).await;
            }
            agent.allow(40);
            window
                .see("[data-row=task][data-state=completed][data-live=false]")
                .await;
            see_exactly(window, &Paced::text(100)).await;
            let shown = window.text(".transcript").await;
            assert!(!shown.contains("You stopped"), "{shown}");
        }
    })
    .await;
}
