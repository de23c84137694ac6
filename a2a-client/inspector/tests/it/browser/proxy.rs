//! Screen of the proxies, and the page as a client that goes through one.

use std::time::Duration;

use a2a_client::{Client, StreamExt};
use a2a_types::ListTasksRequest;
use serde_json::json;

use super::browse;
use super::paced::Paced;
use super::stream::{ARTIFACT, say, see_exactly};
use super::window::Window;
use crate::harness::reference;

/// Starts a proxy on the page, and returns its URL.
async fn start_proxy(window: &Window, upstream: &str) -> String {
    window.go("/proxy").await;
    window.click("[data-action=add-proxy]").await;
    window
        .fill("[data-view=new-proxy] [data-field=upstream]", upstream)
        .await;
    window.click("[data-action=start-proxy]").await;
    window
        .see_text("[data-row=proxy]", upstream.trim_end_matches('/'))
        .await;
    window.text("[data-row=proxy] .proxy-address").await
}

/// Sets a fault on the page that happens once, or until it is removed.
async fn set_fault(window: &Window, kind: &str, values: &[(&str, &str)], once: bool) {
    window.go("/proxy").await;
    let proxy = "[data-row=proxy]";
    window
        .choose(&format!("{proxy} [data-field=faultKind]"), kind)
        .await;
    for (field, value) in values {
        window
            .fill(&format!("{proxy} [data-field={field}]"), value)
            .await;
    }
    let script = "return document.querySelector('[data-field=once]').checked";
    if window.script(script, json!([])).await != once {
        window.click(&format!("{proxy} [data-field=once]")).await;
    }
    window
        .click(&format!("{proxy} [data-action=set-fault]"))
        .await;
    window
        .see_text(
            &format!("{proxy} [data-fault={kind}]"),
            if once { "once" } else { "every time" },
        )
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_is_recorded() {
    browse(async |window| {
        let url = start_proxy(window, &reference().await).await;
        window
            .see_text("[data-action=show-exchanges]", "0 requests")
            .await;
        let client = Client::connect(&url).await.unwrap();
        let mut updates = client.send("wait").follow();
        let first = updates.next().await.unwrap().unwrap();
        window
            .see_text("[data-action=show-exchanges]", "2 requests")
            .await;
        // An exchange of the page's own is not the proxy's.
        window.page.path_of(&reference().await).await;
        window.click("[data-action=show-exchanges]").await;
        window.see_text("[data-field=count]", "2 of 3").await;
        let open = "[data-row=exchange][data-state=open]";
        window.see_text(open, "SendStreamingMessage").await;
        window.see_text(open, "proxy").await;
        client
            .cancel_task(first.task_id().unwrap().clone())
            .await
            .unwrap();
        while updates.next().await.is_some() {}
        window
            .see_text("[data-row=exchange][data-state=done]", "CancelTask")
            .await;
        window.see_none(open).await;

        window.go("/proxy").await;
        window.click("[data-action=stop-proxy]").await;
        window.see_none("[data-row=proxy]").await;
        // It may have a connection that is about to be closed.
        let refused =
            async { while client.list_tasks(ListTasksRequest::default()).await.is_ok() {} };
        tokio::time::timeout(Duration::from_secs(30), refused)
            .await
            .expect("a proxy that was stopped is gone");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_cut_is_followed_again_without_a_gap() {
    browse(async |window| {
        let (agent, url) = Paced::start(100).await;
        let url = start_proxy(window, &url).await;
        set_fault(window, "cut", &[("afterEvents", "4")], true).await;
        window.connect(&url).await;
        window.go("/chat").await;
        say(window, "count").await;
        // Each chunk becomes an event of its own: the server joins only chunks that wait.
        for chunks in 1..=3 {
            agent.allow(1);
            see_exactly(window, &Paced::text(chunks)).await;
        }
        agent.allow(57);
        see_exactly(window, &Paced::text(60)).await;
        agent.allow(40);
        let ended = "[data-row=task][data-state=completed][data-live=false]";
        window.see_text(ended, "1 reconnection").await;
        see_exactly(window, &Paced::text(100)).await;
        assert_eq!(window.count("[data-row=task]").await, 1);
        window.go("/proxy").await;
        window.see("[data-fault=none]").await;
        window.go("/wire").await;
        window
            .see_text("[data-state=failed]", "cut by the proxy after 4 events")
            .await;
    })
    .await;
}

/// Waits until the stream has ended with an error, or the answer has this text; returns whether it has.
async fn goes_on(window: &Window, text: &str) -> bool {
    let script = "if (document.querySelector('[data-row=task][data-live=false] .error-box')) return 'lost'; \
        return document.querySelector(arguments[0])?.innerText.trim() === arguments[1] && 'goes on'";
    window.until(script, json!([ARTIFACT, text])).await == "goes on"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_lost_is_resumed_by_the_user() {
    browse(async |window| {
        let (agent, url) = Paced::start(100).await;
        let url = start_proxy(window, &url).await;
        let id = window.connect(&url).await;
        window.go("/chat").await;
        say(window, "count").await;
        agent.allow(10);
        see_exactly(window, &Paced::text(10)).await;
        let mut chunks = 10;
        loop {
            set_fault(window, "cut", &[("afterEvents", "0")], false).await;
            agent.allow(1);
            chunks += 1;
            window.go("/wire").await;
            window
                .see_text("[data-state=failed]", "cut by the proxy")
                .await;
            // Until this the client connects again by itself.
            set_fault(window, "status", &[("status", "404")], false).await;
            window.go(&format!("/chat/{id}")).await;
            // A subscription that is on its way while the fault changes meets neither.
            if !goes_on(window, &Paced::text(chunks)).await {
                break;
            }
        }
        agent.allow(60 - chunks);
        window
            .see_text("[data-row=task][data-live=false] .error-box", "404")
            .await;
        window.go("/proxy").await;
        window.click("[data-action=clear-fault]").await;
        window.see("[data-fault=none]").await;
        window.go(&format!("/chat/{id}")).await;
        window.click("[data-action=resume]").await;
        see_exactly(window, &Paced::text(60)).await;
        window.see_none(".error-box").await;
        agent.allow(40);
        window.see("[data-row=task][data-state=completed]").await;
        see_exactly(window, &Paced::text(100)).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_faults_are_set_and_removed() {
    browse(async |window| {
        let url = start_proxy(window, &reference().await).await;
        set_fault(window, "delay", &[("ms", "60000")], false).await;
        window
            .see_text("[data-fault=delay]", "Holds a request back for 60000 ms, every time")
            .await;
        window.click("[data-action=clear-fault]").await;
        window.see("[data-fault=none]").await;

        window.connect(&url).await;
        let values = [("status", "503"), ("retryAfter", "0")];
        set_fault(window, "status", &values, true).await;
        window.go("/chat").await;
        say(window, "echo hi").await;
        see_exactly(window, "hi").await;
        window.go("/wire?q=source%3Aproxy").await;
        window.see_text("[data-row=exchange][data-state=failed]", "503").await;

        set_fault(window, "duplicate", &[("event", "2")], true).await;
        window.go("/chat").await;
        say(window, "chunks 2").await;
        window
            .see("[data-row=task][data-state=completed] ~ [data-row=task][data-state=completed]")
            .await;
        window.go("/wire?q=op:SendStreamingMessage").await;
        // The last of six exchanges: each of three messages is recorded by its sender and by the proxy.
        window.click("[data-exchange='8']").await;
        let script = "const ids = [...document.querySelectorAll('[data-frame] [title=id]')].map((it) => it.textContent); \
            return ids.length > 3 && ids[1] === ids[2] && ids[2] !== ids[3]";
        window.until(script, json!([])).await;
    })
    .await;
}
