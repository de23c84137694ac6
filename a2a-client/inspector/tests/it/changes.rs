//! Changes that pages are told of.

use serde_json::json;

use crate::harness::{Page, reference};

#[tokio::test]
async fn every_page_learns_of_agents() {
    let page = Page::open().await;
    let mut one = page.events("GET", "/api/changes", None).await;
    let mut other = page.events("GET", "/api/changes", None).await;
    page.path_of(&reference().await).await;
    assert_eq!(one.named("agents").await, json!({}));
    assert_eq!(other.named("agents").await, json!({}));
}
