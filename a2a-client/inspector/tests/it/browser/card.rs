//! Screen of an agent's card.

use a2a_server::{Algorithm, SigningKey};
use a2a_transport::webhook::Jwks;
use serde_json::{Value, json};

use super::browse;
use super::connect::{choose_credentials, connect, fill, open_form};
use super::window::Window;
use crate::cards::{signed_by, with_extended_card};
use crate::harness::{agent_with_slips, document, message, reference};

/// Chooses a tab of the screen.
async fn open_tab(window: &Window, tab: &str) {
    let tab = format!("[data-screen=card] [data-action=tab][data-value={tab}]");
    window.click(&tab).await;
    window.see(&format!("{tab}[aria-selected=true]")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_is_shown_as_it_is_read_and_as_it_came() {
    browse(async |window| {
        let url = reference().await;
        window.connect(&url).await;
        let overview = "[data-view=overview]";
        window
            .see_text(overview, "Does each thing that an agent can do")
            .await;
        window
            .see_text("[data-row=skill][data-skill=reference]", "chunks 5 200")
            .await;
        assert_eq!(window.count("[data-row=interface]").await, 8);
        open_tab(window, "raw").await;
        window
            .see_text(".body .json", r#""name": "Reference""#)
            .await;
        window.click("[data-action=body][data-value=raw]").await;
        let shown: Value = serde_json::from_str(&window.text("pre.raw").await).unwrap();
        window.click("[data-action=save-card]").await;
        let (name, text) = window.downloaded(".json").await;
        assert_eq!(name, "agent-card.json");
        let saved: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(saved, shown);
        assert!(text.contains(&url), "{text}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deviations_are_shown_with_the_card_and_with_the_answer() {
    browse(async |window| {
        let agent = window.connect(&agent_with_slips().await).await;
        open_tab(window, "problems").await;
        let card = "[data-screen=card] [data-view=deviations]";
        window.see_text(card, "despite 1 deviation").await;
        window.see_text(card, "$.capabilities").await;
        let page = &window.page;
        let sent = json!({"message": message("hello"), "stream": false});
        page.message(&format!("/api/agents/{agent}"), sent).await;
        window.go("/wire/2").await;
        let answer = "[data-screen=wire] [data-view=deviations]";
        window.see_text(answer, "despite 4 deviations").await;
        window.see_text(answer, "A time without a zone").await;
    })
    .await;
}

#[cfg(feature = "conformance")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn problems_are_shown_with_their_rules_and_places_and_by_version() {
    browse(async |window| {
        window
            .connect(&document(crate::cards::OLD_CARD).await)
            .await;
        window
            .see_text("[data-field=verdict]", "MUST not met")
            .await;
        open_tab(window, "problems").await;
        let must = "[data-row=problem][data-level=must]";
        window
            .see_text(&format!("{must} code"), "$.skills[0]")
            .await;
        window
            .see_text(&format!("{must} .rule"), "A2A02-5.5-M1")
            .await;
        window
            .see(&format!("{must} .rule a[href^='https://']"))
            .await;
        open_tab(window, "versions").await;
        let view = |version: &str| format!("[data-action=view-version][data-value='{version}']");
        window.see_text(&view("0.2"), "reads it").await;
        window.see_text(&view("1.0"), "refuses it").await;
        window.click(&view("0.2")).await;
        window
            .see_text("[data-view=versions] .json", r#""name": "Old""#)
            .await;
        window.click(&view("1.0")).await;
        window.see("[data-view=versions] .note-box.bad").await;
        window.see_none("[data-view=versions] .json").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signatures_are_judged_by_the_keys_of_the_agent_or_of_the_user() {
    browse(async |window| {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let url = signed_by(&key).await;
        window.connect(&url).await;
        open_tab(window, "signatures").await;
        let valid = "[data-row=signature][data-verdict=valid]";
        window.see_text(valid, "the agent itself publishes").await;
        window.see_text(valid, key.id()).await;
        window.see_text(valid, "ES256").await;
        window.see_text(&format!("{valid} dt"), "Form").await;
        window
            .see_text(valid, &format!("{url}/.well-known/jwks.json"))
            .await;

        let other = SigningKey::generate(Algorithm::Es256).unwrap();
        for (keys, verdict, words) in [(&key, "valid", "that you trust"), (&other, "invalid", "")] {
            let keys = document(json!(Jwks::of([keys])).to_string()).await;
            let keys = format!("{keys}/keys.json");
            window.fill("[data-field=keys]", &keys).await;
            window.click("[data-action=verify]").await;
            window
                .see_text(
                    &format!("[data-row=signature][data-verdict={verdict}]"),
                    words,
                )
                .await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_extended_card_is_for_callers_with_a_key() {
    browse(async |window| {
        let key = "CANARY-of-the-test";
        let url = with_extended_card(key).await;
        window.connect(&url).await;
        let kind = |kind: &str| format!("[data-action=card-kind][data-value={kind}]");
        window.see_text("[data-view=overview] h2", "Echo").await;
        window.click(&kind("extended")).await;
        window.see_text(".error-box", "credentials").await;

        open_form(window, &url).await;
        choose_credentials(window, "apiKey").await;
        fill(window, "apiKey", key).await;
        connect(window).await;
        window.see_text("[data-view=overview] h2", "Echo").await;
        window.click(&kind("extended")).await;
        window.see_text("[data-view=overview] h2", "Longer").await;
        window.click(&kind("public")).await;
        window.see_text("[data-view=overview] h2", "Echo").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_editor_judges_a_card_as_it_is_written() {
    browse(async |window| {
        window.connect(&reference().await).await;
        open_tab(window, "edit").await;
        let verdict = "[data-view=editor] [data-field=verdict]";
        let text = "[data-field=card]";
        let card = async || {
            let script = "return document.querySelector(arguments[0]).value";
            let card = window.script(script, json!([text])).await;
            card.as_str().unwrap().to_owned()
        };
        let right = card().await;
        if cfg!(feature = "conformance") {
            window.see_text(verdict, "keeps every rule").await;
            let wrong = right.replace("\"description\"", "\"descriptions\"");
            window.fill(text, &wrong).await;
            window.see_text(verdict, "problem").await;
            window
                .see_text(
                    "[data-view=editor] [data-row=problem]",
                    "\"description\" is a required property",
                )
                .await;
        }
        window.fill(text, &format!("{right},")).await;
        window.see_text(verdict, "not JSON").await;
        window
            .see_text("[data-view=editor] .note-box.bad", "This is not JSON")
            .await;
        window.fill(text, &right).await;
        window.see_text(verdict, "keeps every rule").await;
        window
            .see_text("[data-view=editor] [data-value='1.0']", "reads it")
            .await;
    })
    .await;
}
