//! Deliveries whose handler succeeds, fails or is slow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_client::webhook::{BoxError, Notification, Receiver};
use a2a_transport::http::Body;
use tokio::sync::Semaphore;

use crate::webhook::hook::{Post, TASK, post, serving};

#[tokio::test]
async fn the_sender_tries_again_until_the_function_succeeds() {
    let tries = Arc::new(Mutex::new(HashMap::<String, usize>::new()));
    let counted = Arc::clone(&tries);
    let handler = move |notification: Notification| {
        let delivery = notification.delivery.unwrap();
        let mut tries = counted.lock().unwrap();
        let tries = tries.entry(delivery).or_default();
        *tries += 1;
        let result = match *tries {
            1 | 2 => Err("the database is away, its password is hunter2"),
            _ => Ok(()),
        };
        std::future::ready(result)
    };
    let address = serving(Receiver::builder(handler).build().unwrap()).await;
    let request = Post::new(TASK).with("webhook-id", "msg_1");
    for expected in [503, 503, 200, 200] {
        let (status, answer) = post(&address, &request).await;
        assert_eq!(status, expected);
        assert!(!answer.contains("hunter2"));
        assert_eq!(answer.contains("retry-after"), status == 503);
    }
    assert_eq!(tries.lock().unwrap()["msg_1"], 3);
}

#[tokio::test]
async fn a_delivery_that_is_being_handled_is_not_handled_twice() {
    let (begun, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (begins, waits) = (Arc::clone(&begun), Arc::clone(&go));
    let handler = move |_: Notification| {
        let (begun, go) = (Arc::clone(&begins), Arc::clone(&waits));
        async move {
            begun.add_permits(1);
            go.acquire().await.map(|permit| permit.forget())
        }
    };
    let address = serving(Receiver::builder(handler).build().unwrap()).await;
    let request = Post::new(TASK).with("webhook-id", "msg_1");
    let first = tokio::spawn({
        let (address, request) = (address.clone(), request.clone());
        async move { post(&address, &request).await.0 }
    });
    begun.acquire().await.unwrap().forget();
    assert_eq!(post(&address, &request).await.0, 503);
    go.add_permits(1);
    assert_eq!(first.await.unwrap(), 200);
    assert_eq!(post(&address, &request).await.0, 200);
    assert_eq!(begun.available_permits(), 0, "handled once");
}

/// Time is paused, so it passes whenever nothing else can happen.
#[tokio::test(start_paused = true)]
async fn handlers_and_request_bodies_time_out() {
    let begun = tokio::time::Instant::now();
    let never = || Receiver::builder(|_| std::future::pending::<Result<(), BoxError>>());
    let receiver = never().build().unwrap();
    let request = |body| http::Request::post("/").body(body).unwrap();
    let answer = receiver.handle(request(Body::full(TASK))).await;
    assert_eq!(answer.status(), 503);
    assert_eq!(begun.elapsed(), Duration::from_secs(10));

    let silent = tokio_stream::pending::<Result<hyper::body::Frame<bytes::Bytes>, BoxError>>();
    let silent = http::Request::post("/").body(http_body_util::StreamBody::new(silent));
    assert_eq!(receiver.handle(silent.unwrap()).await.status(), 408);
    assert_eq!(begun.elapsed(), Duration::from_secs(20));
}
