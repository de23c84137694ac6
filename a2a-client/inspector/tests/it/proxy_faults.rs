//! Faults of recording proxies, as callers see them.

use std::time::Duration;

use a2a_client::{Client, Error, HttpClient, ProtocolVersion, StreamExt, Timeouts};
use a2a_types::TaskState;
use serde_json::{Value, json};

use crate::exchanges::ended;
use crate::harness::{Page, reference};
use crate::proxy::{FORMS, Proxy, client, text, waiting};

#[tokio::test]
async fn a_cut_stream_is_resumed_without_loss() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let http2 = || HttpClient::builder().http2_only();
    let forms = FORMS
        .into_iter()
        .filter(|(protocol_version, _)| *protocol_version != ProtocolVersion::V0_1);
    let http1 = forms.map(|form| client(&proxy.url, form));
    for builder in http1.chain([Client::builder(&proxy.url).http(http2())]) {
        let client = builder.connect().await.unwrap();
        let before = proxy.exchanges(&page).await.len();
        proxy
            .fault(
                &page,
                json!({"kind": "cut", "afterEvents": 3, "once": true}),
            )
            .await;
        let mut updates = client.send("chunks 6").follow();
        assert_eq!(text(&mut updates).await, "1 2 3 4 5 6 ");
        assert_eq!(updates.reconnections(), 1);
        assert_eq!(proxy.set_fault(&page).await, Value::Null);
        let exchanges = proxy.exchanges(&page).await;
        let cut = &exchanges[before];
        assert_eq!(cut["state"], "failed");
        assert_eq!(cut["frames"], 3);
        assert_eq!(cut["failure"], "cut by the proxy after 3 events");
        assert_eq!(exchanges[before + 1]["operation"], "SubscribeToTask");
    }
}

#[tokio::test]
async fn a_fault_reaches_streams_that_are_open() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let client = Client::connect(&proxy.url).await.unwrap();
    let (mut updates, task) = waiting(&client).await;
    proxy
        .fault(
            &page,
            json!({"kind": "cut", "afterEvents": 0, "once": true}),
        )
        .await;
    client.cancel_task(task).await.unwrap();
    let mut last = None;
    while let Some(event) = updates.next().await {
        last = event.unwrap().status().map(|status| status.state);
    }
    assert_eq!(last, Some(TaskState::Canceled));
    let number = &proxy.exchanges(&page).await[0]["number"];
    let cut = ended(&page, number).await;
    let failure = cut["failure"].as_str().unwrap();
    assert!(failure.starts_with("cut by the proxy"), "{failure}");
    assert_eq!(updates.reconnections(), 1);
}

#[tokio::test]
async fn an_event_is_sent_twice() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let client = Client::connect(&proxy.url).await.unwrap();
    proxy
        .fault(
            &page,
            json!({"kind": "duplicate", "event": 3, "once": true}),
        )
        .await;
    assert_eq!(
        text(&mut client.send("chunks 4").follow()).await,
        "1 2 2 3 4 "
    );
    let number = &proxy.exchanges(&page).await[0]["number"];
    let exchange = page.get(&format!("/api/exchanges/{number}")).await;
    let frames = exchange["response"]["frames"].as_array().unwrap();
    assert_eq!(
        (&frames[2]["id"], &frames[2]["data"]),
        (&frames[3]["id"], &frames[3]["data"])
    );
    assert_ne!(frames[1]["id"], frames[2]["id"]);
    assert_ne!(frames[3]["id"], frames[4]["id"]);
    assert_eq!(proxy.set_fault(&page).await, Value::Null);
}

#[tokio::test]
async fn a_refused_call_is_made_again() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let client = Client::connect(&proxy.url).await.unwrap();
    let fault = json!({"kind": "status", "status": 503, "retryAfter": 0, "once": true});
    proxy.fault(&page, fault).await;
    assert_eq!(text(&mut client.send("chunks 1").follow()).await, "1 ");
    let exchanges = proxy.exchanges(&page).await;
    let statuses: Vec<_> = exchanges
        .iter()
        .map(|exchange| &exchange["status"])
        .collect();
    assert_eq!(statuses, [503, 200]);
    let refused = page
        .get(&format!("/api/exchanges/{}", exchanges[0]["number"]))
        .await;
    assert_eq!(refused["state"], "failed");
    let headers = refused["response"]["headers"].as_array().unwrap();
    assert!(
        headers.contains(&json!(["retry-after", "0"])),
        "{headers:?}"
    );
    // A fault that stays answers every call, and the card is found all the same.
    proxy
        .fault(&page, json!({"kind": "status", "status": 404}))
        .await;
    let client = Client::connect(&proxy.url).await.unwrap();
    for _ in 0..2 {
        assert!(client.get_task("t", None).await.is_err());
        assert_eq!(proxy.exchanges(&page).await.last().unwrap()["status"], 404);
    }
    proxy.fault(&page, Value::Null).await;
    assert!(matches!(
        client.get_task("t", None).await,
        Err(Error::Agent(_))
    ));
}

#[tokio::test]
async fn a_delayed_answer_comes_too_late() {
    let page = Page::open().await;
    let proxy = Proxy::to(&page, &reference().await).await;
    let mut timeouts = Timeouts::default();
    timeouts.first_byte = Duration::from_secs(2);
    let hasty = HttpClient::builder().timeouts(timeouts);
    let hasty = Client::builder(&proxy.url).http(hasty);
    let hasty = hasty.connect_at(ProtocolVersion::V1_0).unwrap();
    let hasty = hasty.retries(a2a_client::Retries::none());
    let delay = json!({"kind": "delay", "ms": 60_000, "once": true});
    proxy.fault(&page, delay).await;
    assert!(matches!(
        hasty.get_task("t", None).await,
        Err(Error::Timeout { .. })
    ));
    assert_eq!(proxy.set_fault(&page).await, Value::Null);
    let number = &proxy.exchanges(&page).await[0]["number"];
    let exchange = ended(&page, number).await;
    assert_eq!(
        exchange["failure"],
        "the caller did not wait for the answer"
    );
    let client = Client::connect(&proxy.url).await.unwrap();
    assert!(matches!(
        client.get_task("t", None).await,
        Err(Error::Agent(_))
    ));
}
