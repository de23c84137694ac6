//! The page without a mouse.

use serde_json::{Value, json};

use super::browse;
use super::window::{Window, keys};
use crate::harness::joker;

/// Fails if the focus is not in such an element, or if nothing shows that it is.
async fn check_focus(window: &Window, selector: &str) {
    let is_focused = "return document.activeElement.matches(arguments[0])";
    window.until(is_focused, json!([selector])).await;
    let shown = focus(window).await;
    assert_eq!(shown["isVisible"], true, "{selector} {shown}");
}

/// Returns the element that has the focus, and whether an outline or a shadow shows it, on the element or on what
/// stands for it.
async fn focus(window: &Window) -> Value {
    let script = "const element = document.activeElement; \
        const active = document.getElementById(element.getAttribute('aria-activedescendant')); \
        const isShown = (it) => { const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(it); \
            return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 || boxShadow !== 'none' }; \
        const isVisible = [element, active, element.closest('.composer, dialog')].some((it) => it && isShown(it)); \
        return {isVisible, element: element.cloneNode().outerHTML}";
    window.script(script, json!([])).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_main_flow_needs_the_keyboard_alone() {
    browse(async |window| {
        check_focus(window, "[data-screen=connect] [data-field=url]").await;
        window.write(&joker().await).await;
        window.press(keys::ENTER).await;
        window.see("[data-screen=card]").await;

        window.press('3').await;
        window.see("[data-screen=chat]").await;
        window.press(keys::ESCAPE).await;
        window.press('m').await;
        check_focus(window, "[data-field=message]").await;
        window.write("tell me a joke").await;
        window.press(keys::ENTER).await;
        window.see("[data-form=input-required]").await;
        check_focus(window, "[data-field=answer]").await;
        window.write("chickens").await;
        window.press(keys::ENTER).await;
        window
            .see_text("[data-screen=chat] [data-row=task] .pill", "completed")
            .await;
        check_focus(window, "[data-field=message]").await;

        window.press(keys::ESCAPE).await;
        window.press('5').await;
        window.see("[data-screen=wire]").await;
        window.press('j').await;
        window.see("[data-view=detail][data-exchange='1']").await;
        window.press('j').await;
        window.see("[data-view=detail][data-exchange='2']").await;
        window.press('k').await;
        window.see("[data-view=detail][data-exchange='1']").await;
        window.press('j').await;
        window.press('e').await;
        window.see("[data-view=resend]").await;
        window.press(keys::ESCAPE).await;
        window.see_none("[data-view=detail]").await;
        check_focus(window, "[data-list=exchange]").await;
        window.press(keys::DOWN).await;
        window.see("[data-view=exchange]").await;
        check_focus(window, "[data-list=exchange]").await;

        window.press_together(&[keys::CONTROL, 'k']).await;
        check_focus(window, "[data-field=palette]").await;
        window.write("tasks").await;
        window.press(keys::ENTER).await;
        window.see("[data-screen=tasks] [data-row=task]").await;
        window.press('j').await;
        window.see("[data-view=task] [data-row=event]").await;
        window.press('?').await;
        window.see_text("dialog", "Next task").await;
        window.press(keys::ESCAPE).await;
        window.see_none("dialog").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tab_reaches_controls_and_shows_where_it_is() {
    browse(async |window| {
        let agent = window.connect(&joker().await).await;
        for route in [
            "/connect".to_owned(),
            format!("/card/{agent}"),
            "/tasks".to_owned(),
            "/wire/1".to_owned(),
        ] {
            window.go(&route).await;
            window
                .script("document.querySelector('.skip').focus()", json!([]))
                .await;
            let mut seen = Vec::new();
            for _ in 0..30 {
                window.press(keys::TAB).await;
                let found = focus(window).await;
                let element = found["element"].as_str().unwrap().to_owned();
                // After the last control the browser has the focus.
                if !element.starts_with("<body") {
                    assert_eq!(found["isVisible"], true, "{route}: {element}");
                }
                seen.push(element);
            }
            for control in [
                "data-action=\"switch-agent\"",
                "data-nav=\"wire\"",
                "data-action=\"palette\"",
            ] {
                assert!(
                    seen.iter().any(|it| it.contains(control)),
                    "{route}: {control} in {seen:#?}"
                );
            }
            seen.sort();
            seen.dedup();
            assert!(seen.len() >= 15, "{route}: {seen:#?}");
        }
    })
    .await;
}
