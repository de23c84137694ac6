//! Every screen with content, judged by axe, in light and dark, wide and narrow.

use serde_json::{Value, json};

use super::browse;
use super::scenario::play;
use super::window::Window;

/// axe-core 4.14.1 from npm, as published; under the MPL 2.0.
const AXE: &str = include_str!("axe.min.js");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn screens_have_no_serious_violation_and_fit_any_width() {
    browse(async |window| {
        let scenario = play(window, "cancel.unknown").await;
        window.script(AXE, json!([])).await;
        let mut problems = Vec::new();
        let is_exhaustive = std::env::var_os("A2A_EXHAUSTIVE").is_some();
        let views = &VIEWS[..if is_exhaustive { VIEWS.len() } else { 2 }];
        for (name, route, selector) in &scenario.screens {
            window.go(route).await;
            window.see(selector).await;
            for &(width, theme, rules) in views {
                theme_is(window, theme).await;
                window.resize(width, 800).await;
                let found = violations(window, rules).await;
                problems.extend(
                    found
                        .iter()
                        .map(|found| format!("{name} {width} {theme}: {found}")),
                );
                let is_wider = "return document.documentElement.scrollWidth > innerWidth";
                if window.script(is_wider, json!([])).await == true {
                    problems.push(format!(
                        "{name} {width}: the document is wider than the window"
                    ));
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_violation_is_found() {
    browse(async |window| {
        window.script(AXE, json!([])).await;
        let broken = "const main = document.querySelector('main'); main.append(document.createElement('button')); \
            const text = document.createElement('p'); text.textContent = 'text'; text.style.color = '#777'; \
            text.style.background = '#666'; text.style.position = 'fixed'; text.style.inset = '4rem 4rem auto auto'; main.append(text)";
        window.script(broken, json!([])).await;
        for (rules, rule) in [("all", "button-name"), ("color-contrast", "color-contrast")] {
            let found = violations(window, rules).await;
            assert!(found.iter().any(|it| it["rule"] == rule), "{rule}: {found:?}");
        }
    })
    .await;
}

/// Chooses light or dark, as the system would.
async fn theme_is(window: &Window, theme: &str) {
    let media = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
    window.chromium("Emulation.setEmulatedMedia", media).await;
}

/// Returns the violations of these rules whose impact is serious or critical.
async fn violations(window: &Window, rules: &str) -> Vec<Value> {
    let run = "return axe.run(document, {resultTypes: ['violations'], ...arguments[0]}).then(({violations}) => violations\
        .filter(({impact}) => impact === 'serious' || impact === 'critical')\
        .flatMap(({id, nodes}) => nodes.map(({target, failureSummary}) => ({rule: id, target, why: failureSummary}))))";
    let rules = match rules {
        "all" => json!({}),
        rule => json!({"runOnly": [rule]}),
    };
    let found = window.script(run, json!([rules])).await;
    found.as_array().unwrap().clone()
}

/// Width, theme and rules. Of a theme only contrast depends, and of the greatest width nothing but the layout. The first
/// two are tested on every run, and all of them with `A2A_EXHAUSTIVE=1`.
const VIEWS: [(u32, &str, &str); 5] = [
    (1280, "light", "all"),
    (360, "dark", "color-contrast"),
    (360, "light", "all"),
    (1280, "dark", "color-contrast"),
    (2560, "light", "color-contrast"),
];
