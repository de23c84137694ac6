//! Thousands of exchanges in the list of the wire.

use std::collections::BTreeSet;

use a2a_client::HttpClient;
use a2a_inspector::Inspector;
use axum::Router;
use axum::http::{StatusCode, Uri};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use super::browse_page;
use super::window::Window;
use crate::harness::{Page, router};

/// Returns the page of an inspector whose proxy has recorded this number of exchanges; one of a hundred was answered
/// with 404.
async fn recorded(exchanges: usize) -> Page {
    let page = Page::of(Inspector::builder()).await;
    let answer = async |uri: Uri| match uri.path().ends_with("07") {
        true => (StatusCode::NOT_FOUND, "none"),
        false => (StatusCode::OK, "{\"id\": \"task\"}"),
    };
    let upstream = router(|_| Router::new().fallback(answer)).await;
    let proxy = page
        .post(
            "/api/proxies",
            json!({"listen": "127.0.0.1:0", "upstream": upstream}),
        )
        .await;
    let (url, http) = (
        proxy["url"].as_str().unwrap().trim_end_matches('/'),
        HttpClient::default(),
    );
    let requests = (0..exchanges).map(|number| {
        let request =
            Request::get(format!("{url}/tasks/{number:05}")).body(Full::<Bytes>::default());
        async {
            http.fetch(request.unwrap())
                .await
                .unwrap()
                .into_body()
                .collect()
                .await
                .unwrap()
        }
    });
    stream::iter(requests)
        .buffer_unordered(16)
        .for_each(async |_| ())
        .await;
    page
}

/// Returns the numbers of the rows that are shown.
async fn rows(window: &Window) -> BTreeSet<u64> {
    let script = "return [...document.querySelectorAll('[data-row=exchange]')].filter((it) => it.checkVisibility())\
        .map((it) => Number(it.dataset.exchange))";
    let rows = window.script(script, json!([])).await;
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_u64().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_has_few_rows_and_a_filter_shows_its_matches() {
    browse_page(recorded(2000).await, async |window| {
        window.go("/wire").await;
        window.see_text("[data-field=count]", "2,000 exchanges").await;
        for (position, number) in [("0", 1), ("it.scrollHeight", 2000), ("it.scrollHeight / 2", 1000)] {
            let scroll = format!("const it = document.querySelector('[data-list=exchange]'); it.scrollTop = {position}");
            window.script(&scroll, json!([])).await;
            window.see(&format!("[data-row=exchange][data-exchange='{number}']")).await;
            let elements = window.count("[data-row=exchange]").await;
            assert!((10..=60).contains(&elements), "{elements} rows at {position}");
        }
        let log = window.page.get("/api/exchanges?limit=2000").await;
        let missing = log["exchanges"].as_array().unwrap().iter().filter(|one| one["status"] == 404);
        let missing: BTreeSet<_> = missing.map(|one| one["number"].as_u64().unwrap()).collect();
        assert_eq!(missing.len(), 20);
        window.fill("[data-field=filter]", "status:404").await;
        window.see_text("[data-field=count]", "20 of 2,000 exchanges").await;
        assert_eq!(rows(window).await, missing);
        window.fill("[data-field=filter]", "status:404 tasks/00107").await;
        window.see_text("[data-field=count]", "1 of 2,000 exchanges").await;
        window.see_text("[data-row=exchange]", "/tasks/00107").await;
        assert_eq!(rows(window).await.len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn figures_of_ten_thousand_exchanges() {
    browse_page(recorded(10_000).await, async |window| {
        window.go("/wire").await;
        window.see_text("[data-field=count]", "10,000 exchanges").await;
        let measure = "globalThis.times = []; globalThis.measuring = true; let last = performance.now(); \
            const list = document.querySelector('[data-list=exchange]'); list.scrollTop = 0; \
            const frame = (now) => { times.push(now - last); last = now; list.scrollTop += arguments[0]; \
                if (measuring) requestAnimationFrame(frame) }; requestAnimationFrame(frame)";
        window.script(measure, json!([1000])).await;
        window.until("return times.length >= 300", json!([])).await;
        print(window, "scrolling by 1,000 pixels a frame").await;
        window.script(measure, json!([0])).await;
        window.see("[data-field=filter]").await;
        window.script("document.querySelector('[data-field=filter]').focus()", json!([])).await;
        window.write("status:404 tasks/0").await;
        print(window, "typing a filter").await;
        window.chromium("HeapProfiler.collectGarbage", json!({})).await;
        let metrics = "return performance.memory.usedJSHeapSize";
        let heap = window.script(metrics, json!([])).await;
        let log = window.page.get("/api/exchanges?limit=1").await;
        println!("JavaScript heap {heap} bytes; log {} bytes", log["bytes"]);
    })
    .await;
}

/// Ends the measurement, and prints the times between frames.
async fn print(window: &Window, action: &str) {
    let script = "measuring = false; times.shift(); times.sort((a, b) => a - b); \
        const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1); \
        return [times.length, at(0.5), at(0.95), at(1)]";
    let times: Value = window.script(script, json!([])).await;
    println!("{action}: frames, median, 95 %, longest in ms: {times}");
}
