//! Screen of the connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_inspector::Inspector;
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::stream::say;
use super::window::Window;
use super::{browse, browse_page};
use crate::credentials::{PrivateAgent, agent_of_users};
use crate::harness::{Page, document, joker, reference, router};

const FORM: &str = "[data-screen=connect] form";
const CANARY: &str = "CANARY0123456789";

/// Writes into a field of the connection.
pub(super) async fn fill(window: &Window, field: &str, text: &str) {
    window
        .fill(&format!("{FORM} [data-field={field}]"), text)
        .await;
}

/// Goes to the form, with an address and all its fields.
pub(super) async fn open_form(window: &Window, url: &str) {
    window.go("/connect").await;
    fill(window, "url", url).await;
    window
        .click(&format!("{FORM} [data-fold=options] summary"))
        .await;
}

/// Chooses a kind of credentials in the form.
pub(super) async fn choose_credentials(window: &Window, kind: &str) {
    window
        .click(&format!("[data-action=credentials][data-value={kind}]"))
        .await;
}

/// Connects as the form says.
pub(super) async fn connect(window: &Window) {
    window.click("[data-action=connect]").await;
    window.see("[data-screen=card]").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_agents_are_connected_at_once_and_one_is_chosen() {
    browse(async |window| {
        let (one, other) = (joker().await, reference().await);
        window.connect(&one).await;
        window.see_text("[data-action=switch-agent]", "Joker").await;
        window.connect(&other).await;
        window
            .see_text("[data-action=switch-agent]", "Reference")
            .await;
        window.go("/connect").await;
        assert_eq!(window.count("[data-row=agent]").await, 2);
        window.click("[data-action=switch-agent]").await;
        window
            .click_text("[role=menuitem], [role=menuitemradio]", "Joker")
            .await;
        window.see_text("[data-action=switch-agent]", "Joker").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn version_and_binding_are_chosen_and_the_agent_is_disconnected() {
    browse(async |window| {
        let url = reference().await;
        open_form(window, &url).await;
        window.choose("[data-field=version]", "0.3").await;
        window.choose("[data-field=binding]", "HTTP+JSON").await;
        connect(window).await;
        window
            .see_text("[data-action=switch-agent]", "0.3 HTTP+JSON")
            .await;
        window.go("/chat").await;
        say(window, "echo hello").await;
        window
            .see_text("[data-state=completed] [data-row=artifact]", "hello")
            .await;
        window.go("/wire").await;
        window
            .see_text("[data-row=exchange]:last-child", "0.3 REST")
            .await;
        window.go("/connect").await;
        window
            .click("[data-row=agent] [data-action=disconnect]")
            .await;
        window.see_none("[data-row=agent]").await;
        window
            .see_text("[data-action=switch-agent]", "No agent")
            .await;
        assert_eq!(window.page.get("/api/agents").await["agents"], json!([]));
    })
    .await;
}

/// Starts an agent that answers only callers with a bearer token and a header, and returns its URL.
async fn guarded() -> String {
    router(|url| {
        let card = json!({
            "name": "Guarded", "description": "d", "version": "1", "capabilities": {}, "skills": [],
            "defaultInputModes": [], "defaultOutputModes": [],
            "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
            "securityRequirements": [{"schemes": {"token": {"list": []}}}],
        });
        let answer = async |headers: HeaderMap, Json(call): Json<Value>| {
            let has = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
            if !has("authorization", &format!("Bearer {CANARY}")) {
                return Err(StatusCode::UNAUTHORIZED);
            }
            if !has("x-department", "tests") {
                return Err(StatusCode::FORBIDDEN);
            }
            Ok(Json(json!({"jsonrpc": "2.0", "id": call["id"], "result": {
                "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "come in"}]},
            }})))
        };
        axum::Router::new()
            .route("/.well-known/agent-card.json", get(async || Json(card)))
            .route("/", post(answer))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_requires_a_token_and_a_header_gets_both() {
    browse(async |window| {
        let url = guarded().await;
        window.connect(&url).await;
        window.go("/chat").await;
        say(window, "hello").await;
        window.see_text(".error-box", "401").await;

        open_form(window, &url).await;
        choose_credentials(window, "bearer").await;
        fill(window, "bearer", CANARY).await;
        window.click("[data-action=add-header]").await;
        fill(window, "header-name", "X-Department").await;
        fill(window, "header-value", "tests").await;
        connect(window).await;
        window.go("/chat").await;
        say(window, "hello").await;
        window.see_text("[data-row=message]", "come in").await;

        window.go("/connect").await;
        window.see_text("[data-row=agent]", "credentials").await;
        assert_eq!(window.script(SECRETS, json!([CANARY])).await, 0);
        window.go("/wire").await;
        window.click("[data-row=exchange]:last-child").await;
        window
            .see_text("[aria-label=Request] .headers", "***")
            .await;
        assert_eq!(window.script(SECRETS, json!([CANARY])).await, 0);
    })
    .await;
}

/// Counts the elements that show a text or have it as their value.
const SECRETS: &str = "return [...document.querySelectorAll('*')]\
    .filter((it) => it.value?.includes?.(arguments[0]) || it.outerHTML.includes(arguments[0])).length";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_wrong_gets_a_clear_error() {
    browse(async |window| {
        window.go("/connect").await;
        let html = document("<!doctype html><title>A shop</title>").await;
        for (url, place, text) in [
            (
                "https://",
                ".wrong",
                "Expected an address like https://agent.example",
            ),
            ("http://127.0.0.1:1", ".error-text", "Cannot connect"),
            ("http://127.0.0.1:1", ".error-hint", "is running"),
            (&html, ".error-hint", "not a card that can be read"),
        ] {
            fill(window, "url", url).await;
            window.click("[data-action=connect]").await;
            window.see_text(&format!("{FORM} {place}"), text).await;
            window.see_text("[data-action=connect]", "Connect").await;
        }
        window.see("[data-screen=connect]").await;
        assert_eq!(window.count("[data-row=agent]").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saved_agent_comes_back_without_its_secrets_and_is_filled_in() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("inspector.json");
    let url = guarded().await;
    let settings = json!({
        "bearer": CANARY, "headers": [["X-Department", "tests"]], "version": "1.0", "save": true,
    });
    let before = Page::of(Inspector::builder().state_file(&file)).await;
    before.connect(&url, settings).await;
    let page = Page::of(Inspector::builder().state_file(&file)).await;
    browse_page(page, async |window| {
        let saved = "[data-row=saved]";
        window.see_text(saved, "credentials are not saved").await;
        window
            .click(&format!("{saved} [data-action=connect-saved]"))
            .await;
        let script = "return ['url', 'version', 'header-name', 'header-value']\
            .map((name) => document.querySelector(`[data-screen=connect] [data-field=${name}]`).value)";
        assert_eq!(
            window.script(script, json!([])).await,
            json!([url, "1.0", "X-Department", ""])
        );
        choose_credentials(window, "bearer").await;
        fill(window, "bearer", CANARY).await;
        fill(window, "header-value", "tests").await;
        connect(window).await;
        window.go("/chat").await;
        say(window, "hello").await;
        window.see_text("[data-row=message]", "come in").await;

        window.go("/connect").await;
        window.see_none(saved).await;
        window.click("[data-action=disconnect]").await;
        window.see(saved).await;
        window.click(&format!("{saved} [data-action=forget]")).await;
        window.see_none(saved).await;
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("CANARY"), "{text}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_signs_in_by_a_code() {
    browse(async |window| {
        let is_entered = Arc::new(AtomicBool::new(false));
        let url = agent_of_users(Arc::clone(&is_entered)).await;
        open_form(window, &url).await;
        choose_credentials(window, "oauthDevice").await;
        fill(window, "clientId", "page").await;
        connect(window).await;
        window.go("/chat").await;
        say(window, "hello").await;
        let dialog = "[data-dialog=device]";
        window
            .see_text(&format!("{dialog} [data-field=user-code]"), "WDJB-MJHT")
            .await;
        window
            .see(&format!("{dialog} a[href='https://login.example/device']"))
            .await;
        is_entered.store(true, Ordering::Relaxed);
        window.see_none(dialog).await;
        window
            .see_text("[aria-label='Message of the agent']", "hello")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_shown_to_an_agent_of_a_private_authority() {
    browse(async |window| {
        let PrivateAgent {
            url,
            authority,
            caller: (certificate, key),
        } = PrivateAgent::start().await;
        open_form(window, &url).await;
        window.click("[data-action=connect]").await;
        window
            .see_text(&format!("{FORM} .error-box"), "certificate")
            .await;
        fill(window, "authorities", &authority).await;
        choose_credentials(window, "clientCertificate").await;
        fill(window, "certificate", &certificate).await;
        fill(window, "key", &key).await;
        connect(window).await;
        window.go("/chat").await;
        say(window, "hello").await;
        window
            .see_text("[data-state=completed] [data-row=artifact]", "hello")
            .await;
    })
    .await;
}
