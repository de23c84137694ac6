//! Pictures of the screens, for the documentation.

use std::path::Path;

use serde_json::json;

use super::browse;
use super::scenario::play;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes pictures: cargo xtask pictures"]
async fn pictures_of_all_screens_are_written() {
    let folder =
        std::env::var_os("A2A_PICTURES").expect("A2A_PICTURES names the folder of the pictures");
    browse(async |window| {
        let picture = async |name: &str| {
            window
                .picture(&Path::new(&folder).join(format!("{name}.png")))
                .await
        };
        let scenario = play(window, "cancel.* list.* task.*").await;
        window.see_none(".toast").await;
        // The mouse is over no element.
        let away = json!({"type": "mouseMoved", "x": 0, "y": 0});
        window.chromium("Input.dispatchMouseEvent", away).await;
        for (name, route, selector) in &scenario.screens {
            window.go(route).await;
            window.see(selector).await;
            // The first line in sight of a conversation is whole.
            let scroll = "document.querySelector('[data-scroll=chat]')?.scrollBy(0, -18)";
            window.script(scroll, json!([])).await;
            picture(name).await;
        }
        window.go(scenario.route("wire")).await;
        let scroll = "document.querySelector('[aria-label=Response]').scrollIntoView(); \
            document.querySelector('[data-scroll=detail]').scrollBy(0, -12)";
        window.script(scroll, json!([])).await;
        picture("wire").await;
        window
            .go(&format!("{}/cancel.unknown", scenario.route("conformance")))
            .await;
        window.see("[data-row=mismatch]").await;
        picture("check").await;
        let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
        window.chromium("Emulation.setEmulatedMedia", dark).await;
        window.resize(1600, 1000).await;
        window
            .go(&format!("{}/versions", scenario.route("wire")))
            .await;
        window.see("[data-version='1.0']").await;
        picture("versions").await;
    })
    .await;
}
