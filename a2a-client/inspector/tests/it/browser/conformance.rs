//! Screen of the conformance suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::browse;
use super::faulty_agent::faulty_agent;
use super::window::Window;

/// Makes a run of a few checks in one version and binding, and waits for its end.
async fn run(window: &Window) {
    window.go("/conformance/new").await;
    for field in [
        "version-0.1",
        "version-0.2",
        "version-0.3",
        "binding-HTTP+JSON",
    ] {
        window.click(&format!("[data-field='{field}']")).await;
    }
    run_checks(window).await;
}

/// Makes a run of a few checks in the versions and bindings that the form has, and waits for its end.
pub(super) async fn run_checks(window: &Window) {
    window.click("[data-field=instrumented]").await;
    window
        .fill("[data-field=run]", "cancel.unknown, task.get")
        .await;
    window.click("[data-action=start-run]").await;
    window.see("[data-view=run][data-state=done]").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_is_shown_with_its_exchange_and_its_repair_by_a_comparison() {
    browse(async |window| {
        let is_faulty = Arc::new(AtomicBool::new(true));
        window.connect(&faulty_agent(is_faulty.clone()).await).await;
        run(window).await;
        window.see_text(".run-verdict", "1 check is not met.").await;
        window
            .see("[data-row=check][data-check='task.get'][data-verdict=pass]")
            .await;
        window.see_text(".score-card", "1.0 JSONRPC").await;
        window.click("[data-action=show-check]").await;
        let check = "[data-row=check][data-check='cancel.unknown']";
        window.see_text(&format!("{check} .rule"), "Task").await;
        window
            .see_text(&format!("{check} [data-row=mismatch]"), "-32602")
            .await;
        window
            .see_text(&format!("{check} [data-row=evidence]"), "CancelTask")
            .await;
        let address = window.script("return location.hash", json!([])).await;
        assert!(
            address.as_str().unwrap().ends_with("/cancel.unknown"),
            "{address}"
        );

        window
            .click_text(&format!("{check} [data-action=copy]"), "curl")
            .await;
        window.see_text(".toast", "Copied").await;
        let copied = window.clipboard().await;
        assert!(
            copied.starts_with("curl ") && copied.contains("CancelTask"),
            "{copied}"
        );

        window.click("[data-action=report]").await;
        window.click("[data-action=report-json]").await;
        let (_, report) = window.downloaded(".json").await;
        let report: Value = serde_json::from_str(&report).unwrap();
        let verdicts: Vec<_> = report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["verdict"])
            .collect();
        assert!(
            verdicts.contains(&&json!("fail")) && verdicts.contains(&&json!("pass")),
            "{verdicts:?}"
        );

        is_faulty.store(false, Ordering::SeqCst);
        run(window).await;
        window
            .see_text(
                ".run-verdict",
                "Everything that is required and was tested is met.",
            )
            .await;
        window.click("[data-action=compare]").await;
        window.click_text("[role=menuitem]", "From").await;
        window
            .see_text(
                "[data-view=comparison]",
                "No check got worse. 1 verdict changed",
            )
            .await;
        let change = "[data-kind=better] [data-row=change][data-check='cancel.unknown']";
        window.see_text(change, "not met→met").await;
        window.click(change).await;
        window
            .see("[data-view=run] [data-check='cancel.unknown'][open]")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_stopped_keeps_its_verdicts() {
    browse(async |window| {
        window.connect(&faulty_agent(Arc::default()).await).await;
        window.go("/conformance/new").await;
        window.click("[data-field=instrumented]").await;
        window.fill("[data-field=jobs]", "1").await;
        window.click("[data-action=start-run]").await;
        window.see("[data-row=check]").await;
        window.click("[data-action=interrupt]").await;
        window.see("[data-view=run][data-state=interrupted]").await;
        window.see_text(".run-verdict", "Interrupted.").await;
        assert!(window.count("[data-row=check]").await > 0);
    })
    .await;
}
