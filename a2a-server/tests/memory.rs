//! Bad input costs little memory. One test alone in its process, so that nothing else is measured.

#[path = "it/stores/mod.rs"]
mod stores;
#[path = "it/wire/mod.rs"]
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, SendMessageResponse};
use a2a_server::{Append, Failure, MemoryStore, NewTask, Owner, Server, Store, StoreError, Turn};
use a2a_transport::Principal;
use a2a_types::{
    AgentCard, Artifact, ContextId, Event, Message, Part, ProtocolVersion, Task,
    TaskArtifactUpdateEvent, TaskId,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use wire::{Connection, agent};

#[tokio::test]
async fn bad_input_costs_little_memory() {
    an_endless_body_is_refused_early().await;
    a_heavy_body_costs_little_memory().await;
    unread_answers_cost_little_memory().await;
    a_page_of_large_tasks_is_short().await;
    queued_messages_cost_what_they_hold().await;
    a_full_store_holds_what_it_counts().await;
}

/// A chunked body that would be 1 GiB is refused after the first 4 MiB, and costs no memory.
async fn an_endless_body_is_refused_early() {
    let address = agent().await;
    // The cost of one good request is not counted for the bad one.
    Connection::to(address).await.post(b"{}").await;
    let before = resident();
    let (mut read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    write.write_all(head.as_bytes()).await.unwrap();
    let writing = tokio::spawn(async move {
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let mut sent = 0_u64;
        // The server closes the connection long before the end.
        while sent < 1 << 30 && write.write_all(chunk.as_bytes()).await.is_ok() {
            sent += 0x10000;
        }
        sent
    });
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = read.read(&mut buffer).await {
        answer.extend_from_slice(&buffer[..length]);
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("-32600"), "{answer}");
    let sent = writing.await.unwrap();
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    let growth = resident().saturating_sub(before);
    assert!(growth < 20 << 20, "{growth} bytes of memory");
    // The server goes on.
    assert_eq!(Connection::to(address).await.post(b"{}").await.status, 200);
}

/// A body of 4 MiB that would be hundreds of MiB as a tree of values is refused while it is read.
async fn a_heavy_body_costs_little_memory() {
    let address = agent().await;
    let mut connection = Connection::to(address).await;
    connection.post(b"{}").await;
    let before = resident();
    let objects = r#"{"":0},"#.repeat(500_000);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"metadata":{{"a":[{objects}0]}}}}}}"#
    );
    let got = connection.post(body.as_bytes()).await;
    let answer: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    assert_eq!(answer["id"], 1);
    let growth = resident().saturating_sub(before);
    // Both copies of the body, ours and the server's, are in this process.
    assert!(growth < 20 << 20, "{growth} bytes of memory");
}

/// 50 callers ask for a task of 8 MiB and read nothing of it: 400 MiB.
async fn unread_answers_cost_little_memory() {
    let address = large_tasks(MemoryStore::default()).await;
    let mut connection = Connection::to(address).await;
    let send =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "8"}]}});
    let task = ask(&mut connection, "SendMessage", send).await["task"]["id"].take();
    let before = resident();
    let mut unread = Vec::new();
    for _ in 0..50 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        let request = post("GetTask", &json!({"id": task}));
        stream.write_all(&request).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        unread.push((stream, String::from_utf8_lossy(&head).into_owned()));
    }
    let growth = resident().saturating_sub(before);
    let of = |status: &str| {
        let heads = unread.iter().map(|(_, head)| head);
        heads.filter(|head| head.ends_with(status)).count()
    };
    assert!(growth < 300 << 20, "{growth} bytes of memory");
    assert!(of("200") > 0 && of("200") + of("503") == unread.len());
    assert_eq!(connection.post(b"{}").await.status, 200);
}

/// Tasks of 3 MiB are listed a few at a time, and none is left out.
async fn a_page_of_large_tasks_is_short() {
    for address in [
        large_tasks(MemoryStore::default()).await,
        large_tasks(stores::sqlite()).await,
    ] {
        let mut connection = Connection::to(address).await;
        for id in 0..5 {
            let message =
                json!({"messageId": id.to_string(), "role": "ROLE_USER", "parts": [{"text": "3"}]});
            ask(&mut connection, "SendMessage", json!({"message": message})).await;
        }
        let (mut token, mut pages) = (json!(""), Vec::new());
        while pages.is_empty() || token != "" {
            let params = json!({"includeArtifacts": true, "pageToken": token});
            let mut page = ask(&mut connection, "ListTasks", params).await;
            assert_eq!(page["totalSize"], 5);
            pages.push(page["tasks"].as_array().unwrap().len());
            token = page["nextPageToken"].take();
        }
        assert_eq!(pages, [2, 2, 1]);
    }
}

/// A server whose tasks have as many MiB as their messages say.
async fn large_tasks(store: impl Store) -> SocketAddr {
    let agent = |turn: Turn| async move {
        let mebibytes: usize = turn.text().parse().unwrap_or_default();
        for place in 0..mebibytes {
            let artifact = turn.artifact(format!("{place}"));
            artifact.text("x".repeat(1 << 20)).finish().await?;
        }
        Ok::<(), Failure>(())
    };
    let server = Server::builder(AgentCard::new("Large", "Makes much"), agent);
    let server = server.store(store).build().unwrap();
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    address
}

fn post(method: &str, params: &Value) -> Vec<u8> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let head =
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\na2a-version: 1.0";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The result of a request.
async fn ask(connection: &mut Connection, method: &str, params: Value) -> Value {
    let request = post(method, &params);
    connection
        .stream
        .get_mut()
        .write_all(&request)
        .await
        .unwrap();
    let got = connection.answer().await;
    let mut answer: Value = serde_json::from_slice(&got.body).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].take()
}

/// Bytes of memory that this process holds.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

/// Messages that wait for a busy task cost what they hold, not a copy of the task each.
async fn queued_messages_cost_what_they_hold() {
    let card = AgentCard::new("Slow", "Never ends");
    let server = Server::builder(card, async |turn: Turn| {
        turn.working("on it").await?;
        std::future::pending::<()>().await;
        Ok::<_, Failure>(())
    });
    let client = Client::new(server.build().unwrap());
    let task = match client.send("begin").return_immediately().await.unwrap() {
        SendMessageResponse::Task(task) => task,
        other => panic!("{other:?}"),
    };
    let before = resident();
    for _ in 0..MESSAGES {
        let message = Message {
            task_id: Some(task.id.clone()),
            ..Message::user("x".repeat(SIZE))
        };
        client.send(message).return_immediately().await.unwrap();
    }
    let growth = resident().saturating_sub(before);
    // Each is in the history of the task, and in the queue.
    let held = 2 * MESSAGES * SIZE;
    assert!(
        growth < 2 * held as u64,
        "{growth} bytes of memory for {held}"
    );
}

const MESSAGES: usize = 60;
const SIZE: usize = 256 << 10;

/// A full store in memory holds as much as it may, whatever fills it, also after its tasks were read.
async fn a_full_store_holds_what_it_counts() {
    let objects = json!({"k": vec![json!({"": 0}); 100]});
    let deep = (0..50).fold(json!(0), |inner, _| json!({ "": inner }));
    let kinds = [
        ("chunks", 2000, Part::text("a ")),
        ("small objects", 100, Part::data(objects)),
        ("deep objects", 100, Part::data(vec![deep; 10])),
        ("large texts", 20, Part::text("x".repeat(100_000))),
    ];
    for (what, events, part) in kinds {
        let store = MemoryStore::with_capacity(10_000, CAPACITY);
        let owner = Owner::from(Principal::anonymous());
        let before = resident();
        'full: loop {
            let task = Arc::new(Task::submitted(TaskId::random(), ContextId::random()));
            let (id, term) = (task.id.clone(), Duration::from_secs(3600));
            let new = NewTask::new(
                Arc::clone(&task),
                ProtocolVersion::V1_0,
                "here".into(),
                term,
            );
            match store.create(&owner, new).await {
                Err(StoreError::Full) => break,
                created => created.unwrap(),
            }
            for sequence in 1..=events {
                let chunk = Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                    task_id: id.clone(),
                    context_id: task.context_id.clone(),
                    artifact: Artifact {
                        artifact_id: "a".into(),
                        parts: vec![part.clone()],
                        ..Artifact::default()
                    },
                    append: true,
                    last_chunk: false,
                    metadata: None,
                });
                match store
                    .append(&owner, &id, Append::held(sequence, 1, vec![chunk]))
                    .await
                {
                    Err(StoreError::Full) => break 'full,
                    appended => appended.unwrap(),
                };
            }
            store.snapshot(&owner, &id).await.unwrap();
        }
        let growth = resident().saturating_sub(before) as usize;
        let most = CAPACITY + CAPACITY / 5;
        assert!(growth < most, "{what}: {growth} bytes of memory");
    }
}

const CAPACITY: usize = 64 << 20;
