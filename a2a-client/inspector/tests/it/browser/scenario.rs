//! A use of the page that gives every screen something to show.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use a2a_client::{Client, HttpClient};
use a2a_server::demo::Joker;
use http::Request;
use http_body_util::Full;
use serde_json::json;

use super::faulty_agent::faulty_agent;
use super::trip_agent::day_trips;
use super::window::Window;
use crate::harness::{builder, message, started};

/// Screens with what to see on each.
pub(super) struct Scenario {
    /// Name of the screen, its route, and an element that is there once it is complete.
    pub(super) screens: Vec<(&'static str, String, &'static str)>,
}

impl Scenario {
    /// Returns the route of a screen.
    pub(super) fn route(&self, name: &str) -> &str {
        let screen = self.screens.iter().find(|screen| screen.0 == name);
        &screen.expect("a screen").1
    }
}

/// Uses the page as people do, with these checks of the suite.
pub(super) async fn play(window: &Window, checks: &str) -> Scenario {
    let trips = day_trips().await;
    let reference = faulty_agent(Arc::new(AtomicBool::new(true))).await;
    let joker = started(builder(Joker::card(), Joker)).await;
    let page = &window.page;
    page.connect(
        &joker,
        json!({"version": "0.3", "binding": "HTTP+JSON", "apiKey": "sesame"}),
    )
    .await;
    let tested = page.connect(&reference, json!({"version": "0.2"})).await;
    let agent = window.connect(&trips).await;
    let started = page.post("/api/runs", json!({"agent": tested["id"], "instrumented": true, "run": checks.split(' ').collect::<Vec<_>>()}));
    let run = started.await["id"].as_str().unwrap().to_owned();

    let path = format!("/api/agents/{agent}");
    for text in [
        "Plan a trip to Atlantis",
        "The night train to Vienna",
        "A day in Ghent with two children",
    ] {
        page.message(&path, json!({"message": message(text), "stream": true}))
            .await;
    }
    let watch = json!({"message": message("Watch the fare from Utrecht to Paris"), "configuration": {"returnImmediately": true}});
    page.message(&path, watch).await;
    let receiver = page
        .post("/api/receivers", json!({"token": "sesame"}))
        .await;
    let receiver = receiver["url"].as_str().unwrap();

    window.go(&format!("/chat/{agent}")).await;
    window.click("[data-action=options]").await;
    window.fill("[data-field=webhookUrl]", receiver).await;
    window.fill("[data-field=webhookToken]", "sesame").await;
    window.click("[data-action=options]").await;
    window
        .fill("[data-field=message]", "Plan a rainy Saturday in Delft")
        .await;
    window.click("[data-action=send]").await;
    window
        .fill("[data-field=answer]", "Two of us, back by nine")
        .await;
    window.click("[data-action=answer]").await;
    window.see_text("[data-row=task] .pill", "completed").await;
    window
        .see_text("[data-row=artifact]", "an hour before")
        .await;
    let task = "return document.querySelector('[data-screen=chat] [data-row=task]').dataset.task";
    let task = window
        .script(task, json!([]))
        .await
        .as_str()
        .unwrap()
        .to_owned();
    let exchange = "return Math.max(...[...document.querySelectorAll('[data-screen=chat] [data-exchange]')].map((it) => it.dataset.exchange))";
    let exchange = window.script(exchange, json!([])).await;

    let forged = json!({"statusUpdate": {"taskId": task, "contextId": "c", "status": {"state": "TASK_STATE_FAILED"}}});
    let forged = Request::post(receiver)
        .header("x-a2a-notification-token", "guess")
        .body(Full::from(forged.to_string()));
    HttpClient::default().fetch(forged.unwrap()).await.unwrap();

    let proxy = page
        .post(
            "/api/proxies",
            json!({"listen": "127.0.0.1:0", "upstream": trips}),
        )
        .await;
    let client = Client::connect(proxy["url"].as_str().unwrap())
        .await
        .unwrap();
    for text in ["A day in Bruges", "The sleeper to Berlin at night"] {
        client.send(text).await.unwrap();
    }
    let fault = json!({"kind": "cut", "afterEvents": 3, "once": true});
    let fault_path = format!("/api/proxies/{}/fault", proxy["id"].as_str().unwrap());
    page.call("PUT", &fault_path, Some(fault)).await.ok();

    window.go(&format!("/conformance/{run}")).await;
    window.see("[data-view=run][data-state=done]").await;
    let screens = vec![
        ("connect", "/connect".to_owned(), "[data-row=agent]"),
        ("card", format!("/card/{agent}"), "[data-view=overview]"),
        ("chat", format!("/chat/{agent}"), "[data-row=artifact]"),
        (
            "tasks",
            format!("/tasks/{agent}/{task}"),
            "[data-row=event]",
        ),
        ("wire", format!("/wire/{exchange}"), "[data-view=exchange]"),
        ("proxy", "/proxy".to_owned(), "[data-row=proxy]"),
        ("webhooks", "/webhooks/1".to_owned(), "[data-row=verdict]"),
        (
            "conformance",
            format!("/conformance/{run}"),
            "[data-row=check]",
        ),
    ];
    Scenario { screens }
}
