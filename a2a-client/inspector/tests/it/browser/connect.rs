//! Screen of the connections.

use super::browse;
use crate::harness::{joker, reference};

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
