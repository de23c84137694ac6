//! Screen of an agent's tasks.

use a2a_server::WebhookPolicy;
use a2a_server::demo::Reference;
use serde_json::json;

use super::browse;
use super::paced::Paced;
use super::window::Window;
use crate::harness::{builder, message, reference, started, task_of};

const ROWS: &str = "[data-list=task] [data-row=task]";

/// Sends a message without the window, and returns the id of its task once the agent has begun it.
async fn begin(window: &Window, agent: &str, text: &str) -> String {
    let sent = json!({"message": message(text), "configuration": {"returnImmediately": true}});
    let path = format!("/api/agents/{agent}");
    task_of(&window.page.message(&path, sent).await)
}

/// Sends a message without the window, and returns the id of its task at its end.
async fn finish(window: &Window, agent: &str, text: &str) -> String {
    let path = format!("/api/agents/{agent}");
    task_of(
        &window
            .page
            .message(&path, json!({"message": message(text)}))
            .await,
    )
}

/// Waits until the timeline has exactly these sequence numbers, in this order.
async fn see_sequences(window: &Window, expected: impl Iterator<Item = u64>) {
    let expected: Vec<_> = expected.map(|number| number.to_string()).collect();
    let script = "return JSON.stringify([...document.querySelectorAll('.timeline [data-row=event]')]\
        .map((it) => it.dataset.sequence)) === JSON.stringify(arguments[0])";
    window.until(script, json!([expected])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_listed_by_state_context_and_page() {
    browse(async |window| {
        let agent = window.connect(&reference().await).await;
        for number in 1..=11 {
            finish(window, &agent, &format!("echo {number}")).await;
        }
        let asked = finish(window, &agent, "ask which phone?").await;
        window.go(&format!("/tasks/{agent}")).await;
        let pager = ".pager [role=status]";
        window.see_text(pager, "1–12 of 12 tasks").await;
        window.choose("[data-field=pageSize]", "10").await;
        window.see_text(pager, "1–10 of 12 tasks").await;
        assert_eq!(window.count(ROWS).await, 10);
        window.click("[data-action=next-page]").await;
        window.see_text(pager, "11–12 of 12 tasks").await;
        assert_eq!(window.count(ROWS).await, 2);
        window.see("[data-action=next-page]:disabled").await;
        window.click("[data-action=previous-page]").await;
        window.see_text(pager, "1–10 of 12 tasks").await;

        window
            .choose("[data-field=state]", "TASK_STATE_INPUT_REQUIRED")
            .await;
        window.see_text(pager, "1–1 of 1 task").await;
        window
            .see_text(
                &format!("{ROWS}[data-state=input-required]"),
                "which phone?",
            )
            .await;
        window.choose("[data-field=state]", "").await;
        window.see_text(pager, "of 12 tasks").await;
        let path = format!("/api/agents/{agent}/tasks/{asked}");
        let context = window.page.get(&path).await["contextId"].clone();
        window
            .fill("[data-field=contextId]", context.as_str().unwrap())
            .await;
        window.see_text(pager, "1–1 of 1 task").await;
        window.see(&format!("{ROWS}[data-task='{asked}']")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_task_is_subscribed_to_and_canceled() {
    browse(async |window| {
        let (paced, url) = Paced::start(100).await;
        let agent = window.connect(&url).await;
        let task = begin(window, &agent, "count").await;
        window.go(&format!("/tasks/{agent}")).await;
        window.click(&format!("{ROWS}[data-task='{task}']")).await;
        window.see_text(".timeline-none", "No events yet").await;
        window.click("[data-action=subscribe]").await;
        window.see_text(".timeline-bar", "following").await;
        window.see(".timeline [data-kind=task]").await;
        for sequence in 2..=4 {
            paced.allow(1);
            let text = format!(".timeline [data-kind=artifact][data-sequence='{sequence}'] .grow");
            window.see_text(&text, &format!("{}", sequence - 1)).await;
        }
        window.click("[data-view=task] [data-action=cancel]").await;
        window
            .see_text(".timeline [data-kind=status]:last-child", "canceled")
            .await;
        window.see(".detail-head [data-state=canceled]").await;
        window
            .see(&format!("{ROWS}[data-task='{task}'][data-state=canceled]"))
            .await;
        window.see("[data-action=subscribe]").await;
        window
            .see_none("[data-view=task] [data-action=cancel]")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_found_by_its_id_and_its_events_are_read_again_after_a_number() {
    browse(async |window| {
        let agent = window.connect(&reference().await).await;
        let task = finish(window, &agent, "chunks 5 1").await;
        window.go(&format!("/tasks/{agent}")).await;
        window.fill("[data-field=taskId]", &task).await;
        window.click("[data-action=open-task]").await;
        window
            .see(&format!(
                "[data-view=task][data-task='{task}'] [data-state=completed]"
            ))
            .await;
        // The task as it began is 1, the chunks are 2 to 6, and the end is 7.
        window.fill("[data-field=after]", "4").await;
        window.click("[data-action=resume-after]").await;
        see_sequences(window, 5..=7).await;
        window.click("[data-action=replay]").await;
        see_sequences(window, 2..=7).await;
        let last = ".timeline [data-sequence='6']";
        window.see_text(last, "chunks (more, last)").await;
        window.click(&format!("{last} summary")).await;
        window
            .see_text(&format!("{last} .json"), r#""lastChunk": true"#)
            .await;
        window.click("[data-action=resume-from]").await;
        window.see("[data-action=replay]").await;
        see_sequences(window, 2..=7).await;

        let tab = async |name: &str| {
            let tab = format!("[data-view=task] [data-action=tab][data-value={name}]");
            window.click(&tab).await;
        };
        tab("content").await;
        window
            .see_text("[data-view=content] [data-row=artifact]", "1 2 3 4 5")
            .await;
        window
            .see_text("[data-view=content] [data-row=message]", "chunks 5 1")
            .await;
        tab("json").await;
        window
            .see_text(
                "[data-view=task] .json",
                r#""state": "TASK_STATE_COMPLETED""#,
            )
            .await;
        window.fill("[data-field=taskId]", "none").await;
        window.click("[data-action=open-task]").await;
        window.see("[data-view=task] .error-box").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_of_a_task_is_added_and_removed() {
    browse(async |window| {
        let mut card = Reference::card();
        card.capabilities.push_notifications = Some(true);
        let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
        let url = started(builder(card, Reference).webhooks(policy)).await;
        let agent = window.connect(&url).await;
        let task = finish(window, &agent, "ask which?").await;
        window.go(&format!("/tasks/{agent}/{task}/webhooks")).await;
        window
            .see_text("[data-view=webhooks]", "None is set for this task.")
            .await;
        let [hook, token] = ["webhookUrl", "webhookToken"]
            .map(|name| format!("[data-view=webhooks] [data-field={name}]"));
        window.fill(&hook, "nowhere").await;
        window.click("[data-action=add-webhook]").await;
        window
            .see_text("[data-view=webhooks] .wrong", "Expected")
            .await;
        window.fill(&hook, "http://127.0.0.1:1/hook").await;
        window.fill(&token, "CANARY").await;
        window.click("[data-action=add-webhook]").await;
        let row = "[data-row=webhook]";
        window.see_text(row, "http://127.0.0.1:1/hook").await;
        window.see_text(row, "with a token").await;
        let shown = window.text("[data-view=webhooks]").await;
        assert!(!shown.contains("CANARY"), "{shown}");
        window.click("[data-action=remove-webhook]").await;
        window.see_none(row).await;
        window
            .see_text("[data-view=webhooks]", "None is set for this task.")
            .await;
    })
    .await;
}
