//! One exchange on the wire: its versions, its repetition, its exports.

use a2a_server::demo::Reference;
use serde_json::{Value, json};

use super::browse;
use super::window::{Window, keys};
use crate::exchanges::exchange_of;
use crate::harness::{builder, reference, started};

/// Makes an exchange with the agent that obeys the text, and goes to it.
async fn show_exchange(window: &Window, text: &str, stream: bool) -> u64 {
    let agent = window.page.path_of(&reference().await).await;
    let number = exchange_of(&window.page, &agent, text, stream).await;
    window.go(&format!("/wire/{number}")).await;
    window
        .see_text(".detail-head", &format!("#{number} "))
        .await;
    number
}

async fn open_tab(window: &Window, tab: &str) {
    window
        .click(&format!(".detail [data-action=tab][data-value={tab}]"))
        .await;
    window.see(&format!("[data-view={tab}]")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_shown_with_its_headers_and_events() {
    browse(async |window| {
        show_exchange(window, "chunks 3", true).await;
        window
            .see_text(".detail-head", "SendStreamingMessage")
            .await;
        let request = "[data-view=exchange] [aria-label=Request]";
        window
            .see_text(&format!("{request} .headers"), "a2a-version")
            .await;
        window
            .click(&format!("{request} [data-action=unfold]"))
            .await;
        window
            .see_text(&format!("{request} .json"), r#""text": "chunks 3""#)
            .await;
        window
            .click(&format!("{request} [data-action=body][data-value=raw]"))
            .await;
        window
            .see_text(&format!("{request} pre.raw"), r#"{"text":"chunks 3"}"#)
            .await;
        let response = "[data-view=exchange] [aria-label=Response]";
        for (frame, text) in [(0, "task"), (1, "\"1 \""), (3, "\"3 \"")] {
            let frame = format!("{response} [data-frame='{frame}'] summary");
            window.see_text(&frame, text).await;
            window.see_text(&frame, " ms").await;
            window.see_text(&frame, "id ").await;
        }
        window
            .click(&format!("{response} [data-frame='1'] summary"))
            .await;
        window
            .see_text(
                &format!("{response} [data-frame='1'] .json"),
                r#""text": "1 ""#,
            )
            .await;
        window
            .see("[data-view=exchange] .timing-bar[role=img]")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exchange_by_grpc_is_shown_as_json_with_its_status() {
    browse(async |window| {
        let settings = json!({"version": "1.0", "binding": "GRPC"});
        let agent = window.page.connect(&reference().await, settings).await;
        let agent = format!("/api/agents/{}", agent["id"].as_str().unwrap());
        let request = "[data-view=exchange] [aria-label=Request]";
        let response = "[data-view=exchange] [aria-label=Response]";

        let number = exchange_of(&window.page, &agent, "chunks 3", true).await;
        window.go(&format!("/wire/{number}")).await;
        window
            .see_text(&format!("{request} .json"), "message")
            .await;
        window.see_text(response, "messages").await;
        window
            .see_text(&format!("{response} [data-frame='1'] summary"), "\"1 \"")
            .await;
        window.click("[data-action=copy-curl]").await;
        window
            .see_text("[data-notice=plain]", "Copied as grpcurl")
            .await;

        let path = format!("{agent}/tasks/nope");
        window.page.call("GET", &path, None).await.problem();
        window.go(&format!("/wire/{}", number + 1)).await;
        window.see_text(".detail-head", "NOT_FOUND").await;
        let status = format!("{response} [data-grpc-status=NOT_FOUND]");
        window.see_text(&status, "Task not found").await;
        window.see_text(&status, "TASK_NOT_FOUND").await;
    })
    .await;
}

#[cfg(feature = "conformance")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_shown_in_four_versions_side_by_side() {
    browse(async |window| {
        show_exchange(window, "echo hi", false).await;
        open_tab(window, "versions").await;
        let script = "const texts = [...document.querySelectorAll('[data-view=versions] [data-version]')] \
            .map((it) => [it.dataset.version, it.querySelector('pre').textContent]); \
            return texts.length === 4 && Object.fromEntries(texts)";
        let texts = window.until(script, json!([])).await;
        for (version, method, role) in [
            ("0.1", "tasks/send", r#""role": "user""#),
            ("0.2", "message/send", r#""role": "user""#),
            ("0.3", "message/send", r#""role": "user""#),
            ("1.0", "SendMessage", r#""role": "ROLE_USER""#),
        ] {
            let text = texts[version].as_str().unwrap();
            assert!(
                text.contains(&format!(r#""method": "{method}""#)),
                "{version}: {text}"
            );
            assert!(text.contains(role), "{version}: {text}");
            assert!(text.contains("echo hi"), "{version}: {text}");
        }
        // Side by side, not one below the other.
        let script = "return new Set([...document.querySelectorAll('[data-view=versions] [data-version]')] \
            .map((it) => it.getBoundingClientRect().top)).size";
        assert_eq!(window.script(script, json!([])).await, 1);
        let newest = "[data-view=versions] [data-version='1.0']";
        window.see_text(newest, "as sent").await;
        window
            .see("[data-version='0.3'] .differs")
            .await;
        window.see_none(&format!("{newest} .differs")).await;
        window
            .click("[data-action=side][data-value=response]")
            .await;
        window
            .see_text(newest, r#""state": "TASK_STATE_COMPLETED""#)
            .await;
        window
            .see_text("[data-version='0.2']", r#""state": "completed""#)
            .await;
        window
            .click("[data-action=binding][data-value='HTTP+JSON']")
            .await;
        window.see_none("[data-version='0.1']").await;
        window.see_text(newest, "HTTP 200").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_request_is_sent_again_and_repaired() {
    browse(async |window| {
        let number = show_exchange(window, "echo hi", false).await;
        open_tab(window, "resend").await;
        let body = "[data-view=resend] [data-field=body]";
        window.fill(body, "{\"jsonrpc\": \"2.0\", ").await;
        window
            .see_text("[data-view=resend]", "The body is not JSON")
            .await;
        window.click("[data-action=send-again]").await;
        let answer = "[data-view=exchange] [aria-label=Response]";
        window
            .see_text(".detail-head", &format!("#{} ", number + 1))
            .await;
        window
            .see_text(&format!("{answer} .json"), r#""code": -32700"#)
            .await;
        window
            .see_text("[data-view=exchange] .facts", "edit and resend")
            .await;

        // The broken request is mended and sent again.
        open_tab(window, "resend").await;
        let request =
            json!({"jsonrpc": "2.0", "id": 7, "method": "GetTask", "params": {"id": "none"}});
        window.fill(body, &request.to_string()).await;
        window.see_none(".wrong").await;
        window.press_together(&[keys::CONTROL, keys::ENTER]).await;
        window
            .see_text(".detail-head", &format!("#{} ", number + 2))
            .await;
        window
            .see_text(&format!("{answer} .json"), r#""code": -32001"#)
            .await;
        window
            .see_text(&format!("{answer} .json"), r#""id": 7"#)
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_copied_as_curl_without_its_secret() {
    browse(async |window| {
        let url = started(builder(Reference::card(), Reference)).await;
        let settings = json!({"bearer": "CANARY"});
        let agent = window.page.connect(&url, settings).await;
        let agent = format!("/api/agents/{}", agent["id"].as_str().unwrap());
        let number = exchange_of(&window.page, &agent, "echo hi", false).await;
        window.go(&format!("/wire/{number}")).await;
        window.click("[data-action=copy-curl]").await;
        window
            .see_text("[data-notice=plain]", "Copied as curl")
            .await;
        let copied = window.clipboard().await;
        assert!(copied.starts_with("curl "), "{copied}");
        assert!(
            copied.contains(&url) && copied.contains("echo hi"),
            "{copied}"
        );
        assert!(!copied.contains("CANARY"), "{copied}");
        assert!(!window.text(".detail").await.contains("CANARY"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchanges_are_exported_as_har_and_as_a_recording() {
    browse(async |window| {
        show_exchange(window, "echo hi", false).await;
        let read = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        window.click("[data-action=export]").await;
        window.click("[data-action=export-har]").await;
        let (name, har) = window.downloaded(".har").await;
        assert_eq!(name, "a2a.har");
        let entries = read(&har)["log"]["entries"].as_array().unwrap().clone();
        // The card, and the message.
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[1]["response"]["status"], 200);
        let sent = entries[1]["request"]["postData"]["text"].as_str().unwrap();
        assert!(sent.contains("echo hi"), "{sent}");

        // Only what the filter shows is exported.
        window.fill("[data-field=filter]", "op:SendMessage").await;
        window.see_text("[data-field=count]", "1 of 2").await;
        window.click("[data-action=export]").await;
        window.click("[data-action=export-recording]").await;
        let (name, recording) = window.downloaded(".json").await;
        assert_eq!(name, "a2a-recording.json");
        assert!(recording.contains("echo hi"), "{recording}");
        assert!(!recording.contains("agent-card.json"), "{recording}");
    })
    .await;
}
