//! Recorded exchanges: complete, in order, and without secrets.

use std::path::Path;
use std::sync::Arc;

use a2a_client::recorder::Exchange;
use a2a_client::{Client, Error, HttpClient, ProtocolVersion, Recorder, Retries, StreamExt};
use http::header::{AUTHORIZATION, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Starts a server that answers each connection with the next of these texts, and closes it.
async fn says(texts: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for text in texts {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(text.as_bytes()).await;
        }
    });
    url
}

fn read(directory: &Path, number: u32) -> Exchange {
    let text = std::fs::read_to_string(directory.join(format!("{number:04}.json")));
    serde_json::from_str(&text.unwrap()).unwrap()
}

#[tokio::test]
async fn exchanges_are_recorded() {
    let task = r#"{"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}"#;
    let length = task.len();
    let stream = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"task\":{\"id\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_WORKING\"}}}}\n\n";
    let url = says(vec![
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\nx-of: agent\r\n\r\n{task}"),
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{stream}"),
        "nonsense".to_owned(),
    ])
    .await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("0007.json"), "mine").unwrap();
    let recorder = Arc::new(Recorder::into(path).unwrap());
    let client = Client::builder(&url)
        .header(AUTHORIZATION, HeaderValue::from_static("Bearer s3cret"))
        .http(HttpClient::builder().wire_observer(recorder))
        .connect_at(ProtocolVersion::V1_0)
        .unwrap()
        .retries(Retries::none());

    client.get_task("t", None).await.unwrap();
    let found = read(path, 8);
    assert_eq!(
        (&*found.request.method, found.request.url),
        ("POST", url.clone())
    );
    assert_eq!(found.request.headers["authorization"], "***");
    assert_eq!(found.request.headers["a2a-version"], "1.0");
    assert!(found.request.body.contains("GetTask"));
    let response = found.response.unwrap();
    assert_eq!((response.status, &*response.body), (200, task));
    assert_eq!(response.headers["x-of"], "agent");
    assert_eq!(found.failure, None);

    let mut updates = client.subscribe("t").await.unwrap();
    updates.next().await.unwrap().unwrap();
    drop(updates);
    let found = read(path, 9);
    assert_eq!(found.response.unwrap().body, stream);

    let broken = client.get_task("t", None).await;
    assert!(matches!(broken, Err(Error::Connection(_))), "{broken:?}");
    let found = read(path, 10);
    assert_eq!(found.response, None);
    assert!(found.failure.unwrap().contains("the connection broke"));
    assert_eq!(
        std::fs::read_to_string(path.join("0007.json")).unwrap(),
        "mine"
    );
}
