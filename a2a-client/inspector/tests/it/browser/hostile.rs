//! Agents and pages that attack the page.

use a2a_client::HttpClient;
use axum::Router;
use axum::response::Html;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use super::browse;
use super::hostile_agent::{Trap, hostile, text};
use super::stream::say;
use super::window::Window;
use crate::harness::router;

/// Fails if a script of an agent ran, if an element of its HTML is part of the page, or if a text breaks the layout.
async fn check_harmless(window: &Window, trap: &Trap, place: &str) {
    let script = "return {ran: globalThis.ran ?? null, title: document.title, \
        elements: document.querySelectorAll('script:not([src=\"main.js\"]), iframe, object, embed, base, \
            link[href^=\"http\"], img:not([src^=\"blob:\"]), [onload], [onerror], [href^=\"javascript:\" i]').length, \
        wide: [...document.querySelectorAll('.screen-head, .screen-body, .detail-body')]\
            .some((it) => it.scrollWidth > it.clientWidth)}";
    let found = window.script(script, json!([])).await;
    assert_eq!(found["ran"], Value::Null, "{place}: a script ran");
    assert_eq!(found["elements"], 0, "{place}");
    assert_eq!(
        found["wide"], false,
        "{place}: a text is wider than its screen"
    );
    let title = found["title"].as_str().unwrap();
    assert!(title.ends_with(" · A2A inspector"), "{place}: {title}");
    assert_eq!(trap.connections(), 0, "{place}: something was loaded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_hostile_agent_runs_or_is_loaded() {
    browse(async |window| {
        let trap = Trap::start().await;
        let shown = |place: &str| text(&trap.url, place);
        let url = hostile(&trap.url).await;
        let agent = window.connect(&url).await;

        for (tab, view) in TABS {
            window
                .click(&format!("[data-action=tab][data-value={tab}]"))
                .await;
            window.see(view).await;
            check_harmless(window, &trap, tab).await;
        }
        window.click("[data-action=tab][data-value=overview]").await;
        window
            .see_text(".card-description", &shown("description"))
            .await;

        window.go(&format!("/chat/{agent}")).await;
        window.see("[data-action=suggestion]").await;
        say(window, "show").await;
        window.see_text("[data-row=artifact]", &shown("html")).await;
        window
            .until(
                "return document.querySelector('img[src^=\"blob:\"]')?.complete",
                json!([]),
            )
            .await;
        check_harmless(window, &trap, "chat").await;
        say(window, "fail").await;
        window.see_text("[role=alert]", &shown("error")).await;
        check_harmless(window, &trap, "error").await;

        window.go("/tasks").await;
        window.click("[data-row=task]").await;
        let contents = [
            ("timeline", "[data-row=event]", "status"),
            ("content", "[data-view=content]", "history"),
            ("json", ".body", "task-metadata"),
            ("webhooks", "[data-view=webhooks]", "error"),
        ];
        for (tab, content, place) in contents {
            window
                .click(&format!(
                    "[data-view=task] [data-action=tab][data-value={tab}]"
                ))
                .await;
            let content = format!("[data-view=task] {content}");
            window.see_text(&content, &format!("{place}<script>")).await;
            check_harmless(window, &trap, tab).await;
        }

        let receiver = window.page.post("/api/receivers", json!({})).await;
        let url = receiver["url"].as_str().unwrap();
        let status = json!({"state": "TASK_STATE_WORKING", "message":
            {"messageId": shown("message"), "role": "ROLE_AGENT", "parts": [{"text": shown("part")}]}});
        let body = json!({"statusUpdate": {"taskId": shown("task"), "contextId": "c", "status": status}});
        let notification = Request::post(url).header("webhook-id", "'><img src=x onerror=alert(1)>");
        let notification = notification.body(Full::from(body.to_string())).unwrap();
        // The page shows a notification that it was asked for before it came.
        window.go("/webhooks/1").await;
        HttpClient::default().fetch(notification).await.unwrap();
        window.see("[data-row=verdict]").await;
        window.page.post("/api/proxies", json!({"upstream": url})).await;
        let lists = [
            ("/webhooks/1", "[data-row=verdict]"),
            ("/connect", "[data-row=agent]"),
            ("/proxy", "[data-row=proxy]"),
        ];
        for (route, selector) in lists {
            window.go(route).await;
            window.see(selector).await;
            check_harmless(window, &trap, route).await;
        }

        let exchanges = window.page.get("/api/exchanges").await;
        let exchanges = exchanges["exchanges"].as_array().unwrap().clone();
        let streamed = exchanges
            .iter()
            .find(|one| one["frames"].as_u64() > Some(0))
            .unwrap();
        for tab in ["exchange", "versions", "resend"] {
            window
                .go(&format!("/wire/{}/{tab}", streamed["number"]))
                .await;
            window.see(&format!("[data-view={tab}]")).await;
            check_harmless(window, &trap, tab).await;
        }
        #[cfg(feature = "conformance")]
        {
            window.go("/conformance/new").await;
            super::conformance::run_checks(window).await;
            window.click("[data-action=show-check]").await;
            window.see_text("[data-row=check] [data-row=evidence]", "error<script>").await;
            check_harmless(window, &trap, "conformance").await;
        }
        window.check_console().await;
        check_the_traps(window, &trap).await;
    })
    .await;
}

/// Checks that the page is protected by its policy, and that the trap and the console would tell of a breach.
async fn check_the_traps(window: &Window, trap: &Trap) {
    let policy =
        "return fetch('/').then((answer) => answer.headers.get('content-security-policy'))";
    let policy = window.script(policy, json!([])).await;
    let policy = policy.as_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; "),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let add = "const element = document.createElement(arguments[0]); element[arguments[1]] = arguments[2]; \
        document.body.append(element); return globalThis.ran ?? null";
    let script = json!(["script", "textContent", "globalThis.ran = 1"]);
    assert_eq!(window.script(add, script).await, Value::Null);
    window.see_refusal("inline script").await;
    window.script(add, json!(["img", "src", trap.url])).await;
    window.see_refusal("image").await;
    assert_eq!(trap.connections(), 0);
    window.visit(&trap.url).await;
    assert_ne!(trap.connections(), 0, "a page that is visited is loaded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_origin_reads_and_calls_nothing() {
    browse(async |window| {
        let trap = Trap::start().await;
        let other = router(|_| Router::new().fallback(async || Html("<title>Other</title>"))).await;
        let inspector = format!("http://{}", window.page.address);
        window.visit(&other).await;
        let reads = "return fetch(arguments[0], arguments[1]).then((it) => it.text(), () => 'refused')";
        assert_eq!(window.script(reads, json!([trap.url, {}])).await, "ok");
        let token = format!("Bearer {}", window.page.token);
        for init in [
            json!({}),
            json!({"headers": {"Authorization": token}}),
            json!({"credentials": "include"}),
        ] {
            for path in ["/", "/api/info"] {
                let url = format!("{inspector}{path}");
                let found = window.script(reads, json!([url, init])).await;
                assert_eq!(found, "refused", "{path} {init}");
            }
        }
        for init in [
            json!({"method": "POST", "mode": "no-cors", "body": "{}"}),
            json!({"method": "POST", "headers": {"Authorization": token, "Content-Type": "application/json"}, "body": "{}"}),
        ] {
            window.script(reads, json!([format!("{inspector}/api/receivers"), init])).await;
        }
        let receivers = window.page.get("/api/receivers").await;
        assert_eq!(receivers, json!({"receivers": []}));

        let script = "return new Promise((done) => { const script = document.createElement('script'); \
            script.type = arguments[1]; script.src = arguments[0]; script.onload = () => done('loaded'); \
            script.onerror = () => done('refused'); document.head.append(script) })";
        for kind in ["text/javascript", "module"] {
            let url = format!("{inspector}/topic.js");
            assert_eq!(window.script(script, json!([url, kind])).await, "refused");
        }
        let frame = "const frame = document.createElement('iframe'); frame.src = arguments[0]; document.body.append(frame)";
        window.script(frame, json!([inspector])).await;
        window.see_refusal("frame-ancestors").await;
        // The policy of the opener cuts the reference to the window.
        let opens = "globalThis.opened = open(arguments[0])";
        window.script(opens, json!([inspector])).await;
        window.until("return opened.closed", json!([])).await;
        window.console().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_its_token_asks_for_it() {
    browse(async |window| {
        let origin = format!("http://{}", window.page.address);
        window.script("sessionStorage.clear()", json!([])).await;
        window.visit(&origin).await;
        window.see("[data-screen=token]").await;
        assert_eq!(window.count("[data-nav]").await, 0);
        for (token, selector) in [
            ("wrong", "[data-screen=token]"),
            (
                &*format!("{origin}/#token={}", window.page.token),
                "[data-screen=connect]",
            ),
        ] {
            window.script("document.title = 'before'", json!([])).await;
            window.fill("[data-field=token]", token).await;
            window.click("[data-action=unlock]").await;
            window
                .until("return document.title !== 'before'", json!([]))
                .await;
            window.see(selector).await;
        }
        let address = window.script("return location.href", json!([])).await;
        assert!(!address.as_str().unwrap().contains("token"), "{address}");
    })
    .await;
}

/// Tabs of a card, and what they show.
const TABS: [(&str, &str); 6] = [
    ("overview", "[data-view=overview]"),
    ("problems", "[data-view=problems]"),
    ("signatures", "[data-row=signature]"),
    ("versions", "[data-view=versions]"),
    ("raw", "[data-screen=card] .body"),
    ("edit", "[data-view=editor]"),
];
